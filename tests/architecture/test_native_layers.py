"""The C++ core knows nothing of Python; only the binding folder knows the binding library."""

from __future__ import annotations

import ast
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from hippograph import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE = sorted((ROOT / "csrc" / "include").rglob("*.hpp")) + sorted(
    (ROOT / "csrc" / "src").rglob("*.cpp")
)
EVERYWHERE = sorted(path for path in (ROOT / "csrc").rglob("*") if path.suffix in {".hpp", ".cpp"})
BINDINGS = sorted((ROOT / "csrc" / "bindings").glob("*.cpp"))


def name_of(path: pathlib.Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_core_was_found() -> None:
    names = {path.stem for path in CORE}
    assert {"csr_matrix", "personalized_pagerank", "top_k"} <= names


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_core_never_mentions_python(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"pybind11|Python\.h|\bPy[A-Z]\w*\(|\bpy::", text)


@pytest.mark.parametrize("path", BINDINGS, ids=name_of)
def test_bindings_have_no_loops(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(for|while)\s*\(", text)


def test_only_parallel_names_threads() -> None:
    words = re.compile(r"std::(jthread|thread|async|mutex|atomic)\b|#pragma omp")
    found = {name_of(p) for p in CORE if words.search(p.read_text(encoding="utf-8"))}
    # simd.cpp keeps one atomic setting, workspace_pool.hpp one lock; neither starts anything.
    assert found <= {
        "csrc/src/parallel.cpp",
        "csrc/src/simd.cpp",
        "csrc/include/hippograph/workspace_pool.hpp",
    }


@pytest.mark.parametrize("path", EVERYWHERE, ids=name_of)
def test_files_stay_small_and_free_of_manual_memory(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= (150 if path.suffix == ".hpp" else 300)
    code = re.sub(r"//.*|\"[^\"\n]*\"|#include <new>", "", text)
    allowed = 1 if path.name == "numpy_interop.hpp" else 0  # the capsule's deleter
    assert len(re.findall(r"\b(new|delete|malloc|free)\b(?!;)", code)) <= allowed
    assert not re.search(r"^\s*#\s*define", code, re.MULTILINE)


def test_every_source_has_a_header_of_its_name() -> None:
    for source in (ROOT / "csrc" / "src").glob("*.cpp"):
        assert (ROOT / "csrc" / "include" / "hippograph" / f"{source.stem}.hpp").is_file()


def test_every_header_compiles_alone(tmp_path: pathlib.Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler on the path")
    include = ROOT / "csrc" / "include"
    unit = tmp_path / "headers.cpp"
    for header in sorted((include / "hippograph").glob("*.hpp")):
        unit.write_text(f'#include "hippograph/{header.name}"\n', encoding="utf-8")
        command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(unit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{header.name}:\n{done.stderr}"


def test_kernels_are_the_only_importer_of_the_module() -> None:
    package = ROOT / "python" / "hippograph"
    importers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(
            r"^\s*(from hippograph import .*\b_core\b|(from|import) hippograph\._core\b)",
            path.read_text("utf-8"),
            re.MULTILINE,
        )
    }
    assert importers == {"kernels/compiled.py"}


def test_stub_matches_the_module() -> None:
    pytest.importorskip("mypy", reason="mypy is not installed (dependency group 'check')")
    allowlist = pathlib.Path(__file__).with_name("stubtest_allowlist.txt")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "hippograph._core", "--allowlist", str(allowlist)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_names_the_parameters_of_the_module() -> None:
    """stubtest cannot see compiled signatures; pybind11 writes them into docstrings."""
    stub = ast.parse((ROOT / "python" / "hippograph" / "_core.pyi").read_text("utf-8"))
    functions = {
        (None, node.name): node for node in stub.body if isinstance(node, ast.FunctionDef)
    } | {
        (owner.name, node.name): node
        for owner in stub.body
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    assert len(functions) > 9
    for (owner, name), node in functions.items():
        compiled = getattr(getattr(_core, owner) if owner else _core, name)
        signature = re.match(rf"{name}\((.*)\) -> ", compiled.__doc__)
        assert signature, compiled.__doc__
        written = [argument.arg for argument in node.args.args]
        assert re.findall(r"(\w+): ", signature[1]) == written, name
