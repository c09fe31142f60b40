"""The knowledge graph: when two phrases are one node, node names, and the matrices around them.

A `KnowledgeGraph` is an immutable view over the arrays of a snapshot (memory-mapped or in memory).
Node ids follow the code-point order of the names. A name is found through a stored hash table, or
by binary search where an older snapshot has none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import EdgeCombination, Normalizer
from hippograph.errors import FormatError, InputError

_NOT_ASCII_WORD = re.compile(r"[^A-Za-z0-9 ]")
_APOSTROPHE_OUTSIDE_WORD = re.compile(r"(?<!\w)'|'(?!\w)")
_APOSTROPHES = "\u2018\u2019\u02bc\uff07"
_KEPT_ASCII_SYMBOLS = "+#'"  # C++, C#, o'brien


class _UnicodeTable(dict[int, str | None]):
    """Character map filled on demand: letters, marks, digits, symbols stay; the rest separates."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        mapped: str | None
        if character in _APOSTROPHES:
            mapped = "'"
        elif category == "Cf":  # joiners, soft hyphens, direction marks: invisible
            mapped = None
        elif category[0] in "LMN" or character in _KEPT_ASCII_SYMBOLS:
            mapped = character
        elif category[0] == "S" and not character.isascii():  # emoji, currency, mathematical signs
            mapped = character
        else:
            mapped = " "
        self[code] = mapped
        return mapped


_UNICODE_TABLE = _UnicodeTable()


@lru_cache(maxsize=1 << 16)
def normalize_phrase(phrase: str, normalizer: Normalizer = "unicode") -> str:
    """Return the node name of a phrase; phrases with equal names are one node.

    "unicode": NFKC and case folding; punctuation separates words, white space is collapsed; every
    script, accents and emoji are kept, an apostrophe stays inside a word.
    "ascii" (published code, branch `legacy`): lower case, everything but A-Z, a-z, 0-9 and space
    becomes a space, outer spaces are stripped, inner runs are kept.

    The empty string means that nothing nameable is left.

    Examples
    --------
    >>> normalize_phrase("São Paulo"), normalize_phrase("Alzheimer\u2019s  disease")
    ('são paulo', "alzheimer's disease")
    >>> normalize_phrase("São Paulo", "ascii"), normalize_phrase("北京", "ascii")
    ('s o paulo', '')
    """
    if normalizer == "ascii":
        return _NOT_ASCII_WORD.sub(" ", phrase.lower()).strip()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", phrase).casefold())
    words = _APOSTROPHE_OUTSIDE_WORD.sub(" ", folded.translate(_UNICODE_TABLE))
    return " ".join(words.split())


class NodeNames(Sequence[str]):
    """Names of all nodes in code-point order, as one UTF-8 blob with offsets.

    Parameters
    ----------
    blob : uint8 array (total_bytes,)
    offsets : int64 array (num_nodes + 1,)
        Name i is `blob[offsets[i]:offsets[i + 1]]`.
    table : uint64 array, optional
        The stored hash table of the names (`NodeNames.table`). Without one, as in snapshots of
        older versions, it is made at the first use that needs it.
    """

    def __init__(
        self,
        blob: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        table: NDArray[np.uint64] | None = None,
    ) -> None:
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(blob):
            raise FormatError("node name offsets do not match the node name blob")
        self._blob = blob
        self._offsets = offsets
        self._index = kernels.NameIndex(blob, offsets, table) if table is not None else None

    @classmethod
    def from_names(cls, names: Sequence[str]) -> NodeNames:
        """Pack sorted, distinct names."""
        encoded = [name.encode("utf-8") for name in names]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    @property
    def lookup(self) -> kernels.NameIndex:
        """The hash table over the names; made now where the snapshot has none, once."""
        if self._index is None:
            self._index = kernels.NameIndex(self._blob, self._offsets)
        return self._index

    @property
    def table(self) -> NDArray[np.uint64]:
        """The hash table as a snapshot stores it."""
        return self.lookup.table

    @property
    def blob(self) -> NDArray[np.uint8]:
        return self._blob

    @property
    def offsets(self) -> NDArray[np.int64]:
        return self._offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _bytes(self, node_id: int) -> bytes:
        return self._blob[self._offsets[node_id] : self._offsets[node_id + 1]].tobytes()

    @overload
    def __getitem__(self, node_id: int) -> str: ...
    @overload
    def __getitem__(self, node_id: slice) -> list[str]: ...
    def __getitem__(self, node_id: int | slice) -> str | list[str]:
        if isinstance(node_id, slice):
            return [self[i] for i in range(*node_id.indices(len(self)))]
        position = node_id + len(self) if node_id < 0 else node_id
        if not 0 <= position < len(self):
            raise IndexError(f"node id {node_id} is out of range for {len(self)} nodes")
        return self._bytes(position).decode("utf-8", errors="replace")

    def __iter__(self) -> Iterator[str]:
        whole = self._blob.tobytes()
        bounds = self._offsets.tolist()
        for start, end in pairwise(bounds):
            yield whole[start:end].decode("utf-8", errors="replace")

    def find(self, name: str) -> int | None:
        """Return the id of the node called `name` (already normalised), or None."""
        if self._index is not None:
            return self._index.find(name)
        wanted = name.encode("utf-8", errors="replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None

    def find_all(self, names: Sequence[str]) -> list[int]:
        """Return the id of each name (already normalised), -1 where no node is called so."""
        if self._index is not None:
            return self._index.find_all(names)
        return [-1 if (node_id := self.find(name)) is None else node_id for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph:
    """Everything a query reads.

    Attributes
    ----------
    names : NodeNames
        num_nodes phrase names.
    edges : EdgeTable
        Relation, synonymy and context weights of each ordered pair, kept apart.
    occurrences : SparseMatrix (num_nodes, num_passages)
        The paper's P: how often node i was extracted from passage j.
    phrase_vectors : float32 array (num_nodes, phrase_dimension)
    passage_vectors : float32 array (num_passages, passage_dimension)
        Unit rows, or zero rows for texts without tokens.
    passage_keys : int64 array (num_passages,)
        The ledger's key of each passage id, ascending.
    phrase_codes : kernels.Int8Rows, optional
        The phrase vectors as bytes; None in a snapshot that was written without them.
    """

    names: NodeNames
    edges: kernels.EdgeTable
    occurrences: kernels.SparseMatrix
    phrase_vectors: NDArray[np.float32]
    passage_vectors: NDArray[np.float32]
    passage_keys: NDArray[np.int64]
    phrase_codes: kernels.Int8Rows | None = None
    _made_codes: list[kernels.Int8Rows] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def num_nodes(self) -> int:
        return len(self.names)

    @property
    def num_passages(self) -> int:
        return len(self.passage_keys)

    def weights(
        self,
        *,
        combination: EdgeCombination,
        synonymy_threshold: float,
        use_synonymy: bool,
    ) -> kernels.SparseMatrix:
        """Return the symmetric edge weights that these settings give."""
        return kernels.combine_weights(
            self.edges,
            combination=combination,
            synonymy_threshold=synonymy_threshold,
            use_synonymy=use_synonymy,
        )

    def codes_of_phrases(self) -> kernels.Int8Rows:
        """Return `phrase_codes`; made at the first call, and kept, when there are none."""
        if self.phrase_codes is not None:
            return self.phrase_codes
        if not self._made_codes:  # two threads may both make them: they make the same
            self._made_codes.append(kernels.quantize_rows(self.phrase_vectors))
        return self._made_codes[0]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays a snapshot stores; `from_arrays` is the inverse."""
        arrays: dict[str, NDArray[Any]] = {
            "node_name_bytes": self.names.blob,
            "node_name_offsets": self.names.offsets,
            "node_name_table": self.names.table,
            "edge_offsets": self.edges.offsets,
            "edge_columns": self.edges.columns,
            "edge_relation": self.edges.relation,
            "edge_synonymy": self.edges.synonymy,
            "edge_context": self.edges.context,
            "occurrence_offsets": self.occurrences.offsets,
            "occurrence_passages": self.occurrences.columns,
            "occurrence_counts": self.occurrences.values,
            "phrase_vectors": self.phrase_vectors,
            "passage_vectors": self.passage_vectors,
            "passage_keys": self.passage_keys,
        }
        if self.phrase_codes is not None:
            arrays["phrase_codes"] = self.phrase_codes.codes
            arrays["phrase_code_scales"] = self.phrase_codes.scales
            arrays["phrase_code_errors"] = self.phrase_codes.errors
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> KnowledgeGraph:
        """Build the view over stored arrays; shapes that do not fit together are a FormatError."""
        names = NodeNames(
            arrays["node_name_bytes"],
            arrays["node_name_offsets"],
            arrays.get("node_name_table"),
        )
        passage_keys = arrays["passage_keys"]
        graph = cls(
            names=names,
            edges=kernels.EdgeTable(
                offsets=arrays["edge_offsets"],
                columns=arrays["edge_columns"],
                relation=arrays["edge_relation"],
                synonymy=arrays["edge_synonymy"],
                context=arrays["edge_context"],
            ),
            occurrences=kernels.SparseMatrix.deferred(
                arrays["occurrence_offsets"],
                arrays["occurrence_passages"],
                arrays["occurrence_counts"],
                num_columns=len(passage_keys),
            ),
            phrase_vectors=arrays["phrase_vectors"],
            passage_vectors=arrays["passage_vectors"],
            passage_keys=passage_keys,
            phrase_codes=_stored_codes(arrays),
        )
        sizes = {
            "edge_offsets": len(graph.edges.offsets) - 1,
            "occurrence_offsets": graph.occurrences.num_rows,
            "phrase_vectors": len(graph.phrase_vectors),
        }
        for name, size in sizes.items():
            if size != graph.num_nodes:
                raise FormatError(f"{name} describes {size} nodes, names {graph.num_nodes}")
        if len(graph.passage_vectors) != graph.num_passages:
            raise FormatError(
                f"passage_vectors has {len(graph.passage_vectors)} rows for "
                f"{graph.num_passages} passages"
            )
        return graph


def _stored_codes(arrays: Mapping[str, NDArray[Any]]) -> kernels.Int8Rows | None:
    """Return the byte codes of a snapshot, None where it has none; only shapes are looked at."""
    codes = arrays.get("phrase_codes")
    if codes is None:
        return None
    shape = arrays["phrase_vectors"].shape
    try:
        stored = kernels.Int8Rows(
            codes=codes,
            scales=arrays["phrase_code_scales"],
            errors=arrays["phrase_code_errors"],
        )
    except InputError as error:
        raise FormatError(f"phrase codes: {error}") from None
    if codes.shape != shape:
        raise FormatError(f"phrase_codes has the shape {codes.shape}, phrase_vectors {shape}")
    return stored
