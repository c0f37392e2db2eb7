"""True BM25F: one inverse document frequency and one saturation per term over all fields.

    tf~(t,p) = Σ_f  w_f · tf(t,p,f) / (1 − b_f + b_f · len(p,f) / avglen_f)
    score(p) = Σ_t  idf(t) · (k1 + 1) · tf~ / (k1 + tf~)
    idf(t)   = ln(1 + (N − n_t + ½) / (n_t + ½)),  n_t = passages that contain t in any field

(Robertson, Zaragoza, Taylor 2004; Robertson & Zaragoza 2009.) The score of every posting is computed when the
index is built, so a query only adds up what it reads. The work is columnar: a batch of passages is counted
into ``FieldCounts``, and all batches together become a ``LexicalIndex``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..settings.settings import LexicalField
from .field_counts import FieldCounts, Ints, Narrow, ranges

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.uint16]
N = TypeVar("N", bound=np.generic)
# Each takes some 70 bytes while its range of terms is summed.
_OCCURRENCES_AT_A_TIME = 4_000_000
# In a collection of up to so many documents, a keyword match counts half: decision 59 has the figures.
HALF_CREDIBLE = 100


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """Postings in columns, ordered by term: term ``i`` owns ``[offsets[i], offsets[i + 1])``.

    ``passage`` rises within a term; ``score`` is the posting's BM25F score; bit ``f`` of ``fields`` is set
    where the term occurs in field ``f`` and that field has a weight; ``frequency`` is the number of passages
    of each term.
    """

    terms: tuple[str, ...]
    offsets: Ints
    passage: npt.NDArray[np.int32]
    score: npt.NDArray[np.float32]
    fields: Masks
    frequency: Ints
    idf: Floats


@dataclass(frozen=True, slots=True)
class SharedField:
    """A field that several texts share: ``counts`` has one row per run of ``sizes`` texts, and one column.

    All passages of a document share the anchor texts of the links to it, which are counted only once.
    """

    counts: FieldCounts
    sizes: Ints
    field: int


def credibility(documents: int) -> float:
    """Return how much a keyword match counts beside the meaning in a collection of so many documents.

    Where there are few, a word is rare or frequent by chance: ``n / (n + k)``, as in credibility theory
    (Bühlmann 1967), and at least a half.
    """
    return max(0.5, documents / (documents + HALF_CREDIBLE))


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What the score of a posting takes from all texts of a corpus, of which an index may hold a part.

    ``texts`` is their number, ``lengths`` the mean length of each field over them, shape ``(fields,)``;
    ``frequency[i]`` is the number of texts that contain ``terms[i]``. ``without_headings`` is the number of
    passages in documents that have none.
    """

    texts: int
    lengths: Floats
    terms: tuple[str, ...]
    frequency: Ints
    without_headings: int = 0

    def frequencies(self, terms: Sequence[str]) -> Ints:
        """Return the number of texts with each term, 0 where that is not known."""
        row = {term: at for at, term in enumerate(self.terms)}
        at = np.array([row.get(term, -1) for term in terms], dtype=np.int64)
        found: Ints = np.append(self.frequency, 0)[at]
        return found


def build_index(
    batches: Sequence[FieldCounts],
    fields: Sequence[LexicalField],
    k1: float,
    shared: SharedField | None = None,
    corpus: CorpusStatistics | None = None,
) -> LexicalIndex:
    """Build the index of the texts of all batches, numbered in order; ``fields[f]`` weighs column ``f``.

    Scores are those in the corpus that the statistics are of; without them, the texts are all of it.
    """
    sources = [*batches, *([shared.counts] if shared else [])]
    terms = tuple(sorted({term for batch in sources for term in batch.terms}))
    number = {term: i for i, term in enumerate(terms)}
    lengths = np.concatenate([np.zeros((0, len(fields)), np.int32), *(batch.lengths for batch in batches)])
    if shared:
        lengths[:, shared.field] = np.repeat(shared.counts.lengths[:, 0], shared.sizes)
    texts = len(lengths)
    weight = _weights(lengths, fields, mean_lengths(lengths) if corpus is None else corpus.lengths)
    columns, first = [], 0
    for batch in batches:
        columns.append(_Columns(batch, _numbered(batch, number), first))
        first += len(batch.lengths)
    if shared:
        columns.append(_Columns(shared.counts, _numbered(shared.counts, number), 0, shared))
    known = np.zeros(len(terms), np.int64) if corpus is None else corpus.frequencies(terms)
    every = texts if corpus is None else corpus.texts
    parts = _parts(columns, len(terms), weight, texts)
    return _joined(terms, (_scored(part, texts, k1, known, every) for part in parts))


def mean_lengths(lengths: Narrow) -> Floats:
    """Return the mean length of each field; the average over texts includes empty fields."""
    mean: Floats = lengths.mean(axis=0) if len(lengths) else np.ones(lengths.shape[1])
    return mean


def _numbered(counts: FieldCounts, number: Mapping[str, int]) -> Ints:
    return np.array([number[term] for term in counts.terms], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The counts of a batch; ``number[term]`` is over all terms, its first text is ``first`` of all texts."""

    counts: FieldCounts
    number: Ints
    first: int
    shared: SharedField | None = None

    def frequencies(self) -> Ints:
        """Return the number of occurrences of each term of the batch in all texts."""
        counts, most = self.counts, len(self.number)
        if self.shared is None:
            return np.bincount(counts.term, minlength=most)
        times = np.bincount(counts.term, self.shared.sizes[counts.text], minlength=most)
        return times.astype(np.int64)  # whole numbers, far below those that a float does not hold

    def taken(self, at: Ints) -> _Occurrences:
        """Return some of the occurrences, those of a shared field repeated for every text that has them."""
        counts, text = self.counts, self.counts.text[at].astype(np.int64)
        if self.shared is None:
            text, field = text + self.first, counts.field[at]
            return _Occurrences(self.number[counts.term[at]], text, field, counts.count[at])
        sizes = self.shared.sizes
        starts, times = (np.cumsum(sizes) - sizes)[text], sizes[text]
        at = np.repeat(at, times)
        field = np.full(len(at), self.shared.field, dtype=np.int8)
        text = ranges(starts, times)
        return _Occurrences(self.number[counts.term[at]], text, field, counts.count[at])


@dataclass(frozen=True, slots=True)
class _Occurrences:
    """Occurrences in columns, texts and terms numbered over all batches."""

    term: Ints
    text: Ints
    field: npt.NDArray[np.int8]
    count: Narrow


def _parts(columns: Sequence[_Columns], terms: int, weight: Floats, texts: int) -> Iterator[_Sums]:
    """Yield the sums of one range of terms after another: those of a large corpus would not fit in memory."""
    found = np.zeros(terms, dtype=np.int64)
    for each in columns:
        np.add.at(found, each.number, each.frequencies())
    borders = np.flatnonzero(np.diff(np.cumsum(found) // _OCCURRENCES_AT_A_TIME)) + 1
    for first, end in pairwise([0, *borders.tolist(), terms]):
        yield _sums(columns, first, end, weight, texts)


def _sums(columns: Sequence[_Columns], first: int, end: int, weight: Floats, texts: int) -> _Sums:
    """Return the sums of the terms from ``first`` up to ``end``; keys number terms from ``first``."""
    keys, values, masks = [], [], []
    for each in columns:
        wanted = (each.number >= first) & (each.number < end)
        own = each.taken(np.flatnonzero(wanted[each.counts.term]))
        keys.append((own.term - first) * texts + own.text)
        value = own.count * weight[own.text, own.field]
        values.append(value)
        bit = np.left_shift(1, own.field.astype(np.uint16))
        masks.append(np.where(value > 0, bit, 0).astype(np.uint16))
    return _sum_by_key(
        range(first, end),
        np.concatenate([np.zeros(0, np.int64), *keys]),
        np.concatenate([np.zeros(0), *values]),
        np.concatenate([np.zeros(0, np.uint16), *masks]),
    )


def _weights(lengths: Narrow, fields: Sequence[LexicalField], average: Floats) -> Floats:
    """Return ``w_f / (1 − b_f + b_f · len / avglen)``."""
    b = np.array([field.b for field in fields])
    w = np.array([field.weight for field in fields])
    # In place: a large corpus has hundreds of megabytes of them.
    norm = lengths / np.where(average > 0, average, 1.0)
    norm *= b
    norm += 1 - b
    # With b = 1 an empty field has norm 0, and nothing to weigh.
    some = norm > 0
    np.divide(w, norm, out=norm, where=some)
    norm[~some] = 0.0
    return norm


@dataclass(frozen=True, slots=True)
class _Sums:
    """Distinct (term, passage) keys of a range of terms, in order, with pseudo-frequencies and fields."""

    terms: range
    key: Ints
    pseudo_frequency: Floats
    fields: Masks


def _sum_by_key(terms: range, keys: Ints, values: Floats, masks: Masks) -> _Sums:
    """Sum the values of each key in the order of the fields, dropping keys whose sum is zero."""
    if not len(keys):
        return _Sums(terms, keys, values, masks)
    order = np.argsort(keys, kind="stable")
    keys, values, masks = keys[order], values[order], masks[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(values, starts)
    present = sums > 0
    return _Sums(terms, keys[starts][present], sums[present], np.bitwise_or.reduceat(masks, starts)[present])


@dataclass(frozen=True, slots=True)
class _Scored:
    """The postings of a range of terms, with each term's passage frequency and idf."""

    passage: Narrow
    score: npt.NDArray[np.float32]
    fields: Masks
    frequency: Ints
    idf: Floats


def inverse_frequency(frequency: Ints | int, texts: int) -> Floats:
    """Return the idf of terms that so many of the texts contain, 0 for a term of none."""
    idf: Floats = np.log1p((texts - frequency + 0.5) / (frequency + 0.5))
    return idf


def _scored(sums: _Sums, texts: int, k1: float, corpus_frequency: Ints, corpus_texts: int) -> _Scored:
    """Score a range of terms; where ``corpus_frequency`` is 0, the terms' frequency in these texts counts."""
    term, passage = np.divmod(sums.key, max(1, texts))
    pseudo_frequency = sums.pseudo_frequency
    frequency = np.bincount(term, minlength=len(sums.terms)).astype(np.int64)
    known = corpus_frequency[sums.terms.start : sums.terms.stop]
    idf = inverse_frequency(np.where(known > 0, known, frequency), corpus_texts)
    score = idf[term] * (k1 + 1) * pseudo_frequency / (k1 + pseudo_frequency)
    return _Scored(passage.astype(np.int32), score.astype(np.float32), sums.fields, frequency, idf)


def _joined(terms: tuple[str, ...], parts: Iterable[_Scored]) -> LexicalIndex:
    passages, scores, fields, frequencies, idfs = [], [], [], [], []
    for part in parts:
        passages.append(part.passage)
        scores.append(part.score)
        fields.append(part.fields)
        frequencies.append(part.frequency)
        idfs.append(part.idf)
        del part  # or the last one would be held to the end
    frequency = np.concatenate(frequencies)
    kept = np.flatnonzero(frequency)
    return LexicalIndex(
        terms=tuple(terms[i] for i in kept),
        offsets=np.concatenate([[0], np.cumsum(frequency[kept])]).astype(np.int64),
        passage=_joined_and_cleared(passages),
        score=_joined_and_cleared(scores),
        fields=_joined_and_cleared(fields),
        frequency=frequency[kept],
        idf=np.concatenate(idfs)[kept],
    )


def _joined_and_cleared(parts: list[npt.NDArray[N]]) -> npt.NDArray[N]:
    """Concatenate the parts and clear their list, so that no more than one column is held twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole
