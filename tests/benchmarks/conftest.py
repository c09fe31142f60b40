"""The benchmark code is no package of its own: its folder goes on the path, as for its scripts."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
