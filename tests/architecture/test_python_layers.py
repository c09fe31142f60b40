"""Imports point down only; heavy and dangerous modules stay out."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "hippograph"

#: Layers, lowest first. A module imports only its own unit and units of lower layers.
LAYERS = (
    ("types", "errors", "_version", "bulk"),
    ("config", "protocols", "input_files"),
    ("prompts", "kernels", "encoding", "text_files"),
    ("graph", "documents"),
    ("store",),
    ("indexing", "retrieval"),
    ("opening", "state"),
    ("querying", "updating"),
    ("memory",),
    ("__init__",),
    ("evaluation",),
    ("demo",),
    ("cli",),
    ("__main__",),
)
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
#: Adapters to the outside world, made only by the composition root and known to nobody else.
BACKENDS_MAY_IMPORT = {
    "types", "errors", "config", "protocols", "prompts", "encoding", "backends",
}  # fmt: skip
MAY_IMPORT_BACKENDS = {"opening", "backends"}
HEAVY = ("torch", "transformers", "spacy", "wordllama", "openai", "hnswlib", "onnxruntime", "scipy")


def modules() -> Iterator[tuple[str, str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE).with_suffix("")
        yield relative.parts[0], "/".join(relative.parts), ast.parse(path.read_text("utf-8"))


def imported_units(tree: ast.Module) -> set[str]:
    """Units of hippograph that a module imports, anywhere in its text."""
    found = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "hippograph" and len(parts) > 1:
                found.add(parts[1])
    return found


MODULES = list(modules())


def test_every_unit_has_a_layer() -> None:
    units = {unit for unit, _, _ in MODULES}
    assert units - {"backends"} <= set(RANK)


@pytest.mark.parametrize(("unit", "name", "tree"), MODULES, ids=[name for _, name, _ in MODULES])
def test_imports_point_down(unit: str, name: str, tree: ast.Module) -> None:
    imports = imported_units(tree) & (set(RANK) | {"backends"})
    if unit == "backends":
        assert imports <= BACKENDS_MAY_IMPORT
        return
    if "backends" in imports:
        assert unit in MAY_IMPORT_BACKENDS
    for other in imports - {"backends", unit}:
        assert RANK[other] < RANK[unit], f"{name} imports {other}, which is not below it"


@pytest.mark.parametrize(("unit", "name", "tree"), MODULES, ids=[name for _, name, _ in MODULES])
def test_only_kernels_imports_the_compiled_module(unit: str, name: str, tree: ast.Module) -> None:
    assert ("_core" in imported_units(tree)) <= (unit == "kernels")


@pytest.mark.parametrize(("unit", "name", "tree"), MODULES, ids=[name for _, name, _ in MODULES])
def test_nothing_can_run_stored_or_received_code(unit: str, name: str, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None) or ""
            names = {module, *(alias.name for alias in node.names)}
            assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "compile", "__import__"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_numpy_load = node.func.attr == "load" and ast.unparse(node.func.value) == "np"
            assert not is_numpy_load or "allow_pickle" not in ast.unparse(node)


def test_import_is_light_and_silent() -> None:
    """`import hippograph` loads no heavy library, opens no socket and prints nothing."""
    program = f"""
import sys
def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("opened a socket: " + event)
sys.addaudithook(refuse)
import hippograph
loaded = [name for name in {HEAVY!r} if name in sys.modules]
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
