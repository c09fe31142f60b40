"""Which phrases of a question name the things it starts from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hippograph.backends.plain_mentions import any_script_mentions, other_script_mentions
from hippograph.backends.spacy_phrases import (
    find_phrases,
    phrase_key,
    strong_phrases,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

#: Nouns that say what kind of answer is wanted; a phrase of these alone names nothing.
_ANSWER_KINDS = frozenset(
    """
    actor actress age album amount area artist author band birth birthday birthplace body book
    capital case cause character child children city company composer continent count country
    county creator date day death director district example fact father film founder genre group
    husband job kind language leader location man member men month mother movie name nationality
    number occupation one organization owner part people percentage performer period person
    place population position president producer profession reason region role singer sibling
    son song sort spouse state team thing time title town type use way wife woman women word
    writer year last first next same main current
    """.split()  # noqa: SIM905 - a hundred quoted words are harder to read
)
#: Small words that hold a name together ("Siege of Cassel"), and those that may as well stand
#: between two names ("Death in Venice", but also "Apple in Ireland").
_BINDING_WORDS = frozenset({"of", "the", "a", "an", "for", "with"})
_LOOSE_WORDS = frozenset({"in", "to", "on", "at", "by", "from"})
_MAX_JOINING_WORDS = 2
_QUESTION_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
_QUOTED = re.compile(r"""["“”«»„]([^"“”«»„]{2,120})["“”«»„]|《([^》]{1,60})》|「([^」]{1,60})」""")


def choose_query_entities(doc: Doc) -> tuple[str, ...]:
    """Return the phrases of a parsed question that a graph should be entered at, in order."""
    titles = _distinct(_quoted_titles(doc.text) + _title_runs(doc, _BINDING_WORDS))
    names = [phrase.text for phrase in strong_phrases(find_phrases(doc))]
    names += other_script_mentions(doc.text)
    names = [name for name in names if not _is_part_of_any(name, titles)]
    perhaps = _title_runs(doc, _BINDING_WORDS | _LOOSE_WORDS)
    chosen = _distinct(titles + names + perhaps)
    specific = [name for name in chosen if not _is_answer_kind(name)]
    return tuple(specific or chosen or any_script_mentions(doc.text))


def _quoted_titles(text: str) -> list[str]:
    found = ("".join(match.groups("")).strip() for match in _QUOTED.finditer(text))
    return [title for title in found if phrase_key(title)]


def _title_runs(doc: Doc, joining_words: frozenset[str]) -> list[str]:
    """Return capitalised runs that small words hold together; the parser cuts them into pieces."""
    runs, start = [], 0
    while start < len(doc):
        end, is_joined = start, False
        if _can_begin_name(doc[start]):
            end, is_joined = _end_of_run(doc, start, joining_words)
        if is_joined:
            runs.append(" ".join(doc[start:end].text.split()))
        start = max(end, start + 1)
    return runs


def _end_of_run(doc: Doc, start: int, joining_words: frozenset[str]) -> tuple[int, bool]:
    """Return the end of the run of names at `start`, and whether small words join it."""
    end, is_joined = start + 1, False
    while True:
        name = end
        while name < min(len(doc), end + _MAX_JOINING_WORDS) and doc[name].text in joining_words:
            name += 1
        if name >= len(doc) or not _continues_name(doc[name]):
            return end, is_joined
        is_joined = is_joined or name > end
        end = name + 1


def _can_begin_name(token: Token) -> bool:
    """True for a capitalised word, unless a question or a sentence merely begins with it."""
    is_question_word = token.tag_ in _QUESTION_TAGS
    return (
        token.text[0].isupper()
        and not is_question_word
        and (token.pos_ == "PROPN" or not token.is_sent_start)
    )


def _continues_name(token: Token) -> bool:
    return bool(token.text[0].isupper() or token.text[0].isdigit())


def _is_answer_kind(name: str) -> bool:
    return name == name.lower() and all(
        word in _ANSWER_KINDS or word.removesuffix("s") in _ANSWER_KINDS
        for word in phrase_key(name).split()
    )


def _is_part_of_any(name: str, titles: list[str]) -> bool:
    key = f" {phrase_key(name)} "
    return any(key in f" {phrase_key(title)} " for title in titles)


def _distinct(names: list[str]) -> list[str]:
    return list({phrase_key(name): name for name in reversed(names)}.values())[::-1]
