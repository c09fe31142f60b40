"""A memory over the scripted corpus."""

from __future__ import annotations

import pathlib

import pytest

from tests.pipeline.scripted import ALZHEIMER, OTHER, STANFORD, THOMAS, open_memory


@pytest.fixture
def memory(tmp_path: pathlib.Path):
    with open_memory(tmp_path / "kb") as opened:
        opened.index([THOMAS, ALZHEIMER, STANFORD, OTHER])
        yield opened
