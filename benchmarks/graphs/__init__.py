"""Graphs, occurrence matrices and queries to measure on: generated ones and one real one."""
