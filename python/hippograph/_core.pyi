# The compiled module. Private: use hippograph.kernels, which checks inputs and names outputs.
# Array arguments must have exactly these dtypes and be C-contiguous; nothing is converted.
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Ids: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Weights: TypeAlias = NDArray[np.float32]
_Scores: TypeAlias = NDArray[np.float64]
_Flags: TypeAlias = NDArray[np.bool_]
_Bytes: TypeAlias = NDArray[np.uint8]
_Words: TypeAlias = NDArray[np.uint64]

class SimdLevel(enum.Enum):
    plain = 0
    avx2 = 1
    avx512 = 2

class EdgeCombination(enum.Enum):
    sum = 0
    max = 1
    overwrite = 2

class TieOrder(enum.Enum):
    ascending = 0
    descending = 1

class Propagation(enum.Enum):
    pagerank = 0
    none = 1

class CsrMatrix:
    def __init__(
        self, offsets: _Offsets, columns: _Ids, values: _Weights, num_columns: int
    ) -> None: ...

class Transition:
    def __init__(self, weights: CsrMatrix) -> None: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_dangling(self) -> int: ...
    def degrees(self) -> _Scores: ...

def build_edge_table(
    num_nodes: int,
    relation_heads: _Ids,
    relation_tails: _Ids,
    relation_counts: _Weights,
    synonymy_rows: _Ids,
    synonymy_columns: _Ids,
    synonymy_similarities: _Weights,
    context_rows: _Ids,
    context_columns: _Ids,
    context_weights: _Weights,
) -> tuple[_Offsets, _Ids, _Weights, _Weights, _Weights]: ...
def combine_weights(
    offsets: _Offsets,
    columns: _Ids,
    relation: _Weights,
    synonymy: _Weights,
    context: _Weights,
    combination: EdgeCombination,
    synonymy_threshold: float,
    use_synonymy: bool,
) -> tuple[_Offsets, _Ids, _Weights]: ...
def node_specificity(occurrences: CsrMatrix) -> _Scores: ...
def personalized_pagerank(
    transition: Transition,
    personalization: _Scores,
    restart_probability: float,
    tolerance: float,
    max_iterations: int,
    num_threads: int,
) -> tuple[_Scores, _Ids, _Scores, _Flags]: ...
def passage_scores(occurrences: CsrMatrix, node_scores: _Scores, num_threads: int) -> _Scores: ...
def top_k(scores: _Scores, k: int, ties: TieOrder) -> tuple[_Ids, _Scores]: ...
def rank_passages(
    transition: Transition,
    occurrences: CsrMatrix,
    seed_offsets: _Offsets,
    seed_nodes: _Ids,
    seed_weights: _Scores,
    k: int,
    ties: TieOrder,
    propagation: Propagation,
    restart_probability: float,
    tolerance: float,
    max_iterations: int,
    num_threads: int,
) -> tuple[_Ids, _Scores, _Ids, _Ids, _Scores, _Flags]: ...
def best_simd_level() -> SimdLevel: ...
def simd_level() -> SimdLevel: ...
def limit_simd_level(limit: SimdLevel) -> SimdLevel: ...
def has_vnni() -> bool: ...
def build_name_table(blob: _Bytes, offsets: _Offsets) -> _Words: ...

class NameIndex:
    def __init__(self, blob: _Bytes, offsets: _Offsets, table: _Words) -> None: ...
    def find(self, name: str) -> int: ...
    def find_all(self, names: list[str]) -> list[int]: ...
    def match(self, ignored: NameIndex | None, text: str) -> list[tuple[int, int, int]]: ...
