"""The compiled kernels, typed and with their inputs checked. Nothing else imports `_core`.

Arrays are converted here, visibly: ids to int32, offsets to int64, edge weights to float32, scores
to float64, all C-contiguous. Whatever is wrong with an input is an `InputError` in words. Kernels
run without the interpreter lock and give the same bytes for any `num_threads` (0 = all processors,
1 = serial).
"""

from hippograph.kernels.exact import ColumnResult, ExactGraph, StartBatch
from hippograph.kernels.graphs import build_edge_table, combine_weights
from hippograph.kernels.matrices import SparseMatrix, Transition
from hippograph.kernels.names import NameIndex, NameMatch
from hippograph.kernels.neighbors import (
    Int8Rows,
    NearestRows,
    NeighborPairs,
    nearest_rows,
    neighbor_lists,
    pair_similarities,
    quantize_rows,
)
from hippograph.kernels.processor import (
    SIMD_LEVELS,
    best_simd_level,
    limit_simd_level,
    limited_simd,
    simd_level,
)
from hippograph.kernels.ranking import (
    node_specificity,
    passage_scores,
    personalized_pagerank,
    rank_passages,
    top_k,
)
from hippograph.kernels.records import EdgeTable, PprResult, RankedBatch, SeedBatch, SweepResult
from hippograph.kernels.serving import Engine
from hippograph.kernels.serving_arrays import ACCURACIES, Accuracy
from hippograph.kernels.sweeps import SweepGraph

__all__ = [
    "ACCURACIES",
    "SIMD_LEVELS",
    "Accuracy",
    "ColumnResult",
    "EdgeTable",
    "Engine",
    "ExactGraph",
    "Int8Rows",
    "NameIndex",
    "NameMatch",
    "NearestRows",
    "NeighborPairs",
    "PprResult",
    "RankedBatch",
    "SeedBatch",
    "SparseMatrix",
    "StartBatch",
    "SweepGraph",
    "SweepResult",
    "Transition",
    "best_simd_level",
    "build_edge_table",
    "combine_weights",
    "limit_simd_level",
    "limited_simd",
    "nearest_rows",
    "neighbor_lists",
    "node_specificity",
    "pair_similarities",
    "passage_scores",
    "personalized_pagerank",
    "quantize_rows",
    "rank_passages",
    "simd_level",
    "top_k",
]
