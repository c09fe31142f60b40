"""Names of graph nodes inside a question: its entities, found without any model.

The longest names that stand in the question as whole words are taken (`kernels.NameIndex.match`).
A graph also has nodes such as "city" or "the song", which are no entities where they stand in a
question as common words. So a name counts when it has two words that carry meaning, or one that the
question does not write in small letters. Where a question has no capital letter past its first
word, or its script has none, its writing says nothing, and one word is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hippograph import kernels
from hippograph.config import Normalizer
from hippograph.graph import KnowledgeGraph, NodeNames, normalize_phrase

#: English words without a meaning of their own; those of other languages are told by their small
#: letters. Words that are also names in capitals (US, May, Will) are not among them.
_ENGLISH = """
a about above across after again against all along also always am among an and another any anyone
anything are around as at be been before being below between both but by could did do does doing
done down during each either else ever every everyone everything few for from further had has have
having he hence her here hers herself him himself his how i if in into is it its itself just least
less many me more most much must my myself neither never no nobody none nor not nothing of off often
on once one ones only onto or other others our ours out over own same shall she should since so some
someone something such than that the their theirs them themselves then there these they this those
through thus to too under until up upon very was we were what when where whether which while who
whom whose why with within without would yet you your yours yourself
"""
FUNCTION_WORDS = frozenset(_ENGLISH.split())

#: Whole questions seldom come twice: not kept in the cache of phrases.
_normalize = normalize_phrase.__wrapped__


def match_entities(
    queries: Sequence[str], graph: KnowledgeGraph, *, normalizer: Normalizer
) -> list[tuple[str, ...]]:
    """Return, for each query, the names of nodes that it mentions, in its order, each once.

    A query that mentions none gets an empty tuple. Takes some tens of microseconds a query, for any
    size of the graph.
    """
    names, ignored = graph.names.lookup, _function_words()
    return [_mentioned(query, names, ignored, normalizer) for query in queries]


def _mentioned(
    query: str, names: kernels.NameIndex, ignored: kernels.NameIndex, normalizer: Normalizer
) -> tuple[str, ...]:
    text = _normalize(query, normalizer).encode("utf-8", "replace")
    found = names.match(text.decode("utf-8"), ignored=ignored)
    if not found:
        return ()
    common = _common_words(query, normalizer)
    mentioned = (text[match.begin : match.end].decode("utf-8", "replace") for match in found)
    return tuple(dict.fromkeys(name for name in mentioned if _says_enough(name, common)))


def _says_enough(name: str, common: frozenset[str]) -> bool:
    words = [word for word in name.split() if word not in FUNCTION_WORDS]
    return len(words) > 1 or any(word not in common for word in words)


def _common_words(query: str, normalizer: Normalizer) -> frozenset[str]:
    """Return the words written in small letters only, if the query writes others otherwise."""
    words = query.split()
    capitalised = [word for word in words[1:] if word != word.lower()]
    if not capitalised:
        return frozenset()
    small = [word for word in words if word.islower()]
    return _normalized_words(small, normalizer) - _normalized_words(capitalised, normalizer)


def _normalized_words(words: Sequence[str], normalizer: Normalizer) -> frozenset[str]:
    return frozenset(_normalize(" ".join(words), normalizer).split())


@lru_cache(maxsize=1)
def _function_words() -> kernels.NameIndex:
    words = NodeNames.from_names(sorted(FUNCTION_WORDS))
    return words.lookup
