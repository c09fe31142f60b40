"""Seeds -> ranked passage ids, over one graph with one set of weights."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hippograph import kernels
from hippograph.config import Settings
from hippograph.errors import FormatError
from hippograph.graph import KnowledgeGraph


class Ranker:
    """Ranks passages of a graph under fixed settings. May be used from several threads.

    Opening costs nothing: what takes time in the size of the graph is made when it is first needed,
    once.

    Parameters
    ----------
    graph : KnowledgeGraph
    settings : Settings
        Weights (`edge_combination`, `synonymy_threshold`, `use_synonymy`), tie order, solver.
    damaged : callable
        Makes the error for arrays that turn out to be damaged.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        settings: Settings,
        *,
        damaged: Callable[[str], FormatError],
    ) -> None:
        self._graph = graph
        self._settings = settings
        self._damaged = damaged
        self._making = threading.Lock()
        self._transition: kernels.Transition | None = None

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
                    self._transition = self._make_transition()
        return self._transition

    def rank(
        self, seeds: kernels.SeedBatch, *, k: int, restart_probability: float
    ) -> kernels.RankedBatch:
        """Rank the k best passages for each query of `seeds`."""
        settings = self._settings
        return kernels.rank_passages(
            self.transition,
            self._graph.occurrences,
            seeds,
            k=k,
            restart_probability=restart_probability,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
            num_threads=settings.num_threads,
            descending_ties=settings.tie_order == "descending",
            propagate=settings.propagation == "ppr",
        )

    def _make_transition(self) -> kernels.Transition:
        try:
            self._graph.occurrences.check()
            return kernels.Transition(
                self._graph.weights(
                    combination=self._settings.edge_combination,
                    synonymy_threshold=self._settings.synonymy_threshold,
                    use_synonymy=self._settings.use_synonymy,
                )
            )
        except ValueError as error:  # the core's checks of offsets, ids and weights
            raise self._damaged(str(error)) from None
