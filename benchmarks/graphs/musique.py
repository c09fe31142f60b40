"""The real MuSiQue-train graph: 1,890 passages with GPT-3.5 triples, and its questions."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import scipy.sparse

from graphs.queries import Queries, from_lists
from graphs.workload import Workload
from hippograph.graph import NodeNames, normalize_phrase
from hippograph.indexing.assembly import collect_facts
from hippograph.indexing.openie_file import read_openie

OPENIE = "musique_train/openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
ENTITIES = "musique_train/musique_train_query_entities.jsonl"


def musique_train(data: pathlib.Path) -> tuple[Workload, Queries]:
    """Return the relation graph with its synonymy, and one query per question that links.

    Synonymy is that of the default settings: the embedded encoder, similarity >= 0.8.
    """
    source = read_openie(data / OPENIE)
    facts = collect_facts(
        source.extractions, normalizer="unicode", occurrence_count="distinct_triples"
    )
    count = len(facts.names)
    occurrences = scipy.sparse.csr_array(
        (facts.occurrences.values, facts.occurrences.columns, facts.occurrences.offsets),
        shape=(count, len(source.passages)),
    )
    ones = np.ones(len(facts.heads), dtype=np.float32)
    rows, columns, similarities = _synonyms([facts.names[node] for node in range(count)])
    upper = scipy.sparse.coo_array(
        (
            np.concatenate([ones, similarities]),
            (
                np.concatenate([np.minimum(facts.heads, facts.tails), rows]),
                np.concatenate([np.maximum(facts.heads, facts.tails), columns]),
            ),
        ),
        shape=(count, count),
    ).tocsr()
    upper.setdiag(0)
    upper.eliminate_zeros()
    weights = (upper + upper.T).tocsr()
    weights.sort_indices()
    topics = np.append(np.arange(0, len(source.passages), 20), len(source.passages))
    workload = Workload("musique-train", weights, occurrences, topics)
    return workload, _questions(data, facts.names, workload)


def _synonyms(names: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs i < j with similarity >= 0.8, exact."""
    from hippograph.backends.wordllama_encoder import WordLlamaEncoder

    vectors = np.asarray(WordLlamaEncoder().encode(names), dtype=np.float32)
    rows, columns, values = [], [], []
    for start in range(0, len(vectors), 2048):
        block = vectors[start : start + 2048] @ vectors[start:].T
        i, j = np.nonzero(block >= 0.8)
        above = j > i
        rows.append(i[above] + start)
        columns.append(j[above] + start)
        values.append(block[i[above], j[above]])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _questions(data: pathlib.Path, names: NodeNames, workload: Workload) -> Queries:
    seeds = []
    for line in (data / ENTITIES).read_text("utf-8").splitlines():
        phrases = [normalize_phrase(name) for name in json.loads(line)["named_entities"]]
        found = {node for phrase in phrases if (node := names.find(phrase)) is not None}
        if found:
            nodes = np.array(sorted(found), dtype=np.int32)
            seeds.append((nodes, 1.0 / workload.passages_of[nodes]))
    return from_lists(seeds)
