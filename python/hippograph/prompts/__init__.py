"""Prompt text out, parsed reply in: pure functions without network."""
