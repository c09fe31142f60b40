"""Measuring retrieval: questions with gold passages in, recall@k and all-recall@k out."""
