"""Fixtures shared by all test folders."""

from __future__ import annotations

import pathlib
import sys

import pytest
from hypothesis import settings

# The same examples every time, and a slow machine fails nothing.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The benchmark code is no package of its own: its folder goes on the path, as for its scripts.
sys.path.insert(0, str(ROOT / "benchmarks"))


@pytest.fixture(scope="session")
def shared_data() -> pathlib.Path:
    """Folder of the evaluation data, which is not part of the project; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("evaluation data not found: no folder shared/data beside the checkout")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.real_data)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when tests on real data were skipped although the data is there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not (ROOT.parent / "shared" / "data").is_dir():
        return
    skipped = [r for r in reporter.stats.get("skipped", []) if "real_data" in r.keywords]
    if skipped:
        names = "\n  ".join(report.nodeid for report in skipped)
        reporter.write_line(f"skipped although the evaluation data is there:\n  {names}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
