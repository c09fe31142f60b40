"""Extraction by the small English model: what is found, and that no text breaks it."""

from __future__ import annotations

import importlib.util

import pytest

from hippograph.backends.offline_extractor import OfflineExtractor
from hippograph.errors import MissingExtraError
from hippograph.types import Extraction, Passage, Triple

pytest.importorskip("spacy", reason="needs the extra hippograph[offline]")

CURIE = (
    "Marie Curie, a Polish physicist, was born in Warsaw and discovered radium and polonium. "
    "She worked at the University of Paris with her husband Pierre Curie."
)


@pytest.fixture(scope="module")
def extractor() -> OfflineExtractor:
    return OfflineExtractor()


def extract(extractor: OfflineExtractor, text: str, title: str = "") -> Extraction:
    (outcome,) = extractor.extract([Passage(text=text, title=title)])
    assert outcome.error is None
    assert outcome.extraction is not None
    return outcome.extraction


def tails(extraction: Extraction, head: str) -> set[str]:
    return {triple.tail for triple in extraction.triples if triple.head == head}


def test_title_is_tied_to_every_mention(extractor: OfflineExtractor) -> None:
    found = extract(extractor, CURIE, "Marie Curie (scientist)")
    assert {"Warsaw", "University of Paris", "Marie Curie", "Pierre Curie"} <= tails(
        found, "Marie Curie (scientist)"
    )
    assert set(found.entities) >= {"Marie Curie (scientist)", "Warsaw", "Polish physicist"}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Ada Lovelace wrote the first program.", Triple("Ada Lovelace", "wrote", "first program")),
        # Passive, agent, prepositional object, conjuncts on either side, apposition, pronoun.
        (CURIE, Triple("Marie Curie", "was born in", "Warsaw")),
        (CURIE, Triple("Marie Curie", "is", "Polish physicist")),
        ("Dune was directed by Denis Villeneuve.",
         Triple("Dune", "was directed by", "Denis Villeneuve")),
        ("Paris is the capital of France.", Triple("Paris", "is capital of", "France")),
        ("Lennon and McCartney wrote Help.", Triple("McCartney", "wrote", "Help")),
        ("Ravel admired Mozart and Debussy.", Triple("Ravel", "admired", "Debussy")),
        ("Google acquired YouTube, which was founded by Chad Hurley.",
         Triple("YouTube", "was founded by", "Chad Hurley")),
    ],
)  # fmt: skip
def test_facts_of_the_parse(extractor: OfflineExtractor, text: str, fact: Triple) -> None:
    assert fact in extract(extractor, text).triples


def test_pronoun_subject_stands_for_the_topic(extractor: OfflineExtractor) -> None:
    found = extract(extractor, "He moved to Berlin in 1914.", "Albert Einstein")
    assert Triple("Albert Einstein", "moved to", "Berlin") in found.triples


def test_adjacent_mentions_are_not_tied(extractor: OfflineExtractor) -> None:
    found = extract(extractor, "Exhibits from Rome, Oslo, Lima and Cairo were shown.", "Big Fair")
    places = {"Rome", "Oslo", "Lima", "Cairo"}
    assert places <= tails(found, "Big Fair")
    assert not [t for t in found.triples if t.head in places and t.tail in places]


def test_one_triple_per_mention_and_none_to_itself(extractor: OfflineExtractor) -> None:
    found = extract(
        extractor, "Oslo is in Norway. OSLO lies on the Oslofjord. Oslo is old.", "Oslo"
    )
    star = [triple.tail.casefold() for triple in found.triples if triple.head == "Oslo"]
    assert len(star) == len(set(star))
    assert all(t.head.casefold() != t.tail.casefold() for t in found.triples)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("old bridge", "The old bridge crosses the River Dee."),
        ("France", "He saw France's capital and its towers."),
        ("Nobel Prize", "She won the “Nobel Prize”."),
    ],
)
def test_phrases_are_cut_to_what_names(extractor: OfflineExtractor, phrase: str, text: str) -> None:
    assert phrase in extract(extractor, text, "Some title").entities


def test_quantities_and_pronouns_are_not_phrases(extractor: OfflineExtractor) -> None:
    found = extract(
        extractor, "It sold 300 copies for $20 and 15 percent of Atari owned it.", "Pong"
    )
    assert "Atari" in found.entities
    assert not {"It", "it", "300", "$20", "15", "15 percent"} & set(found.entities)


def test_common_nouns_count_only_where_nothing_better_is(extractor: OfflineExtractor) -> None:
    assert "film" not in extract(extractor, "Jaws is a film by Steven Spielberg.", "Jaws").entities
    assert {"cat", "mat"} <= set(extract(extractor, "The cat sat on the mat.").entities)


def test_untitled_passage_is_about_its_first_subject(extractor: OfflineExtractor) -> None:
    found = extract(extractor, "In 1865 Gregor Mendel crossed peas. Brno was his home.")
    assert found.triples[0].head == "Gregor Mendel"
    assert "Brno" in tails(found, "Gregor Mendel")


def test_untitled_passage_without_subject_is_about_its_commonest_phrase(
    extractor: OfflineExtractor,
) -> None:
    found = extract(extractor, "Welcome to Oslo! To Bergen from Oslo. Back to Oslo.")
    assert found.triples[0].head == "Oslo"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("北京", "北京是中国的首都，位于华北平原。", {"中国", "首都", "华北平原"}),
        ("القاهرة", "القاهرة هي عاصمة جمهورية مصر العربية.", {"عاصمة", "جمهورية", "مصر"}),
        ("Москва", "Город Москва стоит на реке Москва в России.", {"России"}),
        ("", "Der Dom in Köln wurde 1880 vollendet.", {"Köln"}),
        ("Beijing", "Beijing (北京) is the capital of China.", {"北京", "China"}),
        ("", "🎉🎉 🚀", {"🎉🎉", "🚀"}),
    ],
)
def test_other_languages(
    extractor: OfflineExtractor, title: str, text: str, expected: set[str]
) -> None:
    found = extract(extractor, text, title)
    assert expected <= set(found.entities)
    assert found.triples


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\0", "\ud800", "a\0b \udfff c", "?!...", "\u200b", "'s", "(((", "a" * 30_000],
)
@pytest.mark.parametrize("title", ["", "A \0 title \ud83d"])
def test_odd_text_breaks_nothing(extractor: OfflineExtractor, text: str, title: str) -> None:
    found = extract(extractor, text, title)
    for part in (
        *found.entities,
        *(p for t in found.triples for p in (t.head, t.relation, t.tail)),
    ):
        part.encode("utf-8")
        assert "\0" not in part
        assert part.strip()


def test_long_passage_is_read_to_its_end(extractor: OfflineExtractor) -> None:
    filler = "The river flows past quiet fields. " * 1_720
    found = extract(extractor, f"{filler}At last it reaches Nijmegen.", "Waal")
    assert len(filler) > 60_000
    assert "Nijmegen" in tails(found, "Waal")


def test_outcomes_keep_order_and_do_not_depend_on_the_batch(extractor: OfflineExtractor) -> None:
    passages = [
        Passage(text=f"Agent {i} met Anna Karlsson in Oslo.", title=f"Case {i}") for i in range(70)
    ]
    together = list(extractor.extract(passages))
    assert [outcome.index for outcome in together] == list(range(70))
    alone = [next(extractor.extract([passage])).extraction for passage in passages]
    assert [outcome.extraction for outcome in together] == alone


def test_extraction_streams(extractor: OfflineExtractor) -> None:
    class Counted(list[Passage]):
        taken = 0

        def __getitem__(self, key):  # type: ignore[no-untyped-def]
            items = super().__getitem__(key)
            Counted.taken += len(items)
            return items

    stream = extractor.extract(Counted([Passage(text="Oslo is old.")] * 200))
    next(stream)
    assert 0 < Counted.taken < 200


def test_a_failing_passage_is_reported_and_the_rest_proceed(
    extractor: OfflineExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hippograph.backends.offline_extractor as module

    real = module.extraction_of

    def failing(title, docs):  # type: ignore[no-untyped-def]
        if title == "bad":
            raise ValueError("odd text")
        return real(title, docs)

    monkeypatch.setattr(module, "extraction_of", failing)
    titles = ["a", "bad", "c"]
    outcomes = list(extractor.extract([Passage(text="Oslo is old.", title=t) for t in titles]))
    assert [outcome.index for outcome in outcomes] == [0, 1, 2]
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert "odd text" in str(outcomes[1].error)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Which Stanford professor works on the neuroscience of Alzheimer's?", {"Alzheimer"}),
        ('Who directed the song "Thinking Out Loud" video?', {"Thinking Out Loud"}),
        ("What body of water is near the Siege of Cassel?", {"Siege of Cassel"}),
        ("Who is the producer of Songs I Wrote with Amy?", {"Songs I Wrote with Amy"}),
        ("What is the name of the river in Akinoshu Kenji's birthplace?", {"Akinoshu Kenji"}),
        ("What do church courts do?", {"church courts"}),
        ("Where does Death in Venice play?", {"Death in Venice", "Venice"}),
        ("谁写了《红楼梦》？", {"红楼梦"}),
    ],
)
def test_query_entities(extractor: OfflineExtractor, query: str, expected: set[str]) -> None:
    (found,) = extractor.query_entities([query])
    assert expected <= set(found)
    assert not {"name", "What", "Who", "river", "birthplace", "Cassel", "Amy"} & set(found)


def test_query_of_generic_nouns_still_has_entities(extractor: OfflineExtractor) -> None:
    assert extractor.query_entities(["What is the name of the place?"]) == [("place",)]


def test_queries_keep_their_order_and_may_be_empty(extractor: OfflineExtractor) -> None:
    found = extractor.query_entities(["Where is Oslo?", "", "\ud800\0", "Where is Lima?"])
    assert len(found) == 4
    assert found[0] == ("Oslo",)
    assert found[1] == ()
    assert found[3] == ("Lima",)
    assert extractor.query_entities([]) == []
    (long,) = extractor.query_entities(["Where is Oslo? " + "x " * 1_000_000])
    assert "Oslo" in long


def test_name_says_model_and_rules_and_nothing_is_spent(extractor: OfflineExtractor) -> None:
    assert extractor.name.startswith("offline:en_core_web_sm-3.")
    assert extractor.usage.requests == 0


def test_missing_model_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"hippograph\[offline\]"):
        OfflineExtractor()
