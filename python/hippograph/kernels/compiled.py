"""The compiled module, or words that say why there is none. The only importer of `_core`."""

from __future__ import annotations

try:
    from hippograph import _core
except ImportError as error:
    raise ImportError(
        "hippograph's compiled module is missing or was built for another Python; "
        "install again with: pip install --force-reinstall hippograph"
    ) from error

__all__ = ["_core"]
