"""Query entities -> query nodes: the node of the same name, else the nearest one by cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hippograph.config import Normalizer
from hippograph.encoding import encode_texts
from hippograph.graph import KnowledgeGraph, normalize_phrase
from hippograph.protocols import Encoder
from hippograph.retrieval.nearest import nearest_phrases


class Link(NamedTuple):
    """One query entity and its node; similarity is 1.0 when the names are equal."""

    entity: str
    node: str
    node_id: int
    similarity: float
    exact: bool


def link_entities(
    entities: Sequence[Sequence[str]],
    graph: KnowledgeGraph,
    encoder: Callable[[], Encoder],
    *,
    normalizer: Normalizer,
    link_threshold: float,
) -> list[list[Link]]:
    """Link each entity of each query to one node; entities that link to nothing are left out.

    Parameters
    ----------
    entities : sequence of sequences of str
        Per query. A phrase that normalises to nothing is dropped.
    encoder : callable
        Gives the phrase encoder; called only when an entity is not the name of a node.
    link_threshold : float
        Smallest cosine, inclusive, of a link that is not by name.

    Names are looked up in one call for the whole batch, and those that are no node are encoded in
    one. Equal similarities go to the smaller node id, as in the public code. Linking uses no
    similarity as a weight.
    """
    names = [
        [(entity, normalize_phrase(entity, normalizer)) for entity in query] for query in entities
    ]
    wanted = list(dict.fromkeys(name for query in names for _, name in query if name))
    known = dict(zip(wanted, graph.names.find_all(wanted), strict=True))
    unknown = sorted(name for name, node_id in known.items() if node_id < 0)
    nearest = _nearest_nodes(unknown, graph, encoder) if unknown else {}

    def link(entity: str, name: str) -> Link | None:
        node_id = known.get(name, -1)
        if node_id >= 0:
            return Link(entity, name, node_id, 1.0, True)
        if name in nearest and nearest[name][1] >= link_threshold:
            node_id, similarity = nearest[name]
            return Link(entity, graph.names[node_id], node_id, similarity, False)
        return None

    return [
        [found for entity, name in query if (found := link(entity, name)) is not None]
        for query in names
    ]


def _nearest_nodes(
    names: Sequence[str], graph: KnowledgeGraph, encoder: Callable[[], Encoder]
) -> dict[str, tuple[int, float]]:
    if not names or graph.num_nodes == 0:
        return {}
    found = nearest_phrases(graph, encode_texts(encoder(), names))
    return {
        name: (int(node_id), float(similarity))
        for name, node_id, similarity, number in zip(
            names, found.ids[:, 0], found.similarities[:, 0], found.num_found, strict=True
        )
        if number
    }
