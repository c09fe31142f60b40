"""Fixtures for the tests of language model back ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loopback_server import LoopbackServer


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HIPPOGRAPH_LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as running:
        yield running
