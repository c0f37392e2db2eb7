"""Words as people write them, used to complete what is typed, correct its spelling and suggest others.

And the synonyms that a glossary gives for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from ...artifacts.query.understanding.synonyms import Glossary, read_glossary
from ...pipeline.lexical.analyzer import STEMMERS, has_cjk, primary_language, prose_analyzer, without_accents
from ...pipeline.settings.search import Search
from ..library import SnapshotTables
from .files import Files
from .format import NEAR_WORDS, SYNONYMS, WORDS, strings, utf16

_LEAST_COUNT, _LEAST_CHARS = 2, 3
_NEAR = 4
_FILE_BYTES = 4_000
_WORD_BYTES = 3
# What a browser can do by itself: English is stemmed by its own code, and these are not stemmed at all.
_STEMMED_THERE = "en"


@dataclass(frozen=True, slots=True)
class Surfaces:
    """The words of the corpus as written: language, terms they stand for, and how often they occur."""

    words: Sequence[str]
    languages: Sequence[str]
    terms: Sequence[Sequence[str]]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class WordFiles:
    """The names of files of words, and of words near in meaning, with the first letter of each."""

    first: tuple[str, ...]
    words: tuple[str, ...]
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymFile:
    """The name of the file of synonyms, what each weighs, and the most that a query gets."""

    file: str
    weight: float
    most: int


def glossary_of(search: Search) -> Glossary:
    """Return the glossary that queries are understood by; raise as ``read_glossary`` does."""
    named = search.synonyms.file if "synonyms" in search.understand else ""
    return read_glossary(Path(named).expanduser()) if named else {}


def make_synonyms(search: Search, files: Files) -> SynonymFile | None:
    """Add the file of synonyms; nothing where there are none."""
    glossary = {words: list(others) for words, others in glossary_of(search).items() if words and others}
    if not glossary:
        return None
    name = files.add(SYNONYMS.pack({"synonyms": glossary}))
    return SynonymFile(name, search.synonyms.weight, search.synonyms.max_terms)


def read_surfaces(snapshot: SnapshotTables) -> Surfaces:
    """Read the snapshot's table of surfaces."""
    table = snapshot.table("surfaces", ["surface", "language", "terms", "count"])
    return Surfaces(*(table[name].to_pylist() for name in ("surface", "language", "terms", "count")))


def aliases(surfaces: Surfaces) -> Mapping[str, Sequence[str]]:
    """Return the terms of every word that a browser has no stemmer to reduce to them."""
    found: dict[str, list[str]] = {}
    plain = prose_analyzer("")
    for word, language, terms in zip(surfaces.words, surfaces.languages, surfaces.terms, strict=True):
        own = primary_language(language)
        if own != _STEMMED_THERE and own in STEMMERS and tuple(terms) != plain.expand(word):
            known = found.setdefault(word, [])
            known += [term for term in terms if term not in known]
    return found


def make_word_files(snapshot: SnapshotTables, surfaces: Surfaces, files: Files) -> WordFiles:
    """Add the files of all words that are written more than once."""
    counts: dict[str, int] = {}
    for word, count in zip(surfaces.words, surfaces.counts, strict=True):
        if word.isalpha() and len(word) >= _LEAST_CHARS and not has_cjk(word):
            counts[word] = counts.get(word, 0) + count
    kept = sorted((word for word, count in counts.items() if count >= _LEAST_COUNT), key=_key)
    near = _near(snapshot, set(kept))
    words, others, first = [], [], []
    for run in _runs(kept):
        in_order = sorted(run, key=utf16)
        common = np.array([min(31, counts[word].bit_length()) for word in in_order])
        words.append(files.add(WORDS.pack({**strings(in_order, "word"), "commonness": common})))
        others.append(
            files.add(NEAR_WORDS.pack({"near": {word: near[word] for word in in_order if word in near}}))
        )
        first.append(_letter(run[0]))
    return WordFiles(tuple(first), tuple(words), tuple(others))


def _letter(word: str) -> str:
    """Return the first letter without its accent, which people seldom mistype."""
    return (without_accents(word) or word)[0]


def _key(word: str) -> tuple[bytes, bytes]:
    return (utf16(_letter(word)), utf16(word))


def _runs(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield runs of words for one file each: all words of a letter, rare letters together."""
    run: list[str] = []
    for _, same in groupby(words, key=_letter):
        letter = list(same)
        if run and (len(run) + len(letter)) * _WORD_BYTES > _FILE_BYTES:
            yield run
            run = []
        run += letter
    if run:
        yield run


def _near(snapshot: SnapshotTables, known: set[str]) -> Mapping[str, list[str]]:
    """Return for words of the concept vocabulary the nearest others."""
    table = snapshot.table("vocabulary", ["term", "near"])
    pairs = zip(table["term"].to_pylist(), table["near"].to_pylist(), strict=True)
    return {term: list(near or ())[:_NEAR] for term, near in pairs if term in known and near}
