"""Seeded graphs of any size that look like the real one.

Each passage takes the shape of a real one (how its triples join its phrases). Phrases that the
real passage shares with others are drawn from four tiers: hubs (a fixed share of all passages
each, so that their degree grows with the corpus), names known everywhere, names of a domain (1,000
passages), names of a topic (about 20 passages). All other phrases are new nodes. Synonymy comes in
clusters, most of them small and local. At last ids are permuted: phrases are numbered in
alphabetical order, which says nothing about the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from graphs.calibration import Shapes, read_calibration, read_shapes, starts_of
from graphs.workload import Workload

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Passages:
    """Drawn passages, flattened: one slot a phrase of a passage."""

    shape_of: Ids  # (num_passages,)
    slot_starts: Ids  # (num_passages + 1,)
    passage_of: Ids  # (num_slots,)
    is_shared: NDArray[np.bool_]  # (num_slots,)

    @property
    def num_passages(self) -> int:
        return len(self.shape_of)

    @property
    def num_slots(self) -> int:
        return len(self.passage_of)


@dataclass(frozen=True)
class Corpus:
    """A drawn corpus before anything is merged; nodes are numbered as in the workload."""

    num_nodes: int
    num_passages: int
    topics: Ids
    heads: Ids  # nodes that each triple joins, (num_triples,)
    tails: Ids
    triple_passages: Ids
    synonyms: tuple[Ids, Ids, NDArray[np.float32]]  # pairs and their similarities


def draw_corpus(num_passages: int, *, seed: int = 0) -> Corpus:
    """Return a corpus of `num_passages` passages; the same for the same arguments."""
    random = np.random.default_rng([seed, num_passages])
    calibration = read_calibration()
    chosen, shapes = calibration["chosen"], read_shapes()
    is_larger = num_passages > calibration["measured"]["passages"]
    extra_shared = chosen["extra_shared_slots"] if is_larger else 0.0
    passages = _draw_passages(random, shapes, num_passages, extra_shared)
    topics = _draw_topics(random, num_passages, chosen["passages_per_topic"])
    nodes, num_nodes = _assign_nodes(random, passages, topics, chosen)
    first, second, similarities = _synonyms(random, nodes, passages, num_nodes, chosen)
    new_ids = random.permutation(num_nodes)
    heads, tails = _relations(shapes, passages)
    return Corpus(
        num_nodes=num_nodes,
        num_passages=num_passages,
        topics=topics,
        heads=new_ids[nodes[heads]],
        tails=new_ids[nodes[tails]],
        triple_passages=passages.passage_of[heads],
        synonyms=(new_ids[first], new_ids[second], similarities),
    )


def generate(num_passages: int, *, seed: int = 0, name: str | None = None) -> Workload:
    """Return the graph of a drawn corpus: weight = triples of the pair + similarity."""
    corpus = draw_corpus(num_passages, seed=seed)
    first, second, similarities = corpus.synonyms
    weights = _merge_edges(
        corpus.num_nodes,
        np.concatenate([corpus.heads, first]),
        np.concatenate([corpus.tails, second]),
        np.concatenate([np.ones(len(corpus.heads), dtype=np.float32), similarities]),
    )
    mentions = np.ones(2 * len(corpus.heads), dtype=np.float32)
    occurrences = scipy.sparse.coo_array(
        (
            mentions,
            (
                np.concatenate([corpus.heads, corpus.tails]),
                np.concatenate([corpus.triple_passages, corpus.triple_passages]),
            ),
        ),
        shape=(corpus.num_nodes, num_passages),
    ).tocsr()
    return Workload(name or f"generated-{num_passages}", weights, occurrences, corpus.topics)


def _draw_passages(
    random: np.random.Generator, shapes: Shapes, num_passages: int, extra_shared: float
) -> Passages:
    """A larger corpus shares more: some phrases that only one real passage has become shared."""
    shape_of = random.integers(0, len(shapes), num_passages)
    sizes = shapes.num_phrases[shape_of]
    slot_starts = starts_of(sizes)
    passage_of = np.repeat(np.arange(num_passages), sizes)
    slot_in_shape = np.arange(len(passage_of)) - slot_starts[passage_of]
    is_shared = shapes.is_shared[shapes.phrase_starts[shape_of[passage_of]] + slot_in_shape]
    is_shared |= random.random(len(passage_of)) < extra_shared
    return Passages(shape_of, slot_starts, passage_of, is_shared)


def _draw_topics(random: np.random.Generator, num_passages: int, mean_size: int) -> Ids:
    """Cut the corpus at random places: sizes are geometric, as questions' pools overlap."""
    cuts = random.choice(num_passages, size=num_passages // mean_size, replace=False)
    return np.unique(np.concatenate([[0], cuts, [num_passages]]))


def _assign_nodes(
    random: np.random.Generator, passages: Passages, topics: Ids, chosen: dict[str, Any]
) -> tuple[Ids, int]:
    """Return the node of each slot, numbered without gaps, and the number of nodes."""
    nodes = np.empty(passages.num_slots, dtype=np.int64)
    shared = np.flatnonzero(passages.is_shared)
    nodes[shared], num_pooled = _draw_shared(random, passages, shared, topics, chosen)
    private = np.flatnonzero(~passages.is_shared)
    nodes[private] = num_pooled + np.arange(len(private))
    is_used = np.zeros(num_pooled + len(private), dtype=np.bool_)
    is_used[nodes] = True
    numbers = np.cumsum(is_used) - 1
    return numbers[nodes], int(numbers[-1]) + 1


def _draw_shared(
    random: np.random.Generator,
    passages: Passages,
    shared: Ids,
    topics: Ids,
    chosen: dict[str, Any],
) -> tuple[Ids, int]:
    """Choose a tier for each shared slot, and a node of the tier's pool."""
    passage_of = passages.passage_of[shared]
    hubs = np.array(chosen["hub_shares"])
    everywhere, domain, topic = (
        chosen["tiers"][tier] for tier in ("everywhere", "domain", "topic")
    )
    hub_limit = hubs.sum() * passages.num_passages / len(shared)
    limits = hub_limit + np.array([0.0, everywhere["share"], everywhere["share"] + domain["share"]])
    tier_of = np.searchsorted(limits, random.random(len(shared)), side="right")

    num_everywhere = max(20, int(everywhere["nodes_per_passage"] * passages.num_passages))
    num_domains = passages.num_passages // domain["passages"] + 1
    pool_sizes = np.maximum(1, (np.diff(topics) * topic["nodes_per_passage"]).astype(np.int64))
    topic_of = np.searchsorted(topics, passage_of, side="right") - 1
    domain_base = len(hubs) + num_everywhere
    topic_base = domain_base + num_domains * domain["nodes"]
    pool_starts = topic_base + starts_of(pool_sizes)

    nodes = np.empty(len(shared), dtype=np.int64)
    at = [np.flatnonzero(tier_of == tier) for tier in range(4)]
    nodes[at[0]] = random.choice(len(hubs), size=len(at[0]), p=hubs / hubs.sum())
    everywhere_sizes = np.full(len(at[1]), num_everywhere)
    nodes[at[1]] = len(hubs) + _zipf(random, everywhere_sizes, everywhere["exponent"])
    domain_of = passage_of[at[2]] // domain["passages"]
    ranks = _zipf(random, np.full(len(at[2]), domain["nodes"]), domain["exponent"])
    nodes[at[2]] = domain_base + domain_of * domain["nodes"] + ranks
    topics_there = topic_of[at[3]]
    ranks = _zipf(random, pool_sizes[topics_there], topic["exponent"])
    nodes[at[3]] = pool_starts[topics_there] + ranks
    return nodes, int(pool_starts[-1])


def _zipf(random: np.random.Generator, sizes: Ids, exponent: float) -> Ids:
    """Draw ranks in [0, sizes) with density ~ rank^-exponent, by inverting its integral."""
    power = 1.0 - exponent
    spread = (sizes + 1.0) ** power - 1.0
    ranks = (1.0 + random.random(len(sizes)) * spread) ** (1.0 / power) - 1.0
    return np.minimum(ranks.astype(np.int64), sizes - 1)


def _relations(shapes: Shapes, passages: Passages) -> tuple[Ids, Ids]:
    """Return the slots that each triple joins."""
    counts = shapes.num_triples[passages.shape_of]
    first = starts_of(counts)
    passage_of = np.repeat(np.arange(passages.num_passages), counts)
    within = np.arange(first[-1]) - first[passage_of]
    triples = shapes.triple_starts[passages.shape_of[passage_of]] + within
    base = passages.slot_starts[passage_of]
    return base + shapes.heads[triples], base + shapes.tails[triples]


def _synonyms(
    random: np.random.Generator,
    nodes: Ids,
    passages: Passages,
    num_nodes: int,
    chosen: dict[str, Any],
) -> tuple[Ids, Ids, NDArray[np.float32]]:
    """Return pairs of similar nodes and their similarities in [0.8, 1]."""
    rules = chosen["synonymy"]
    home = np.zeros(num_nodes)
    home[nodes] = passages.passage_of
    lot = random.random(num_nodes)
    nearby = np.argsort(home + random.random(num_nodes) * rules["local"]["spread_passages"])
    local, anywhere = rules["local"]["share_of_nodes"], rules["anywhere"]["share_of_nodes"]
    groups = (
        (nearby[lot[nearby] < local], rules["local"]),
        (
            random.permutation(np.flatnonzero((lot >= local) & (lot < local + anywhere))),
            rules["anywhere"],
        ),
    )
    pairs = [pair for group, rule in groups for pair in _clusters(random, group, rule)]
    first, second = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    wanted = int(rules["pairs_per_node"] * num_nodes)
    if len(first) > wanted:
        kept = random.permutation(len(first))[:wanted]
        first, second = first[kept], second[kept]
    similarities = 0.8 + 0.2 * random.beta(*rules["similarity_beta"], len(first))
    return first, second, similarities.astype(np.float32)


def _clusters(
    random: np.random.Generator, members: Ids, rule: dict[str, Any]
) -> Iterator[tuple[Ids, Ids]]:
    """Cut `members` into clusters of Pareto sizes; small ones are complete, large ones sparser."""
    tail = (1.0 - random.random(len(members))) ** (-1.0 / rule["pareto_exponent"])
    sizes = np.minimum((2 * tail).astype(np.int64), rule["largest"])
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), len(members))]
    starts = starts_of(sizes)[:-1]
    for size in np.unique(sizes):
        rows, columns = np.triu_indices(size, 1)
        here = starts[sizes == size]
        first = (here[:, None] + rows).ravel()
        second = (here[:, None] + columns).ravel()
        if size > rule["complete_up_to"]:
            kept = random.random(len(first)) < rule["density_above"]
            first, second = first[kept], second[kept]
        yield members[first], members[second]


def _merge_edges(
    num_nodes: int, first: Ids, second: Ids, values: NDArray[np.float32]
) -> scipy.sparse.csr_array:
    """Add up duplicates on one side of the diagonal only, so that both sides are the same bits."""
    between = first != second
    rows, columns = np.minimum(first, second)[between], np.maximum(first, second)[between]
    upper = scipy.sparse.coo_array(
        (values[between], (rows.astype(np.int32), columns.astype(np.int32))),
        shape=(num_nodes, num_nodes),
    ).tocsr()
    weights = (upper + upper.T).tocsr()
    weights.sort_indices()
    return weights
