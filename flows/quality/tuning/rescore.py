"""The keyword scores that a snapshot would have with other weights, ``b`` or ``k1``, without a new build.

A posting keeps its score and not what it was made of. So words are counted again, from the snapshot's own
texts and links, and scored by the code that scores them in a build, for the words that are asked for and no
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....artifacts.query.index.postings import InvertedIndex, PostingList
from ....artifacts.store.snapshot import Snapshot
from ....pipeline.lexical.analyzer import Analyzer, code_analyzer, prose_analyzer
from ....pipeline.lexical.bm25f import LexicalIndex, SharedField, build_index
from ....pipeline.lexical.field_counts import FieldCounts, count_fields, without_headings
from ....pipeline.links.anchors import anchor_texts
from ....pipeline.model import DocId, ResolvedLink
from ....pipeline.settings.settings import FIELDS, Lexical, LexicalField
from ...stages.parse_batch import stemmed_language

_PASSAGES_AT_A_TIME = 8_000
_OF_DOCUMENT = ("title", "keywords", "description", "tags", "aliases", "author")
_CODE_FIELDS = (LexicalField(weight=1.0),)
_LINK = ("source_id", "target_id", "fragment", "kind", "target", "text", "ordinal", "status")


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each word stands in each field of a snapshot's passages, in link texts and in code."""

    prose: tuple[FieldCounts, ...]
    anchors: FieldCounts
    sizes: npt.NDArray[np.int64]
    code: tuple[FieldCounts, ...]


@dataclass(frozen=True, slots=True)
class _Documents:
    """What the passages of a document have in common, in columns."""

    ids: list[DocId]
    analyzers: list[Analyzer]
    fields: dict[str, list[str]]
    sizes: npt.NDArray[np.int64]


def recount(snapshot: Snapshot) -> Counts:
    """Return the counts as the build had them; it takes about a second for ten thousand passages."""
    documents = _documents(snapshot)
    links = snapshot.table("links", list(_LINK)).to_pylist()
    anchors = anchor_texts(ResolvedLink(*(link[name] for name in _LINK)) for link in links)
    passages = snapshot.table("passages", ["headings", "text", "code"])
    owner = np.repeat(np.arange(len(documents.ids)), documents.sizes)
    parts = [slice(at, at + _PASSAGES_AT_A_TIME) for at in range(0, len(passages), _PASSAGES_AT_A_TIME)]
    return Counts(
        prose=tuple(_prose(passages.slice(p.start, _PASSAGES_AT_A_TIME), owner[p], documents) for p in parts),
        anchors=_bare(count_fields([[anchors.get(each, "") for each in documents.ids]], documents.analyzers)),
        sizes=documents.sizes,
        code=tuple(_code(passages.slice(p.start, _PASSAGES_AT_A_TIME)) for p in parts),
    )


def _documents(snapshot: Snapshot) -> _Documents:
    table = snapshot.table("documents", ["doc_id", "language", "passages", *_OF_DOCUMENT])
    fields = {name: [_text(value) for value in table.column(name).to_pylist()] for name in _OF_DOCUMENT}
    return _Documents(
        ids=table.column("doc_id").to_pylist(),
        analyzers=[prose_analyzer(stemmed_language(tag)) for tag in table.column("language").to_pylist()],
        fields=fields,
        sizes=table.column("passages").to_numpy().astype(np.int64),
    )


def _text(value: str | Sequence[str] | None) -> str:
    return value if isinstance(value, str) else "\n".join(value or ())


def _prose(passages: pa.Table, owner: npt.NDArray[np.int64], documents: _Documents) -> FieldCounts:
    own = {
        "headings": [_text(value) for value in passages.column("headings").to_pylist()],
        "body": passages.column("text").to_pylist(),
        "anchors": [""] * len(passages),
    }
    of_documents = {name: [column[at] for at in owner] for name, column in documents.fields.items()}
    columns = own | of_documents
    analyzers = [documents.analyzers[at] for at in owner]
    return _bare(count_fields([columns[name] for name in FIELDS], analyzers))


def _code(passages: pa.Table) -> FieldCounts:
    return _bare(count_fields([passages.column("code").to_pylist()], [code_analyzer()] * len(passages)))


def _bare(counts: FieldCounts) -> FieldCounts:
    """Return the counts without words as written, which no score needs."""
    none = np.zeros(0, dtype=np.int32)
    return replace(
        counts, surface=(), surface_language=(), surface_offsets=none, surface_terms=none, surface_count=none
    )


@dataclass(frozen=True, slots=True)
class _Scorer:
    batches: tuple[FieldCounts, ...]
    fields: tuple[LexicalField, ...]
    k1: float
    shared: SharedField | None = None

    def postings(self, words: Sequence[str]) -> Iterator[tuple[str, PostingList]]:
        """Yield the postings of words; a word that no field with a weight holds has none."""
        wanted = frozenset(words)
        shared = replace(self.shared, counts=_only(self.shared.counts, wanted)) if self.shared else None
        batches = [_only(batch, wanted) for batch in self.batches]
        index = build_index(batches, self.fields, self.k1, shared) if wanted else None
        yield from _lists(index) if index is not None else ()


class _RescoredPostings:
    """Postings by other scores, of the words that were named or have been asked for."""

    def __init__(self, scorer: _Scorer, words: Sequence[str]) -> None:
        self._scorer, self._known = scorer, dict(scorer.postings(words))
        self._asked = set(words)

    def __call__(self, term: str, _: int) -> PostingList | None:
        if term not in self._asked:
            self._known |= dict(self._scorer.postings([term]))
            self._asked.add(term)  # last: another thread may ask for the term meanwhile
        return self._known.get(term)


def _lists(index: LexicalIndex) -> Iterator[tuple[str, PostingList]]:
    for at, term in enumerate(index.terms):
        own = slice(int(index.offsets[at]), int(index.offsets[at + 1]))
        yield (
            term,
            PostingList(
                index.passage[own], index.score[own], index.fields[own], float(index.score[own].max())
            ),
        )


def _only(counts: FieldCounts, wanted: frozenset[str]) -> FieldCounts:
    """Return the counts of some words; lengths stay those of the whole texts."""
    kept = [at for at, term in enumerate(counts.terms) if term in wanted]
    number = np.full(len(counts.terms), -1, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    rows = np.flatnonzero(number[counts.term] >= 0) if len(counts.term) else np.zeros(0, dtype=np.int64)
    return replace(
        counts,
        terms=tuple(counts.terms[at] for at in kept),
        term=number[counts.term[rows]],
        text=counts.text[rows],
        field=counts.field[rows],
        count=counts.count[rows],
    )


def rescored_prose(
    own: InvertedIndex, counts: Counts, lexical: Lexical, words: Iterable[str]
) -> InvertedIndex:
    """Return the prose postings of a snapshot as ``lexical`` would have made them, these words' at once."""
    headings = np.concatenate([each.lengths[:, FIELDS.index("headings")] for each in counts.prose])
    lexical = lexical.adapted(without_headings(headings, counts.sizes) / max(1, len(headings)))
    fields = tuple(lexical.fields[name] for name in FIELDS)
    shared = SharedField(counts.anchors, counts.sizes, FIELDS.index("anchors"))
    scorer = _Scorer(counts.prose, fields, lexical.k1, shared)
    return own.with_postings(_RescoredPostings(scorer, [word for word in words if word in own]))


def rescored_code(own: InvertedIndex, counts: Counts, lexical: Lexical) -> InvertedIndex:
    """Return the code postings of a snapshot as ``lexical`` would have made them."""
    return own.with_postings(_RescoredPostings(_Scorer(counts.code, _CODE_FIELDS, lexical.k1), ()))
