"""Long-term memory for language models: knowledge graph + Personalized PageRank retrieval.

Names are loaded at first use, so that `hippograph --help` need not wait for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hippograph._version import __version__
    from hippograph.config import Settings
    from hippograph.errors import (
        AuthenticationError,
        BudgetExceededError,
        ConfigurationError,
        EncoderMismatchError,
        FormatError,
        HippographError,
        InputError,
        LockedError,
        MissingExtraError,
        NotAMemoryError,
        ProviderError,
        ReadOnlyError,
        StoreError,
    )
    from hippograph.indexing.openie_file import read_openie
    from hippograph.memory import Memory, open  # noqa: A004 - the public name
    from hippograph.types import (
        Extraction,
        IndexReport,
        ItemFailure,
        LinkedNode,
        MemoryStats,
        Passage,
        RankedPassage,
        Result,
        RetrievalTrace,
        Triple,
        Usage,
    )

_HOME_OF = {
    "__version__": "_version",
    "Settings": "config",
    "read_openie": "indexing.openie_file",
    "Memory": "memory",
    "open": "memory",
    **dict.fromkeys(
        (
            "AuthenticationError",
            "BudgetExceededError",
            "ConfigurationError",
            "EncoderMismatchError",
            "FormatError",
            "HippographError",
            "InputError",
            "LockedError",
            "MissingExtraError",
            "NotAMemoryError",
            "ProviderError",
            "ReadOnlyError",
            "StoreError",
        ),
        "errors",
    ),
    **dict.fromkeys(
        (
            "Extraction",
            "IndexReport",
            "ItemFailure",
            "LinkedNode",
            "MemoryStats",
            "Passage",
            "RankedPassage",
            "Result",
            "RetrievalTrace",
            "Triple",
            "Usage",
        ),
        "types",
    ),
}

__all__ = [
    "AuthenticationError",
    "BudgetExceededError",
    "ConfigurationError",
    "EncoderMismatchError",
    "Extraction",
    "FormatError",
    "HippographError",
    "IndexReport",
    "InputError",
    "ItemFailure",
    "LinkedNode",
    "LockedError",
    "Memory",
    "MemoryStats",
    "MissingExtraError",
    "NotAMemoryError",
    "Passage",
    "ProviderError",
    "RankedPassage",
    "ReadOnlyError",
    "Result",
    "RetrievalTrace",
    "Settings",
    "StoreError",
    "Triple",
    "Usage",
    "__version__",
    "open",
    "read_openie",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'hippograph' has no attribute {name!r}")
    value = getattr(import_module(f"hippograph.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
