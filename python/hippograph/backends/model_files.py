"""Where a model's files are, and what identifies them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hippograph.errors import ConfigurationError

#: Encoders are not trained on longer texts; the original reads at most this many tokens too.
MAX_TOKENS = 512


def local_folder(source: str, kind: str) -> Path | None:
    """Return the folder that `source` names, or None when it is a hub id.

    Raises
    ------
    ConfigurationError
        When `source` is empty, or can only be a path and is not a folder.
    """
    if not source.strip():
        raise ConfigurationError(f"no model named: write the encoder as {kind}:<hub id or folder>")
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if source.startswith((".", "/", "~")) or source.count("/") > 1:
        raise ConfigurationError(f"no folder {source!r} for the encoder {kind}:{source}")
    return None


def content_name(kind: str, folder: Path, files: Sequence[Path]) -> str:
    """Return a name that follows the bytes of a model, not the place or name of its folder.

    "hf:bert-384@9f86d081884c7d65": architecture and dimension for people, then the first 64 bits
    of a SHA-256 over the given files, config.json included.
    """
    digest = hashlib.sha256()
    for path in sorted({folder / "config.json", *files}):
        if path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").digest()
            digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0" + content)
    config = read_config(folder)
    label = f"{config.get('model_type', 'model')}-{config.get('hidden_size', 'd')}"
    return f"{kind}:{label}@{digest.hexdigest()[:16]}"


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """Return a model's JSON configuration; empty when the file is absent.

    Raises
    ------
    ConfigurationError
        When the file is there and is not a JSON object.
    """
    path = folder / name
    if not path.is_file():
        return {}
    try:
        config = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from None
    if not isinstance(config, dict):
        raise ConfigurationError(f"{path} is not a JSON object")
    return config


def max_tokens(*limits: object) -> int:
    """Return the smallest positive limit, at most `MAX_TOKENS`; other values say nothing."""
    usable = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return min([MAX_TOKENS, *usable])
