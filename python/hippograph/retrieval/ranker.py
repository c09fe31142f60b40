"""Seeds -> ranked passage ids, over one graph with one set of weights.

Three kernels answer: the serving engine (accuracy "fast" and "tight", by local push; it turns to a
dense solve by itself where that is cheaper), the exact graph ("exact", within `tolerance`, proven),
and, for the ablation without PageRank, the seeds alone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import Accuracy, Settings
from hippograph.errors import FormatError
from hippograph.graph import KnowledgeGraph
from hippograph.kernels.serving_arrays import LEAST_RESTART_TO_PUSH

#: Settings that the weights of the engine depend on.
WEIGHT_SETTINGS = ("edge_combination", "synonymy_threshold", "use_synonymy")

_Made = TypeVar("_Made")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEngine:
    """The engine of a snapshot: its arrays, and the settings its weights were made with."""

    arrays: Mapping[str, NDArray[Any]]
    weight_settings: Mapping[str, Any]


def weight_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide the weights of edges."""
    return {name: getattr(settings, name) for name in WEIGHT_SETTINGS}


def graph_weights(graph: KnowledgeGraph, settings: Settings) -> kernels.SparseMatrix:
    """Return the symmetric edge weights of a graph under these settings."""
    return graph.weights(
        combination=settings.edge_combination,
        synonymy_threshold=settings.synonymy_threshold,
        use_synonymy=settings.use_synonymy,
    )


def build_engine(graph: KnowledgeGraph, settings: Settings) -> kernels.Engine:
    """Build the serving engine of a graph, for a snapshot to store."""
    return kernels.Engine.build(
        graph_weights(graph, settings),
        graph.occurrences,
        restart_probability=settings.restart_probability,
        num_threads=settings.num_threads,
    )


class Ranker:
    """Ranks passages of a graph under fixed settings. May be used from several threads.

    Making one takes no time in the size of the graph. The engine of the snapshot is mapped when it
    is first needed; what has to be computed, because it is not stored or other weights are asked
    for, is computed then, once.

    Parameters
    ----------
    graph : KnowledgeGraph
    settings : Settings
        Weights, tie order, solver, threads.
    stored : StoredEngine, optional
        None for snapshots of older versions.
    damaged : callable
        Makes the error for arrays that turn out to be damaged.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        settings: Settings,
        *,
        stored: StoredEngine | None,
        damaged: Callable[[str], FormatError],
    ) -> None:
        self._graph = graph
        self._settings = settings
        self._stored = stored
        self._damaged = damaged
        self._making = threading.RLock()
        self._weights: kernels.SparseMatrix | None = None
        self._transition: kernels.Transition | None = None
        self._engine: kernels.Engine | None = None
        self._exact: kernels.ExactGraph | None = None

    def rank(
        self,
        seeds: kernels.SeedBatch,
        *,
        k: int,
        restart_probability: float,
        accuracy: Accuracy,
    ) -> kernels.RankedBatch:
        """Rank the k best passages for each query; `num_reached` counts among those.

        Raises
        ------
        FormatError
            Arrays of the snapshot are damaged.
        """
        try:
            if self._settings.propagation == "none":
                ranked = self._by_seeds_alone(seeds, k)
            elif accuracy == "exact":
                ranked = self._exactly(seeds, k, restart_probability)
            else:
                ranked = self.engine.rank(
                    seeds,
                    k=k,
                    accuracy=accuracy,
                    restart_probability=restart_probability,
                    num_threads=self._settings.num_threads,
                    descending_ties=self._settings.tie_order == "descending",
                )
        except FormatError:
            raise
        except (ValueError, IndexError) as error:  # the caller's values were checked before
            raise self._damaged(str(error)) from None
        # Read without a sign, an id below 0 is too large as well.
        if ranked.passages.view(np.uint32).max() >= self._graph.num_passages:
            raise self._damaged("the serving layout names a passage that there is not")
        return ranked

    def is_quick(self, accuracy: Accuracy, restart_probability: float) -> bool:
        """Whether a query takes far less than a second on a graph of any size: by local push."""
        return (
            accuracy != "exact"
            and self._settings.propagation == "ppr"
            and restart_probability >= LEAST_RESTART_TO_PUSH
        )

    @property
    def transition(self) -> kernels.Transition:
        """The random walk over the graph's weights.

        Raises
        ------
        FormatError
            Arrays of the snapshot are no graph.
        """
        if self._transition is None:
            with self._making:
                if self._transition is None:
                    weights, _ = self._matrices()
                    self._transition = self._checked(lambda: kernels.Transition(weights))
        return self._transition

    @property
    def engine(self) -> kernels.Engine:
        """The serving engine, mapped or made now; FormatError as above."""
        if self._engine is None:
            with self._making:
                if self._engine is None:
                    self._engine = self._checked(self._open_engine)
        return self._engine

    @property
    def exact_graph(self) -> kernels.ExactGraph:
        """The graph laid out for exact solves, made at first use; FormatError as above."""
        if self._exact is None:
            with self._making:
                if self._exact is None:
                    matrices = self._matrices()
                    self._exact = self._checked(lambda: kernels.ExactGraph(*matrices))
        return self._exact

    def _stores_engine(self) -> bool:
        """Whether the snapshot has the engine of the weights asked for."""
        return self._stored is not None and (
            dict(self._stored.weight_settings) == weight_settings(self._settings)
        )

    def _open_engine(self) -> kernels.Engine:
        wanted = weight_settings(self._settings)
        stored = self._stored
        if stored is not None and self._stores_engine():
            return kernels.Engine.from_arrays(
                stored.arrays, self._matrices, num_threads=self._settings.num_threads
            )
        why = "the snapshot has none"
        if stored is not None:
            was = {name: stored.weight_settings.get(name) for name in wanted}
            why = f"the snapshot's has weights with {was}, not {wanted}"
        _log.info("the serving engine is built in memory: %s", why)
        weights, occurrences = self._matrices()
        return kernels.Engine.build(
            weights,
            occurrences,
            restart_probability=self._settings.restart_probability,
            num_threads=self._settings.num_threads,
        )

    def _exactly(
        self, seeds: kernels.SeedBatch, k: int, restart_probability: float
    ) -> kernels.RankedBatch:
        settings = self._settings
        options: dict[str, Any] = {
            "k": k,
            "restart_probability": restart_probability,
            "num_threads": settings.num_threads,
            "descending_ties": settings.tie_order == "descending",
        }
        # The engine begins with a push, which saves sweeps. Which of the two answers depends on the
        # snapshot and the settings, not on earlier queries: their last digits differ.
        if self._stores_engine() and _is_default(settings, "tolerance", "max_iterations"):
            ranked = self.engine.rank(seeds, accuracy="exact", **options)
        else:
            ranked = self.exact_graph.rank(
                seeds,
                tolerance=settings.tolerance,
                max_iterations=settings.max_iterations,
                **options,
            )
        return _counted_among(ranked, k)

    def _by_seeds_alone(self, seeds: kernels.SeedBatch, k: int) -> kernels.RankedBatch:
        ranked = kernels.rank_passages(
            self.transition,
            self._graph.occurrences,
            seeds,
            k=k,
            restart_probability=1.0,
            tolerance=self._settings.tolerance,
            max_iterations=1,
            num_threads=self._settings.num_threads,
            descending_ties=self._settings.tie_order == "descending",
            propagate=False,
        )
        return _counted_among(ranked, k)

    def _matrices(self) -> tuple[kernels.SparseMatrix, kernels.SparseMatrix]:
        """Weights and occurrences, made and checked at the first call."""
        with self._making:
            if self._weights is None:
                self._weights = self._checked(self._make_weights)
            return self._weights, self._graph.occurrences

    def _make_weights(self) -> kernels.SparseMatrix:
        self._graph.occurrences.check()
        return graph_weights(self._graph, self._settings)

    def _checked(self, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except (FormatError, ValueError, IndexError) as error:  # what the core checks
            raise self._damaged(str(error)) from None


def _is_default(settings: Settings, *names: str) -> bool:
    return all(getattr(settings, n) == Settings.model_fields[n].default for n in names)


def _counted_among(ranked: kernels.RankedBatch, k: int) -> kernels.RankedBatch:
    reached = np.minimum(ranked.num_reached, k).astype(np.int32)
    return replace(ranked, num_reached=reached)
