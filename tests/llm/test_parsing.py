"""Replies of every broken kind; for any text at most the one documented error, in linear time."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippograph.prompts.lenient_json import Array, Object, descendants, read_lenient_json
from hippograph.prompts.parsing import (
    MAX_PHRASE_CHARS,
    ParsedEntities,
    ParsedTriples,
    UnusableReplyError,
    parse_entities,
    parse_triples,
)
from hippograph.types import Triple

ABC, DEF = Triple("a", "b", "c"), Triple("d", "e", "f")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"named_entities": ["A", "B"]}', ("A", "B")),
        ('["A", "B"]', ("A", "B")),
        ('{"entities": ["A"]}', ("A",)),
        ('{"Named_Entities": ["A"]}', ("A",)),
        ('{"NAMED ENTITIES": ["A"]}', ("A",)),
        ('{"named_entities": ["A", null, "B", 7, true, NaN, ""]}', ("A", "B")),
        ('```json\n{"named_entities": ["A"]}\n```', ("A",)),
        ('Sure [as asked], here it is:\n{"named_entities": ["A"]}\nAnything else?', ("A",)),
        ('{"named_entities": [{"name": "A", "type": "person"}, {"text": "B"}]}', ("A", "B")),
        ('{"named_entities": {"person": ["A"], "place": ["B", "C"]}}', ("A", "B", "C")),
        ('{"named_entities": {"A": "person", "B": "place"}}', ("A", "B")),
        ('{"result": {"answer": {"named_entities": ["A"]}}}', ("A",)),
        ("{'named_entities': ['O'Neil', \"B\", None]}", ("O'Neil", "B")),
        ("{named_entities: ['A']}", ("A",)),
        ('{"named_entities": ("A", "B")}', ("A", "B")),
        ('{"named_entities": ["A" "B" "C",]}', ("A", "B", "C")),
        ('{"named_entities": ["the "Big" one", "B"]}', ('the "Big" one', "B")),
        ("{“named_entities”: [“A”]}", ("A",)),
        ('"{\\"named_entities\\": [\\"A\\"]}"', ("A",)),
        ('<think>{"named_entities": ["no"]}</think>{"named_entities": ["A"]}', ("A",)),
        ('{"named_entities": ["A\\u00e9", "\\ud83d\\ude00", "x\\ud800"]}', ("Aé", "😀", "x�")),
        ('{"named_entities": ["  A \\n B ", "A B", "\\u0000C"]}', ("A B", "C")),
        ('{"named_entities": []}', ()),
        ('{"named_entities": null}', ()),
        ("[]", ()),
    ],
)
def test_entities_are_found(reply: str, expected: tuple[str, ...]) -> None:
    assert parse_entities(reply) == ParsedEntities(entities=expected)


def test_a_cut_list_of_entities_keeps_the_complete_ones() -> None:
    assert parse_entities('{"named_entities": ["A", "B", "Cle') == ParsedEntities(
        entities=("A", "B"), truncated=True
    )


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "{}",
        '{"named_entities": ',
        '{"named_entities": "',
        '{"named_entities": [1, 2]}',
        "[several] names",
        '"just a string"',
        '["' + "x" * (MAX_PHRASE_CHARS + 1) + '"]',
    ],
)
def test_replies_without_entities_are_refused(reply: str) -> None:
    with pytest.raises(UnusableReplyError, match="no list of named entities"):
        parse_entities(reply)


def test_python_in_a_reply_is_text() -> None:
    reply = '{"named_entities": [__import__("os").getcwd(), "A"]}'
    assert "A" in parse_entities(reply).entities
    assert not any("/" in entity for entity in parse_entities(reply).entities)


@pytest.mark.parametrize(
    ("reply", "triples", "malformed"),
    [
        ('{"triples": [["a","b","c"], ["d","e","f"]]}', (ABC, DEF), 0),
        ('{"Triplets": [["a","b","c"]]}', (ABC,), 0),
        ('[["a","b","c"], ["d","e","f"]]', (ABC, DEF), 0),
        ('{"triples": [["a","b","c"] ["d","e","f"]]}', (ABC, DEF), 0),
        ('{"triples": [{"subject":"a","predicate":"b","object":"c"}]}', (ABC,), 0),
        ('{"triples": [{"Tail":"c","Relation":"b","Head":"a"}]}', (ABC,), 0),
        ('{"triples": [{"triple": ["a","b","c"]}]}', (ABC,), 0),
        ('{"triples": [[["a","b","c"], ["d","e","f"]]]}', (ABC, DEF), 0),
        ('{"a": [["a","b","c"]], "d": [["d","e","f"]]}', (ABC, DEF), 0),
        ('{"triples": [["a","b","c"]], "triples": [["d","e","f"]]}', (ABC, DEF), 0),
        ('["a","b","c"]\n["d","e","f"]', (ABC, DEF), 0),
        ('{"subject":"a","predicate":"b","object":"c"}', (ABC,), 0),
        ('{"triples": [["a","b","c"}, ["d","e","f"]]}', (ABC, DEF), 0),
        ('{"triples": [("a","b","c")]}', (ABC,), 0),
        ('{"triples": [["a","b","c"], "abc", "d e f"]}', (ABC,), 2),
        ('{"triples": [["a","b"], ["a","b","c","d"], ["a","b","c"]]}', (ABC,), 2),
        ('{"triples": [["a","b",null], ["a","","c"], ["a",NaN,"c"], ["a","b","c"]]}', (ABC,), 3),
        ('{"triples": [["a","b",["c"]], ["a","b","c"]]}', (ABC,), 3),
        ('{"triples": [{"x":"a","y":"b"}, ["a","b","c"]]}', (ABC,), 1),
        ('{"triples": [["a","b",1969]]}', (Triple("a", "b", "1969"),), 0),
        ('{"triples": [[1,2,3], ["a","b","c"]]}', (ABC,), 1),
        ('{"triples": [["a", "say "x" so", "c"]]}', (Triple("a", 'say "x" so', "c"),), 0),
        ('{"triples": []}', (), 0),
        ("[]", (), 0),
    ],
)  # fmt: skip
def test_triples_are_found(reply: str, triples: tuple[Triple, ...], malformed: int) -> None:
    assert parse_triples(reply) == ParsedTriples(triples=triples, malformed=malformed)


@pytest.mark.parametrize("cut", ['["d","e","f', '["d","e","f"', '["d","e', "[", '{"subject":"d"'])
def test_an_unfinished_triple_is_dropped_but_not_called_malformed(cut: str) -> None:
    assert parse_triples('{"triples": [["a","b","c"], ' + cut) == ParsedTriples(
        triples=(ABC,), truncated=True
    )


@pytest.mark.parametrize(
    "reply",
    ["", "none", "{}", '{"triples": "abc"}', '{"triples": ["abc"]}', '{"triples": [["a",', "[1]"],
)  # fmt: skip
def test_replies_without_triples_are_refused(reply: str) -> None:
    with pytest.raises(UnusableReplyError, match="no list of triples"):
        parse_triples(reply)


def test_an_error_shows_only_the_beginning_of_a_reply() -> None:
    with pytest.raises(UnusableReplyError) as caught:
        parse_triples("word " * 10_000)
    assert len(str(caught.value)) < 300


BOMBS = {
    "brackets": "[" * 400_000,
    "objects": '{"a":' * 80_000,
    "unclosed groups": "{" * 16 + "x" * 400_000,
    "quotation marks": "[" + '"' * 400_000,
    "strings without commas": '["a" ' * 80_000,
    "escapes": '["\\' * 130_000,
    "apostrophes": "['a " * 100_000,
    "mixed quotes": "[{\"a':" * 66_000,
    "inner quotes": '["' + 'a" b ' * 80_000,
    "white space": '["a"' + " " * 400_000,
    "quote and space": '["a' + '" ' * 200_000,
    "parentheses": "[(" * 200_000,
    "pairs": "[]" * 200_000,
    "text": "a megabyte of words " * 50_000,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("parse", [parse_entities, parse_triples])
def test_time_is_linear(parse, bomb: str) -> None:
    def seconds(text: str) -> float:
        start = time.perf_counter()
        with contextlib.suppress(UnusableReplyError):
            parse(text)
        return time.perf_counter() - start

    # Quadratic work on the whole would take minutes; the bound leaves room for a busy machine.
    assert seconds(bomb) < 10.0


@given(st.text(alphabet=st.sampled_from(list("[]{}():,\"'\\“” \nabn1uN€\ud800\0")), max_size=80))
@settings(max_examples=600)
def test_any_text_gives_a_result_or_the_one_error(text: str) -> None:
    for parse in (parse_entities, parse_triples):
        with contextlib.suppress(UnusableReplyError):
            result = parse(text)
            assert isinstance(result, (ParsedEntities, ParsedTriples))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_read_without_an_error_of_its_own(value: object) -> None:
    for document in (value, {"triples": value, "named_entities": value}):
        for parse in (parse_entities, parse_triples):
            try:
                parse(json.dumps(document))
            except UnusableReplyError:
                continue


@given(json_values.filter(lambda value: isinstance(value, (list, dict))))
def test_valid_json_is_read_as_json_is(value: object) -> None:
    (root,) = read_lenient_json(json.dumps(value)).roots
    for container in descendants(root):
        assert container.complete
    assert _strings(root) == _json_strings(value)


def _strings(value: object) -> list[str]:
    if isinstance(value, Array):
        return [s for item in value.items for s in _strings(item)]
    if isinstance(value, Object):
        return [s for key, item in value.members for s in (key or "", *_strings(item))]
    return [value] if isinstance(value, str) else []


def _json_strings(value: object) -> list[str]:
    if isinstance(value, list):
        return [s for item in value for s in _json_strings(item)]
    if isinstance(value, dict):
        return [s for key, item in value.items() for s in (key, *_json_strings(item))]
    return [value] if isinstance(value, str) else []


phrases = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12
).map(lambda text: " ".join(text.split())).filter(bool)  # fmt: skip
triple_lists = st.lists(st.tuples(phrases, phrases, phrases), min_size=1, max_size=6)


@given(triple_lists, st.booleans(), st.booleans(), st.data())
def test_every_triple_complete_at_a_cut_survives(
    items: list[tuple[str, str, str]], ascii_only: bool, indent: bool, data: st.DataObject
) -> None:
    reply = json.dumps({"triples": items}, ensure_ascii=ascii_only, indent=2 if indent else None)
    cut = data.draw(st.integers(0, len(reply)))
    complete = _complete_before(reply, cut, len(items))
    expected = tuple(Triple(*item) for item in items[:complete])
    try:
        parsed = parse_triples(reply[:cut])
    except UnusableReplyError:
        assert not expected
        return
    assert parsed.triples == expected
    assert parsed.malformed == 0
    assert parsed.truncated == (cut < len(reply))


def _complete_before(reply: str, cut: int, count: int) -> int:
    """Number of inner arrays that end before `cut`, by a strict decoder."""
    decoder = json.JSONDecoder()
    at = reply.index("[") + 1
    for done in range(count):
        start = reply.index("[", at)
        _, at = decoder.raw_decode(reply, start)
        if at > cut:
            return done
    return count


@given(
    triple_lists,
    st.sampled_from(["```json\n{}\n```", "Here: {}", "{}\nDone, it's all.", "\ufeff{}"]),
)
def test_text_around_the_reply_changes_nothing(
    items: list[tuple[str, str, str]], frame: str
) -> None:
    reply = frame.replace("{}", json.dumps({"triples": items}))
    assert parse_triples(reply).triples == tuple(Triple(*item) for item in items)
