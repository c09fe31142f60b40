"""A corpus that the commands read."""

from __future__ import annotations

CORPUS = [
    {"id": "a", "title": "Ada", "text": "Ada wrote the first program."},
    {"id": "b", "title": "Engine", "text": "Babbage designed the engine."},
    {"id": "c", "title": "Markup", "text": "[bold]not markup[/bold] \x1b[31m red \ud800 東京"},
]
