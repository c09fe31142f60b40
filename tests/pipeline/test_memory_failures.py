"""Bad input, refusals and failures of parts: each said in words, the rest goes on."""

from __future__ import annotations

import pytest

import hippograph
from hippograph import Passage, Settings
from tests.fakes import HashEncoder, ScriptedExtractor
from tests.pipeline.scripted import (
    OTHER,
    QUESTION,
    STANFORD,
    THOMAS,
    TRIPLES,
    open_memory,
)


def test_failed_extractions_are_reported_and_tried_again(tmp_path) -> None:
    path = tmp_path / "kb"
    failing = ScriptedExtractor(TRIPLES, fail={STANFORD: "reply was not JSON"})
    with open_memory(path, extractor=failing) as memory:
        report = memory.index([THOMAS, STANFORD])
        assert [failure.reason for failure in report.failed] == ["reply was not JSON"]
        assert memory.stats().num_failed == 1
        assert len(memory.retrieve(THOMAS, k=5, method="dense")) == 2  # stored all the same
    with open_memory(path) as memory:
        report = memory.index([])
        assert (report.extracted, report.failed) == (1, ())
        assert memory.retrieve(QUESTION, k=1, query_entities=["Stanford"])[0].text == STANFORD


def test_a_reached_budget_stops_cleanly(tmp_path) -> None:
    error = hippograph.BudgetExceededError("budget of 100 tokens reached")
    extractor = ScriptedExtractor(TRIPLES, raise_after=(1, error))
    with open_memory(tmp_path / "kb", extractor=extractor) as memory:
        report = memory.index([THOMAS, STANFORD])
        assert report.stopped == "budget of 100 tokens reached"
        assert (report.extracted, report.usage.requests) == (1, 1)
        assert memory.retrieve(QUESTION, k=1, query_entities=["synapses"])[0].text == THOMAS


def test_a_refused_key_is_raised_after_storing(tmp_path) -> None:
    error = hippograph.AuthenticationError("the server refused the key")
    extractor = ScriptedExtractor(TRIPLES, raise_after=(1, error))
    with open_memory(tmp_path / "kb", extractor=extractor) as memory:
        with pytest.raises(hippograph.AuthenticationError):
            memory.index([THOMAS, STANFORD])
        assert memory.stats().num_extracted == 1


def test_another_encoder_is_refused(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index([THOMAS])
    for role in ("phrase_encoder", "passage_encoder"):
        with pytest.raises(hippograph.EncoderMismatchError, match="fake:other"):
            open_memory(tmp_path / "kb", **{role: HashEncoder("fake:other")})


def test_settings_that_shaped_the_data_are_refused(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index([THOMAS])
    with pytest.raises(hippograph.ConfigurationError, match="normalizer='unicode'"):
        open_memory(tmp_path / "kb", settings=Settings(normalizer="ascii"))


def test_bad_passages_are_reported_and_the_rest_proceed(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        report = memory.index(
            ["", " \n", "\u200b\ufeff\x00", 7, {"text": 3}, {"title": "no text"},
             {"text": "x", "colour": 1},
             Passage(text="x", metadata={"f": {1, 2}}), Passage(text="x", id=""), THOMAS,
             {"text": STANFORD, "title": "T", "metadata": {"a": 1}}]
        )  # fmt: skip
        assert report.added == 2
        assert len(report.rejected) == 9
        assert "text is empty" in report.rejected[0].reason
        assert "text is empty" in report.rejected[2].reason
        assert "colour" in report.rejected[6].reason


def test_same_id_with_other_text_is_reported(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        report = memory.index([Passage(text=THOMAS, id="1"), Passage(text=STANFORD, id="1")])
        assert report.added == 1
        assert report.rejected[0].item == "1"


def test_empty_memory(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        assert len(memory.retrieve(QUESTION)) == 0
        report = memory.index([])
        assert report.num_passages == 0
        result = memory.retrieve(QUESTION)
        assert len(result) == 0
        assert result.trace.fallback_reason == "the memory is empty"
        assert memory.stats().num_nodes == 0


def test_corpus_without_any_fact_goes_dense(tmp_path) -> None:
    with open_memory(tmp_path / "kb", extractor=ScriptedExtractor()) as memory:
        memory.index([THOMAS, STANFORD])
        result = memory.retrieve(THOMAS, k=1, query_entities=["Thomas"])
        assert result[0].text == THOMAS
        assert "no facts" in result.trace.fallback_reason


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_bad_k(memory, k) -> None:
    with pytest.raises(hippograph.InputError, match="k must be an integer of at least 1"):
        memory.retrieve(QUESTION, k=k)


def test_k_larger_than_the_corpus_gives_all(memory) -> None:
    assert len(memory.retrieve(QUESTION, k=1000)) == 4
    assert len(memory.retrieve(QUESTION, k=1000, method="dense")) == 4


@pytest.mark.parametrize("query", ["", "  ", None, 3])
def test_bad_query(memory, query) -> None:
    with pytest.raises(hippograph.InputError, match="query must be a non-empty str"):
        memory.retrieve(query)


def test_unknown_method_lists_what_exists(memory) -> None:
    with pytest.raises(hippograph.ConfigurationError, match="known methods: hipporag, dense"):
        memory.retrieve(QUESTION, method="bm25plus")


@pytest.mark.parametrize("restart", [0.0, -0.1, 1.1, float("nan")])
def test_bad_restart_probability(memory, restart: float) -> None:
    with pytest.raises(hippograph.InputError, match="restart_probability must be above 0"):
        memory.retrieve(QUESTION, restart_probability=restart)


def test_reading_memory_cannot_be_written(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index([THOMAS])
    with (
        open_memory(tmp_path / "kb", mode="r") as memory,
        pytest.raises(hippograph.ReadOnlyError),
    ):
        memory.index([STANFORD])


def test_closed_memory_says_so(tmp_path) -> None:
    memory = open_memory(tmp_path / "kb")
    memory.close()
    memory.close()
    with pytest.raises(hippograph.StoreError, match="is closed"):
        memory.retrieve(QUESTION)


def test_keys_never_reach_the_directory(tmp_path) -> None:
    canary = "sk-canary-0123456789"
    settings = Settings(llm_api_key=canary, embedding_api_key=canary, llm_base_url="http://x/v1")
    with open_memory(tmp_path / "kb", settings=settings) as memory:
        memory.index([THOMAS])
        assert canary not in repr(memory) + repr(memory.settings)
    for path in (tmp_path / "kb").rglob("*"):
        assert path.is_dir() or canary.encode() not in path.read_bytes()


def test_passages_that_wait_for_the_index_are_not_called_an_empty_memory(tmp_path) -> None:
    interrupted = ScriptedExtractor(TRIPLES, raise_after=(0, KeyboardInterrupt()))
    with open_memory(tmp_path / "kb", extractor=interrupted) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.index([THOMAS, OTHER])
        trace = memory.retrieve(QUESTION).trace
    assert trace.method == "none"
    assert "none of the 2 stored passages is indexed yet" in trace.fallback_reason


def test_a_server_of_ones_own_must_be_named_again(tmp_path) -> None:
    """Its address is not stored, and queries must not go to another server, key and all."""
    path = tmp_path / "kb"
    settings = Settings(extractor="openai:m", llm_base_url="http://127.0.0.1:9/v1", llm_api_key="k")
    with open_memory(path, extractor=None, settings=settings) as memory:
        memory.index([THOMAS], extractions=[TRIPLES[THOMAS]])
    with (
        open_memory(path, extractor=None, mode="r") as memory,
        pytest.raises(hippograph.ConfigurationError, match="--llm-base-url"),
    ):
        memory.retrieve(QUESTION)
    for file in path.rglob("*"):
        assert file.is_dir() or b"127.0.0.1" not in file.read_bytes()


def test_damaged_vectors_are_not_used_again(tmp_path) -> None:
    path = tmp_path / "kb"
    with open_memory(path) as memory:
        memory.index([THOMAS])
    (vectors,) = path.rglob("passage_vectors*")
    content = bytearray(vectors.read_bytes())
    content[5] ^= 0x40
    vectors.write_bytes(content)
    with open_memory(path) as memory:
        memory.index([STANFORD])
        assert memory.retrieve(THOMAS, k=1, method="dense")[0].score == pytest.approx(1.0)


def test_an_encoder_that_changes_its_mind_is_refused(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index([THOMAS])
    with (
        open_memory(tmp_path / "kb", phrase_encoder=HashEncoder(dimension=32)) as memory,
        pytest.raises(hippograph.ProviderError, match="vectors of 32 and of 64 numbers"),
    ):
        memory.index([STANFORD])
