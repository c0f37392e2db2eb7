"""What a query's operators demand of every passage in the answer, whichever list found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from artifacts.query.corpus import Corpus, Ints
from artifacts.query.lists import add_up
from artifacts.query.model import Mask, Operators
from pipeline.settings import FIELDS
from pipeline.text import ProseAnalyzer, prose_analyzer, terms

# Passages whose text is read to see whether a phrase stands in it, those with the best score first.
_MAX_READ = 2_000


@dataclass(frozen=True, slots=True)
class Demands:
    """The passages that meet all demands (``None``: all passages), and what was noticed on the way."""

    allowed: Mask | None
    notes: tuple[str, ...] = ()


def demanded(operators: Operators, corpus: Corpus) -> Demands:
    """The passages that hold the phrases, hold the words in the fields, and do not hold what is excluded.

    A phrase that stands nowhere demands nothing: its words are searched like any others, and a note says so.
    """
    if not operators:
        return Demands(None)
    allowed = np.ones(corpus.passages, dtype=np.bool_)
    notes = []
    for phrase in operators.phrases:
        holding = _holding_phrase(phrase, corpus)
        if holding.any():
            allowed &= holding
        else:
            notes.append(f'nothing holds the phrase "{phrase}": its words are searched one by one')
    for field, value in operators.fielded:
        allowed &= _holding_in_field(value, field, corpus)
    for value in operators.excluded:
        allowed &= ~(_holding_phrase(value, corpus))
    return Demands(allowed, tuple(notes))


def _holding(words: str, corpus: Corpus, fields: int = 0xFFFF) -> Mask:
    """Passages that hold all the words, in one of the languages, in one of the fields (bits)."""
    found = np.zeros(corpus.passages, dtype=np.bool_)
    for language in corpus.languages:
        wanted = dict.fromkeys(terms(prose_analyzer(language), words))
        postings = [corpus.prose.of(term) for term in wanted]
        if not wanted or any(posting is None for posting in postings):
            continue
        counts = np.zeros(corpus.passages, dtype=np.int32)
        for posting in postings:
            if posting is not None:
                counts[posting.passages[(posting.fields & fields) > 0]] += 1
        found |= counts == len(postings)
    return found


def _holding_in_field(words: str, field: str, corpus: Corpus) -> Mask:
    return _holding(words, corpus, 1 << FIELDS.index(field))


def _holding_phrase(phrase: str, corpus: Corpus) -> Mask:
    """Passages in whose title, headings or text the words stand one after the other, whatever their endings."""
    together = _holding(phrase, corpus)
    if all(len(_sequence(prose_analyzer(language), phrase)) <= 1 for language in corpus.languages):
        return together
    rows = _most_promising(np.flatnonzero(together), phrase, corpus)
    found = np.zeros(corpus.passages, dtype=np.bool_)
    sought = [(prose_analyzer(language), phrase) for language in corpus.languages]
    found[[row for row in rows.tolist() if _stands_in(sought, row, corpus)]] = True
    return found


def _most_promising(rows: Ints, phrase: str, corpus: Corpus) -> Ints:
    if len(rows) <= _MAX_READ:
        return rows
    wanted = dict.fromkeys(
        term for language in corpus.languages for term in terms(prose_analyzer(language), phrase)
    )
    postings = [(posting, 1.0) for term in wanted if (posting := corpus.prose.of(term)) is not None]
    scores = add_up(postings, corpus.passages)[rows]
    return np.sort(rows[np.argsort(-scores, kind="stable")[:_MAX_READ]])


def _stands_in(sought: Sequence[tuple[ProseAnalyzer, str]], row: int, corpus: Corpus) -> bool:
    passage = corpus.rows.of(row)
    texts = (passage["text"], passage["breadcrumb"])
    return any(
        _contains(_sequence(analyzer, text), _sequence(analyzer, phrase))
        for analyzer, phrase in sought
        for text in texts
    )


def _sequence(analyzer: ProseAnalyzer, text: str) -> list[str]:
    """The first term of every token: what its place in a phrase is compared by."""
    return [expanded[0] for token in analyzer.tokens(text) if (expanded := analyzer.expand(token))]


def _contains(words: Sequence[str], phrase: Sequence[str]) -> bool:
    starts = (at for at, word in enumerate(words) if word == phrase[0])
    return bool(phrase) and any(list(words[at : at + len(phrase)]) == list(phrase) for at in starts)
