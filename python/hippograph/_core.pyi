# The compiled module. Private: use hippograph.kernels, which checks inputs and names outputs.
# Array arguments must have exactly these dtypes and be C-contiguous; nothing is converted.
import enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Ids: TypeAlias = NDArray[np.int32]
_Offsets: TypeAlias = NDArray[np.int64]
_Weights: TypeAlias = NDArray[np.float32]
_Scores: TypeAlias = NDArray[np.float64]
_Flags: TypeAlias = NDArray[np.bool_]
_Bytes: TypeAlias = NDArray[np.uint8]
_Codes: TypeAlias = NDArray[np.int8]
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

class Precision(enum.Enum):
    float32 = 0
    float64 = 1

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

class ExactGraph:
    def __init__(
        self, weights: CsrMatrix, occurrences: CsrMatrix, order: _Ids, num_threads: int
    ) -> None: ...
    @property
    def num_bytes(self) -> int: ...
    def rank(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        start_offsets: _Offsets,
        start_nodes: _Ids,
        start_scores: _Weights,
        start_errors: _Scores,
        k: int,
        ties: TieOrder,
        precision: Precision,
        restart_probability: float,
        tolerance: float,
        max_iterations: int,
        num_threads: int,
    ) -> tuple[_Ids, _Scores, _Ids, _Ids, _Scores, _Flags]: ...
    def scores(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        start_offsets: _Offsets,
        start_nodes: _Ids,
        start_scores: _Weights,
        start_errors: _Scores,
        precision: Precision,
        restart_probability: float,
        tolerance: float,
        max_iterations: int,
        num_threads: int,
    ) -> tuple[_Scores, _Ids, _Scores, _Flags]: ...
    def columns(
        self,
        nodes: _Ids,
        restart_probability: float,
        tolerance: float,
        max_iterations: int,
        num_threads: int,
    ) -> tuple[_Weights, _Ids, _Scores, _Flags]: ...

class SweepGraph:
    def __init__(
        self,
        offsets: _Offsets,
        columns: _Ids,
        relation: _Weights,
        synonymy: _Weights,
        context: _Weights,
        occurrences: CsrMatrix,
        combination: EdgeCombination,
    ) -> None: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_passages(self) -> int: ...
    def weights_at(self, synonymy_threshold: float) -> tuple[_Offsets, _Ids, _Weights]: ...
    def rank(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        k: int,
        ties: TieOrder,
        restart_probabilities: _Scores,
        synonymy_thresholds: _Weights,
        precision: Precision,
        tolerance: float,
        max_terms: int,
        num_threads: int,
    ) -> tuple[_Ids, _Scores, _Ids, _Scores, _Flags]: ...

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

class NarrowEngine:
    def __init__(
        self,
        node_begins: NDArray[np.uint32],
        node_words: NDArray[np.uint32],
        passage_begins: NDArray[np.uint32],
        passage_words: NDArray[np.uint32],
        weight_values: _Weights,
        count_values: _Weights,
        ranks: _Ids,
        passage_ids: _Ids,
        num_common: int,
        hubs: _Ids,
        hub_shares: NDArray[np.uint16],
        forward_nodes: _Ids,
        forward_begins: NDArray[np.uint32],
        forward_ranks: NDArray[np.uint32],
        forward_scores: _Weights,
    ) -> None: ...
    def rank(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        k: int,
        ties: TieOrder,
        restart_probability: float,
        threshold: float,
        least_certainty: float,
        forward_entries: int,
        most_edges: int,
        num_threads: int,
    ) -> tuple[_Ids, _Scores, _Ids, _Scores, _Offsets, _Flags]: ...
    def push(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        restart_probability: float,
        threshold: float,
        forward_entries: int,
        most_edges: int,
        num_threads: int,
    ) -> tuple[_Offsets, _Ids, _Weights, _Scores]: ...
    def highest_degrees(self, num_hubs: int) -> _Ids: ...
    def empty_shares(self, num_hubs: int) -> NDArray[np.uint16]: ...
    def fill_shares(
        self,
        hubs: _Ids,
        first: int,
        vectors: _Weights,
        shares: NDArray[np.uint16],
        num_threads: int,
    ) -> None: ...
    def build_forward_cache(
        self,
        from_neighbors: int,
        most_nodes: int,
        num_entries: int,
        restart_probability: float,
        threshold: float,
        num_threads: int,
    ) -> tuple[_Ids, NDArray[np.uint32], NDArray[np.uint32], _Weights]: ...

class WideEngine:
    def __init__(
        self,
        node_begins: NDArray[np.uint64],
        node_words: NDArray[np.uint64],
        passage_begins: NDArray[np.uint64],
        passage_words: NDArray[np.uint64],
        weight_values: _Weights,
        count_values: _Weights,
        ranks: _Ids,
        passage_ids: _Ids,
        num_common: int,
        hubs: _Ids,
        hub_shares: NDArray[np.uint16],
        forward_nodes: _Ids,
        forward_begins: NDArray[np.uint32],
        forward_ranks: NDArray[np.uint32],
        forward_scores: _Weights,
    ) -> None: ...
    def rank(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        k: int,
        ties: TieOrder,
        restart_probability: float,
        threshold: float,
        least_certainty: float,
        forward_entries: int,
        most_edges: int,
        num_threads: int,
    ) -> tuple[_Ids, _Scores, _Ids, _Scores, _Offsets, _Flags]: ...
    def push(
        self,
        seed_offsets: _Offsets,
        seed_nodes: _Ids,
        seed_weights: _Scores,
        restart_probability: float,
        threshold: float,
        forward_entries: int,
        most_edges: int,
        num_threads: int,
    ) -> tuple[_Offsets, _Ids, _Weights, _Scores]: ...
    def highest_degrees(self, num_hubs: int) -> _Ids: ...
    def empty_shares(self, num_hubs: int) -> NDArray[np.uint16]: ...
    def fill_shares(
        self,
        hubs: _Ids,
        first: int,
        vectors: _Weights,
        shares: NDArray[np.uint16],
        num_threads: int,
    ) -> None: ...
    def build_forward_cache(
        self,
        from_neighbors: int,
        most_nodes: int,
        num_entries: int,
        restart_probability: float,
        threshold: float,
        num_threads: int,
    ) -> tuple[_Ids, NDArray[np.uint32], NDArray[np.uint32], _Weights]: ...

def fits_narrow_words(weights: CsrMatrix, occurrences: CsrMatrix) -> bool: ...
def build_layout_narrow(
    weights: CsrMatrix, occurrences: CsrMatrix, num_threads: int
) -> dict[str, Any]: ...
def build_layout_wide(
    weights: CsrMatrix, occurrences: CsrMatrix, num_threads: int
) -> dict[str, Any]: ...

class NeighborJoin:
    def __init__(
        self,
        vectors: _Weights,
        listed: _Bytes,
        searched: _Bytes,
        floor: float,
        max_neighbors: int,
        num_threads: int,
    ) -> None: ...
    @property
    def num_searched(self) -> int: ...
    @property
    def num_done(self) -> int: ...
    def advance(self) -> None: ...
    def finish(self) -> tuple[_Ids, _Ids, _Weights]: ...

def quantize_rows(vectors: _Weights, num_threads: int) -> tuple[_Codes, _Weights, _Weights]: ...
def nearest_rows(
    vectors: _Weights,
    codes: _Codes,
    scales: _Weights,
    errors: _Weights,
    queries: _Weights,
    k: int,
    num_threads: int,
) -> tuple[_Ids, _Weights, _Ids]: ...
def pair_similarities(
    vectors: _Weights, first: _Ids, second: _Ids, num_threads: int
) -> _Weights: ...
