"""Spelling: a word that the corpus does not hold is read as the nearest that it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....pipeline.lexical.analyzer import fold, query_terms
from ....pipeline.settings.search import Spelling
from ..model import Expansion, Query
from .fuzzy import Words, auto_edits

_PUNCTUATION = ".,;:!?()[]{}'\"’`*"
_CODE = re.compile(r"`|_|\w\(|[a-z0-9][A-Z]")
# Each costs some milliseconds; what is longer was not typed by a person.
_MAX_WORDS = 64


@dataclass(frozen=True, slots=True)
class Written:
    """The words of a corpus as they are written, and how often each is."""

    words: Words
    counts: Mapping[str, int]


def written_words(counts: Mapping[str, int]) -> Written:
    """The words that are counted, to find those that are written alike."""
    return Written(Words(counts), counts)


def with_spelling(
    query: Query,
    known: Callable[[str], bool],
    written: Callable[[], Written],
    languages: Sequence[str],
    settings: Spelling,
) -> Query:
    """The query with an expansion for every unknown word that is written almost like one of the corpus.

    ``known`` says whether the index holds a term; ``written`` is asked for only when one is unknown. Identifiers,
    numbers and short words are never corrected. Of the nearest words the commonest is taken, then the first by name.
    """
    found = []
    prose = (each for each in query.text.split()[:_MAX_WORDS] if not _CODE.search(each))
    for word in dict.fromkeys(fold(each).strip(_PUNCTUATION) for each in prose):
        if len(word) < settings.min_chars or any(map(known, query_terms(word, languages))):
            continue
        near = written().words.near(word, min(settings.max_edits, auto_edits(word)), limit=None)
        if near:
            best = min(near, key=lambda each: (each.edits, -written().counts[each.word], each.word)).word
            terms = tuple(query_terms(best, languages))
            found.append(Expansion(best, terms, settings.weight, f"spelling of {word!r}"))
    return replace(query, expansions=(*query.expansions, *found))
