"""Filters by the operators of a query: phrases, exclusions and words in fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....pipeline.lexical.analyzer import ProseAnalyzer, has_cjk, prose_analyzer, terms
from ....pipeline.settings.settings import FIELDS
from ..index.corpus import CorpusReader
from ..index.postings import add_up
from ..model import Ints, Mask
from ..understanding.operators import Operators

# So many passages are read to look for a phrase, those with the best score first: two seconds of work.
_MAX_READ = 20_000


@dataclass(frozen=True, slots=True)
class OperatorMatches:
    """The passages that meet all operators (``None``: all passages), and notes for the reader.

    ``phrases`` has a note for each phrase that stands nowhere, and an empty one for each that does.
    """

    allowed: Mask | None
    notes: tuple[str, ...] = ()
    phrases: Mapping[str, str] = field(default_factory=dict)


def match_operators(operators: Operators, corpus: CorpusReader) -> OperatorMatches:
    """Find the passages that hold the phrases and the words in the fields, and nothing that is excluded.

    A phrase that stands nowhere filters nothing: its words are searched like any others, and a note says so.
    If the words of a phrase are in more passages than are read, the others are left out, whether it is asked
    for or excluded, and a note says that.
    """
    if not operators:
        return OperatorMatches(None)
    allowed = np.ones(corpus.passages, dtype=np.bool_)
    notes, phrases = list[str](), dict[str, str]()
    for phrase in operators.phrases:
        held = _holding_phrase(phrase, corpus)
        if held.sure.any():
            allowed &= held.sure
            phrases[phrase] = ""
            notes.extend(held.notes(phrase))
        else:
            read = "nothing read" if held.unread.any() else "nothing"
            phrases[phrase] = f'{read} contains the phrase "{phrase}": its words are searched individually'
    for name, value in operators.fielded:
        allowed &= _holding(value, corpus, 1 << FIELDS.index(name))
    for value in operators.excluded:
        held = _holding_phrase(value, corpus)
        notes.extend(held.notes(value))
        allowed &= ~(held.sure | held.unread)
    return OperatorMatches(allowed, tuple(notes), phrases)


@dataclass(frozen=True, slots=True)
class _PhraseMatches:
    """The passages that hold a phrase, and those that hold its words but were not read."""

    sure: Mask
    unread: Mask

    def notes(self, phrase: str) -> list[str]:
        """Tell how many passages were not read, if any."""
        left, words = int(self.unread.sum()), f'the words of "{phrase}" stand in very many passages'
        return [f"{words}: {left:,} of them were not read and are left out"] if left else []


def _holding(words: str, corpus: CorpusReader, fields: int = 0xFFFF) -> Mask:
    """Find passages that hold all the words, in one of the languages, in one of the fields (bits)."""
    found = np.zeros(corpus.passages, dtype=np.bool_)
    for language in corpus.languages:
        wanted = dict.fromkeys(terms(prose_analyzer(language), words))
        counts = np.zeros(corpus.passages, dtype=np.int32)
        for term in wanted:
            if (posting := corpus.prose.of(term)) is not None:
                counts[posting.passages[(posting.fields & fields) > 0]] += 1
        found |= (counts == len(wanted)) & (len(wanted) > 0)
    return found


def _holding_phrase(phrase: str, corpus: CorpusReader) -> _PhraseMatches:
    """Find passages in whose title, headings or text the words stand side by side, whatever their endings."""
    together, nowhere = _holding(phrase, corpus), np.zeros(corpus.passages, dtype=np.bool_)
    sought = [PhraseMatcher(prose_analyzer(language), phrase) for language in corpus.languages]
    if all(len(each.phrase) <= 1 for each in sought):
        return _PhraseMatches(together, nowhere)
    rows = _most_promising(np.flatnonzero(together), phrase, corpus)
    found = nowhere.copy()
    found[[row for row in rows.tolist() if _stands_in(sought, row, corpus)]] = True
    together[rows] = False
    return _PhraseMatches(found, together)


def _most_promising(rows: Ints, phrase: str, corpus: CorpusReader) -> Ints:
    if len(rows) <= _MAX_READ:
        return rows
    wanted = dict.fromkeys(
        term for language in corpus.languages for term in terms(prose_analyzer(language), phrase)
    )
    postings = [(posting, 1.0) for term in wanted if (posting := corpus.prose.of(term)) is not None]
    scores = add_up(postings, corpus.passages)[rows]
    return np.sort(rows[np.argsort(-scores, kind="stable")[:_MAX_READ]])


class PhraseMatcher:
    """A phrase in one language; the terms of a token are worked out once for all texts."""

    def __init__(self, analyzer: ProseAnalyzer, phrase: str) -> None:
        self._analyzer = analyzer
        self._known: dict[str, Sequence[str]] = {}
        self.phrase = self._sequence(phrase)

    def is_in(self, text: str) -> bool:
        """Tell whether the words of the phrase stand in the text side by side."""
        return _contains(self._sequence(text), self.phrase)

    def _sequence(self, text: str) -> list[str]:
        """Return the first term of each token; all of scripts without spaces between words."""
        known, found = self._known, list[str]()
        for token in self._analyzer.tokens(text):
            if token not in known:
                expanded = self._analyzer.expand(token)
                known[token] = expanded if has_cjk(token) else expanded[:1]
            found.extend(known[token])
        return found


def _stands_in(sought: Sequence[PhraseMatcher], row: int, corpus: CorpusReader) -> bool:
    passage = corpus.rows.of(row)
    return any(each.is_in(text) for each in sought for text in (passage["text"], passage["breadcrumb"]))


def _contains(words: list[str], phrase: list[str]) -> bool:
    starts = (at for at, word in enumerate(words) if word == phrase[0])
    return bool(phrase) and any(words[at : at + len(phrase)] == phrase for at in starts)
