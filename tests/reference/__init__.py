"""Slow, obvious second implementations. Never imported by python/."""
