"""Synonyms of the query's words: from a glossary, and from acronyms that the collection spells out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ....pipeline.errors import SettingsError
from ....pipeline.lexical.analyzer import query_terms
from ....pipeline.settings.search import Acronyms, Synonyms
from ..index.vocabulary import AcronymTable, folded_words
from ..model import Expansion, Query

_MAX_GLOSSARY_BYTES = 5_000_000
_MAX_WORDS = 6
# In lower case these are words, whatever a collection calls WHO or AND; and so are all of two letters.
_FUNCTION_WORDS = frozenset(
    ("and", "any", "are", "but", "can", "did", "does", "for", "from", "had", "has", "have", "how", "its",
     "may", "not", "off", "our", "out", "over", "she", "than", "that", "the", "then", "they", "this", "use",
     "was", "who", "why", "will", "with", "you", "your")
)  # fmt: skip
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")

Glossary = Mapping[str, Sequence[str]]


def with_acronyms(query: Query, table: AcronymTable, languages: Sequence[str], settings: Acronyms) -> Query:
    """Expand the query by the long form of its acronyms, and by the acronyms of its long forms."""
    found = []
    typed = _WORD.findall(query.text)
    plain = {word for word in typed if word.islower() and (len(word) < 3 or word in _FUNCTION_WORDS)}
    for words in _runs(query.text):
        other = None if words in plain else table.long_of.get(words)
        other = other or table.short_of.get(words)
        if other is not None:
            found.append(_expansion(other, query, languages, settings.weight, f"acronym of {words!r}"))
    return _with(query, found)


def read_glossary(path: Path) -> Glossary:
    """Read synonyms by folded term from a TOML file of ``term = ["synonym", …]``; raise ``SettingsError``."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_GLOSSARY_BYTES + 1)
    except OSError as error:
        raise _refused(f"cannot read the glossary: {error.strerror}", path) from None
    if len(content) > _MAX_GLOSSARY_BYTES:
        raise _refused("the glossary is over 5 MB", path)
    try:
        given = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refused(f"the glossary is not a TOML file: {error}", path) from None
    for term, synonyms in given.items():
        if not isinstance(synonyms, list) or not all(isinstance(each, str) for each in synonyms):
            raise _refused(f"{term!r} is not followed by a list of synonyms", path)
    return {" ".join(folded_words(term)): tuple(synonyms) for term, synonyms in given.items()}


def with_synonyms(query: Query, glossary: Glossary, languages: Sequence[str], settings: Synonyms) -> Query:
    """Expand the query by the synonyms of its terms, eight at most by default.

    For keywords each counts at its weight. The vector is the average of the query and its variants with a
    synonym in place of the term.
    """
    pairs = [(words, synonym) for words in _runs(query.text) for synonym in glossary.get(words, ())]
    pairs = list(dict.fromkeys(pairs))[: settings.max_terms]
    weight = settings.weight
    found = [_expansion(synonym, query, languages, weight, f"synonym of {run!r}") for run, synonym in pairs]
    variants = tuple((_replaced(query.text, words, synonym), 1.0) for words, synonym in pairs)
    return replace(_with(query, found), nearby=(*query.nearby, *variants))


def _with(query: Query, found: Sequence[Expansion]) -> Query:
    told = dict.fromkeys(each for each in found if each.terms)
    return replace(query, expansions=(*query.expansions, *told))


def _expansion(text: str, query: Query, languages: Sequence[str], weight: float, because: str) -> Expansion:
    terms = tuple(term for term in query_terms(text, languages) if term not in query.terms)
    return Expansion(text, terms, weight, because)


def _runs(text: str) -> list[str]:
    """Return every run of one to six words of the text, folded, longer runs first."""
    words = folded_words(text)[:100]
    return [
        " ".join(words[at : at + length])
        for length in range(min(_MAX_WORDS, len(words)), 0, -1)
        for at in range(len(words) - length + 1)
    ]


def _replaced(text: str, words: str, synonym: str) -> str:
    pattern = r"\W+".join(re.escape(word) for word in words.split())
    return re.sub(rf"\b{pattern}\b", lambda _: synonym, text, count=1, flags=re.IGNORECASE)


def _refused(what: str, path: Path) -> SettingsError:
    return SettingsError(what, where=str(path), hint='Write it as: term = ["synonym", "another"]')
