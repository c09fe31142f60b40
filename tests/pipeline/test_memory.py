"""A memory end to end with scripted parts: index, retrieve, trace, reopen."""

from __future__ import annotations

import numpy as np
import pytest

import hippograph
from hippograph import Passage, Settings
from tests.fakes import HashEncoder, ScriptedExtractor
from tests.pipeline.scripted import (
    ALZHEIMER,
    ENTITIES,
    OTHER,
    QUESTION,
    STANFORD,
    THOMAS,
    TRIPLES,
    open_memory,
)


def test_two_hops_in_one_retrieval(memory) -> None:
    result = memory.retrieve(QUESTION, k=4)
    assert [hit.text for hit in result][-1] == OTHER
    assert [hit.rank for hit in result] == [1, 2, 3, 4]
    assert result[3].score == 0.0  # another component: nothing leaks
    assert result.trace.num_reached == 3
    assert result.trace.method == result.trace.requested_method == "hipporag"
    assert result.trace.fallback_reason is None
    assert {link.node for link in result.trace.linked_nodes} == {"stanford", "alzheimer's"}
    assert all(link.exact and link.similarity == 1.0 for link in result.trace.linked_nodes)
    assert result.trace.converged
    assert result.trace.error_bound <= 1e-6
    assert set(result.trace.timings) >= {"link", "rank", "fetch"}


@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
def test_scores_are_the_linear_solution(memory, restart: float) -> None:
    """(alzheimer's, stanford, synapses, thomas) is a path; otto - oxford stands apart."""
    result = memory.retrieve(QUESTION, k=4, restart_probability=restart)
    walk = np.array([[0, 0, 0.5, 0], [0, 0, 0, 0.5], [1, 0, 0, 0.5], [0, 1, 0.5, 0]])
    v = np.array([0.5, 0.5, 0, 0])
    nodes = np.linalg.solve(np.eye(4) - (1 - restart) * walk, restart * v)
    expected = {
        ALZHEIMER: nodes[0] + nodes[2], STANFORD: nodes[1] + nodes[3], THOMAS: nodes[2] + nodes[3],
        OTHER: 0.0,
    }  # fmt: skip
    assert {hit.text: hit.score for hit in result} == pytest.approx(expected, abs=2e-6)


def test_given_entities_win_over_extracted_ones(memory) -> None:
    result = memory.retrieve(QUESTION, k=1, query_entities=["Otto"])
    assert result[0].text == OTHER
    assert result.trace.query_entities == ("Otto",)


def test_entity_that_is_no_node_links_to_the_nearest(tmp_path) -> None:
    encoder = HashEncoder(groups=[["stanford", "leland stanford junior university"]])
    with open_memory(tmp_path / "kb", phrase_encoder=encoder) as memory:
        memory.index([THOMAS, ALZHEIMER, STANFORD, OTHER])
        entity = "Leland Stanford Junior University"
        result = memory.retrieve(QUESTION, query_entities=[entity])
        (link,) = result.trace.linked_nodes
        assert (link.entity, link.node, link.exact) == (entity, "stanford", False)
        assert 0.9 < link.similarity < 1.0


def test_two_entities_on_one_node_count_once(memory) -> None:
    once = memory.retrieve(QUESTION, query_entities=["Stanford", "Otto"])
    twice = memory.retrieve(QUESTION, query_entities=["Stanford", "STANFORD", "Otto"])
    assert [(hit.id, hit.score) for hit in once] == [(hit.id, hit.score) for hit in twice]
    assert len(twice.trace.linked_nodes) == 3


def test_exact_names_are_linked_without_encoding(tmp_path) -> None:
    encoder = HashEncoder()
    with open_memory(tmp_path / "kb", phrase_encoder=encoder) as memory:
        memory.index([THOMAS, STANFORD])
        encoder.encoded.clear()
        memory.retrieve(QUESTION, query_entities=["Stanford"])
        assert encoder.encoded == []


@pytest.mark.parametrize(
    ("entities", "reason"),
    [([], "no entity was found"), (["—"], "none of the query entities links")],
)
def test_fallback_to_dense_is_said(memory, entities: list[str], reason: str) -> None:
    result = memory.retrieve(THOMAS, k=2, query_entities=entities)
    assert result[0].text == THOMAS
    assert result.trace.method == "dense"
    assert result.trace.requested_method == "hipporag"
    assert reason in result.trace.fallback_reason
    assert result.trace.score_kind == "cosine"


def test_node_specificity_can_be_switched_off(tmp_path) -> None:
    many = [f"Stanford has hall {i}." for i in range(8)]
    triples = {**TRIPLES, **{t: [("Stanford", "has", f"hall {i}")] for i, t in enumerate(many)}}
    weights = {}
    for on in (True, False):
        extractor = ScriptedExtractor(triples, query_entities=ENTITIES)
        settings = Settings(node_specificity=on)
        path = tmp_path / str(on)
        with open_memory(path, extractor=extractor, settings=settings) as memory:
            memory.index([THOMAS, ALZHEIMER, STANFORD, OTHER, *many])
            links = memory.retrieve(QUESTION).trace.linked_nodes
            weights[on] = {link.node: link.weight for link in links}
    assert weights[True] == {"stanford": pytest.approx(1 / 9), "alzheimer's": 1.0}
    assert weights[False] == {"stanford": 1.0, "alzheimer's": 1.0}


def test_synonyms_bridge_names(tmp_path) -> None:
    a, b = "Sudhof won a prize.", "Südhof works in California."
    triples = {
        a: [("Sudhof", "won", "prize")],
        b: [("Südhof", "works in", "California")],
    }
    encoder = HashEncoder(groups=[["sudhof", "südhof"]])
    for use, reached in ((True, 2), (False, 1)):
        with open_memory(
            tmp_path / str(use), phrase_encoder=encoder, extractor=ScriptedExtractor(triples),
            settings=Settings(use_synonymy=use),
        ) as memory:  # fmt: skip
            report = memory.index([a, b])
            assert report.num_synonymy_edges == 1
            result = memory.retrieve("prize in California", query_entities=["prize"])
            assert result.trace.num_reached == reached


def test_many_equals_one_by_one(memory) -> None:
    queries = [QUESTION, THOMAS, OTHER]
    entities = [None, ["synapses"], []]
    together = memory.retrieve_many(queries, k=3, query_entities=entities)
    alone = [
        memory.retrieve(query, k=3, query_entities=names)
        for query, names in zip(queries, entities, strict=True)
    ]
    assert [[(h.id, h.score) for h in r] for r in together] == [
        [(h.id, h.score) for h in r] for r in alone
    ]


def test_an_empty_query_in_a_batch_is_reported_and_the_rest_proceed(memory) -> None:
    empty, full = memory.retrieve_many(["  ", QUESTION], k=2)
    assert len(empty) == 0
    assert empty.trace.fallback_reason == "the query is empty"
    assert len(full) == 2


def test_passages_come_back_verbatim(tmp_path) -> None:
    odd = Passage(
        text="\x00 nul, lone \ud800 surrogate, 北京, العربية, é, 🧠\r\n",
        title="Odd\ud800",
        id="odd-1",
        metadata={"page": 3, "tags": ["a", None], "nested": {"k": 1.5}},
        source="file.txt",
    )
    with open_memory(tmp_path / "kb") as memory:
        memory.index([odd, THOMAS])
        assert next(iter(memory.passages())) == odd
        hit = next(h for h in memory.retrieve(THOMAS, method="dense") if h.id == "odd-1")
        assert (hit.text, hit.title, dict(hit.metadata), hit.source) == (
            odd.text, odd.title, dict(odd.metadata), odd.source,
        )  # fmt: skip


def test_indexing_again_changes_nothing(memory) -> None:
    before = memory.retrieve(QUESTION, k=4)
    report = memory.index([THOMAS, STANFORD])
    assert (report.added, report.duplicates, report.extracted, report.reused) == (0, 2, 0, 2)
    after = memory.retrieve(QUESTION, k=4)
    assert [(h.id, h.score) for h in before] == [(h.id, h.score) for h in after]


def test_adding_later_equals_building_once(tmp_path) -> None:
    with open_memory(tmp_path / "steps") as memory:
        for text in (THOMAS, ALZHEIMER, STANFORD, OTHER):
            memory.index(text)
        steps = memory.retrieve(QUESTION, k=4)
    with open_memory(tmp_path / "once") as memory:
        memory.index([THOMAS, ALZHEIMER, STANFORD, OTHER])
        once = memory.retrieve(QUESTION, k=4)
    assert [(h.id, h.score) for h in steps] == [(h.id, h.score) for h in once]


def test_reader_keeps_what_it_opened_and_a_new_one_sees_more(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as writer:
        writer.index([THOMAS])
        with open_memory(tmp_path / "kb", mode="r") as reader:
            writer.index([STANFORD])
            assert len(reader.retrieve(QUESTION, k=10)) == 1
        with open_memory(tmp_path / "kb", mode="r") as reader:
            assert len(reader.retrieve(QUESTION, k=10)) == 2


def test_supplied_extractions_need_no_extractor(tmp_path) -> None:
    extractor = ScriptedExtractor()
    with open_memory(tmp_path / "kb", extractor=extractor) as memory:
        report = memory.index(
            [THOMAS, STANFORD],
            extractions=[[("Thomas", "studies", "synapses"), ("too", "short")], TRIPLES[STANFORD]],
        )
        assert extractor.extracted == []
        assert (report.extracted, report.malformed_triples) == (2, 1)
        assert memory.stats().facts_by == {"supplied": 2}
        assert memory.retrieve(QUESTION, query_entities=["synapses"])[0].text == THOMAS


def test_interrupted_indexing_continues(tmp_path) -> None:
    path = tmp_path / "kb"
    stopping = ScriptedExtractor(TRIPLES, raise_after=(2, KeyboardInterrupt()))
    with open_memory(path, extractor=stopping) as memory, pytest.raises(KeyboardInterrupt):
        memory.index([THOMAS, ALZHEIMER, STANFORD, OTHER])
    rest = ScriptedExtractor(TRIPLES)
    with open_memory(path, extractor=rest) as memory:
        memory.index([])
        assert rest.extracted == [STANFORD, OTHER]
        assert memory.retrieve(QUESTION, k=4, query_entities=["Stanford"]).trace.num_reached == 3


def test_costly_vectors_are_made_once(tmp_path) -> None:
    for _ in range(2):
        phrase, passage = (
            HashEncoder("fake:p", is_costly=True),
            HashEncoder("fake:q", is_costly=True),
        )
        with open_memory(tmp_path / "kb", phrase_encoder=phrase, passage_encoder=passage) as memory:
            memory.index([THOMAS, STANFORD])
    assert phrase.encoded == []
    assert passage.encoded == []


def test_settings_are_remembered(tmp_path) -> None:
    with open_memory(tmp_path / "kb", settings=Settings(restart_probability=0.3)) as memory:
        memory.index([THOMAS])
    with open_memory(tmp_path / "kb", mode="r") as memory:
        assert memory.settings.restart_probability == 0.3


def test_facts_can_be_supplied_later_for_passages_without_any(tmp_path) -> None:
    """ "none" leaves passages pending, so that facts given later are taken."""
    with open_memory(tmp_path / "kb", extractor="none") as memory:
        memory.index([THOMAS, STANFORD])
        assert memory.stats().num_pending == 2
        report = memory.index([THOMAS, STANFORD], extractions=[TRIPLES[THOMAS], TRIPLES[STANFORD]])
        assert (report.extracted, report.added, report.duplicates) == (2, 0, 2)
        assert memory.retrieve(QUESTION, k=1, query_entities=["Stanford"])[0].text == STANFORD


@pytest.mark.parametrize("role", ["phrase_encoder", "passage_encoder", "extractor"])
def test_a_misspelt_back_end_costs_nothing_and_is_not_remembered(tmp_path, role: str) -> None:
    extractor = ScriptedExtractor(TRIPLES)
    with (
        open_memory(tmp_path / "kb", **{"extractor": extractor, role: "ofline"}) as misspelt,
        pytest.raises(hippograph.ConfigurationError, match=r"unknown \w+ 'ofline'; known"),
    ):
        misspelt.index([THOMAS])
    assert extractor.extracted == []
    with open_memory(tmp_path / "kb") as memory:
        assert getattr(memory.settings, role) != "ofline"
        assert memory.index([THOMAS]).extracted == 1
