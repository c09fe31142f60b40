"""Entities of a query by the names of nodes that stand in it, without a model."""

from __future__ import annotations

import pytest

import hippograph
from hippograph import Settings
from hippograph.retrieval.matching import match_entities
from tests.fakes import ScriptedExtractor
from tests.pipeline.scripted import ENTITIES, OTHER, QUESTION, TRIPLES, open_memory

FACTS = [
    ("New York City", "is in", "New York"), ("Thomas Südhof", "works at", "Stanford"),
    ("city", "has", "the song"), ("the", "is", "what"), ("US", "borders", "Mexico"),
    ("body of water", "is near", "rugby union"), ("北京大学", "在", "北京"),
    ("C++", "is", "a language"),
]  # fmt: skip

CASES = [
    ("Where in New York City is Stanford?", ("new york city", "stanford")),
    ("Is Stanford's New York campus in the US?", ("stanford", "new york", "us")),
    ("What is the city of THOMAS SÜDHOF?", ("thomas südhof",)),  # "city" is a common word here
    ("which city is in mexico", ("city", "mexico")),  # nothing to tell names from words by
    ("What is the song of Mexico?", ("mexico",)),
    ("What body of water is near Stanford?", ("body of water", "stanford")),
    ("Mexico, Mexico and mexico", ("mexico",)),
    ("北京大学在哪里", ("北京大学",)),
    ("Is C++ older than the what?", ("c++",)),
    ("Who knows?", ()),
    ("—", ()),
    ("\ud800 Stanford", ("stanford",)),
]  # fmt: skip


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("facts") / "kb"
    with open_memory(path, settings=Settings(query_entity_source="names")) as memory:
        memory.index(["all of it"], extractions=[FACTS])
        yield memory


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_what_is_found(facts, query: str, expected: tuple[str, ...]) -> None:
    graph = facts._state.graph
    assert match_entities([query], graph, normalizer="unicode") == [expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("Where is São Paulo's river?", ("s o paulo",)), ("Who is O'Brien?", ("o brien",))],
)
def test_with_the_ascii_normalizer(tmp_path, query: str, expected: tuple[str, ...]) -> None:
    with open_memory(tmp_path / "kb", settings=Settings(normalizer="ascii")) as memory:
        memory.index(["all"], extractions=[[("São Paulo", "knows", "O'Brien")]])
        assert match_entities([query], memory._state.graph, normalizer="ascii") == [expected]


def test_found_names_are_linked_by_name_and_said_in_the_trace(facts) -> None:
    trace = facts.retrieve("Where in New York City is Stanford?").trace
    assert trace.entity_source == "names"
    assert trace.query_entities == ("new york city", "stanford")
    assert all(link.exact for link in trace.linked_nodes)
    assert facts.retrieve("q", query_entities=["Stanford"]).trace.entity_source == "given"


def test_the_extractor_is_asked_only_where_no_name_is_found(tmp_path) -> None:
    class Counting(ScriptedExtractor):
        asked: list[str] = []  # noqa: RUF012 - one instance

        def query_entities(self, queries):
            self.asked += queries
            return super().query_entities(queries)

    vague = "Who is at that university?"
    extractor = Counting(TRIPLES, query_entities={**ENTITIES, vague: ["Oxford"]})
    settings = Settings(query_entity_source="names")
    with open_memory(tmp_path / "kb", extractor=extractor, settings=settings) as memory:
        memory.index(list(TRIPLES))
        named, vague_one = memory.retrieve_many([QUESTION, vague], k=1)
    assert extractor.asked == [vague]
    assert named.trace.entity_source == "names"
    assert (vague_one.trace.entity_source, vague_one[0].text) == ("extractor", OTHER)


def test_no_extractor_is_made_when_names_are_found(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index(list(TRIPLES))
    settings = Settings(query_entity_source="names")
    with open_memory(tmp_path / "kb", mode="r", extractor=None, settings=settings) as memory:
        memory._backends.extractor = lambda: pytest.fail("made an extractor")
        assert len(memory.retrieve(QUESTION, k=2)) == 2
        assert len(memory.retrieve(QUESTION, k=2, method="dense")) == 2


def test_the_source_is_remembered_and_checked(tmp_path) -> None:
    with open_memory(tmp_path / "kb", settings=Settings(query_entity_source="names")) as memory:
        memory.index(list(TRIPLES))
    with open_memory(tmp_path / "kb", mode="r") as memory:
        assert memory.settings.query_entity_source == "names"
    with pytest.raises(hippograph.ConfigurationError, match="query_entity_source"):
        Settings(query_entity_source="guess")
