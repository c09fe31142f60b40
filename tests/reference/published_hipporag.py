"""HippoRAG 1 once more, the obvious way: dictionaries, loops and igraph.

Written from the description of the public code (branch `legacy`), independently of the package and
importing nothing from it. Slow on purpose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import igraph
import numpy as np


def normalize(phrase: str) -> str:
    return re.sub("[^A-Za-z0-9 ]", " ", phrase.lower()).strip()


class PublishedHippoRAG:
    """Index of triples and phrase vectors; `rank` orders all passages for one query."""

    def __init__(
        self,
        triples_of: Sequence[Sequence[tuple[str, str, str]]],
        encode: Callable[[list[str]], np.ndarray],  # unit rows
        *,
        tau: float = 0.8,
        synonymy: bool = True,
    ) -> None:
        self.encode = encode
        facts = [
            [tuple(normalize(part) for part in triple) for triple in triples]
            for triples in triples_of
        ]
        facts = [[f for f in passage if f[0] and f[2]] for passage in facts]
        self.phrases = sorted({p for passage in facts for f in passage for p in (f[0], f[2])})
        self.ids = {phrase: i for i, phrase in enumerate(self.phrases)}
        self.vectors = encode(self.phrases)
        pair: dict[tuple[int, int], float] = defaultdict(float)
        for passage in facts:
            for head, _, tail in passage:
                pair[self.ids[head], self.ids[tail]] += 1.0
                pair[self.ids[tail], self.ids[head]] += 1.0
        if synonymy:
            self._overwrite_with_synonyms(pair, tau)
        edges = [(a, b) for a, b in pair if a != b]
        self.graph = igraph.Graph(
            n=len(self.phrases), edges=edges, edge_attrs={"weight": [pair[e] for e in edges]}
        )
        self.distinct = [sorted(set(passage)) for passage in facts]
        self.passages_of: dict[int, set[int]] = defaultdict(set)
        for j, passage in enumerate(self.distinct):
            for head, _, tail in passage:
                self.passages_of[self.ids[head]].add(j)
                self.passages_of[self.ids[tail]].add(j)

    def _overwrite_with_synonyms(self, pair: dict[tuple[int, int], float], tau: float) -> None:
        may_search = [len(re.sub("[^A-Za-z0-9]", "", phrase)) > 2 for phrase in self.phrases]
        for start in range(0, len(self.phrases), 512):
            block = self.vectors[start : start + 512] @ self.vectors.T
            for i, similarities in enumerate(block, start=start):
                above = np.flatnonzero(similarities >= np.float32(tau)) if may_search[i] else []
                best_first = sorted(above, key=lambda j: (-similarities[j], j))
                for j in [j for j in best_first if j != i][:101]:
                    pair[i, int(j)] = float(similarities[j])

    def seeds(self, entities: Sequence[str], *, specificity: bool = True) -> np.ndarray:
        weights = np.zeros(len(self.phrases))
        for entity in entities:
            phrase = normalize(entity)
            if not phrase:
                continue
            node = self.ids.get(phrase)
            if node is None:
                node = int(np.argmax(self.vectors @ self.encode([phrase])[0]))
            count = len(self.passages_of[node])
            weights[node] = 1.0 / count if specificity and count else 1.0
        return weights

    def scores(
        self, entities: Sequence[str], *, damping: float, specificity: bool = True,
        propagate: bool = True,
    ) -> np.ndarray:  # fmt: skip
        """Passage scores; `damping` is igraph's: the chance that the walk goes on."""
        reset = self.seeds(entities, specificity=specificity)
        nodes = reset
        if propagate:
            nodes = np.array(
                self.graph.personalized_pagerank(
                    damping=damping, directed=False, weights="weight", reset=list(reset),
                    implementation="prpack",
                )
            )  # fmt: skip
        ids = self.ids
        return np.array(
            [
                sum(nodes[ids[h]] + (nodes[ids[t]] if t != h else 0.0) for h, _, t in passage)
                for passage in self.distinct
            ]
        )
