"""What a process finds in the shards that it holds: the lists of a request, and columns that ranking reads.

The request is understood here, with the statistics of the whole corpus, so that scores of all processes are
on one scale. Texts are not read yet: few of the passages are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....pipeline.settings.search import Search
from ...tables.vector_columns import fixed_size_lists
from ..context import SearchRequest, SearchResources
from ..index.corpus import CorpusReader
from ..model import Ints, ListName, Query, RankedList, Step
from ..pipeline import prepare, retrievers_of
from ..retrieval.retrievers import Retrieved

# Of documents and passages, as a hit shows them; read once it is known which are shown.
SHOWN = ("doc_id", "passage_id", "section_id", "text", "breadcrumb", "collection", "path", "title", "url")
_NEED_VECTORS = frozenset({"duplicate_cosine", "mmr"})


@dataclass(frozen=True, slots=True)
class ListRecord:
    """What belongs to a list as a whole; ``is_scored`` says that it scores passages that it did not find."""

    name: ListName
    question: int
    most: float
    scale: float
    is_scored: bool


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """How a request was understood, and what happened on the way; all but ``lists`` as in ``Prepared``."""

    queries: tuple[Query, ...]
    weights: Mapping[str, float]
    conditions: str
    phrases: Mapping[str, str]
    emptied: str
    notes: tuple[str, ...]
    lists: tuple[ListRecord, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundInShards:
    """The passages that any list found, as rows, and the record of the lists.

    ``found.N`` is the score in list N, null where it did not find the passage; ``score.N`` is what it scores.
    """

    record: FoundRecord
    passages: pa.Table


def find_in_shards(request: SearchRequest, limit: int, resources: SearchResources) -> FoundInShards:
    """Return what the lists of a request find, each at most ``limit`` passages; raise as a search does."""
    prepared, found = prepare(request, resources), Retrieved()
    if not prepared.is_nothing:
        retrievers = retrievers_of(request, resources)
        found = retrievers.retrieve(prepared.queries, prepared.weights, limit, prepared.allowed)
    record = FoundRecord(
        prepared.queries,
        dict(prepared.weights),
        prepared.conditions,
        dict(prepared.phrases),
        prepared.emptied,
        tuple(prepared.notes),
        tuple(
            ListRecord(each.name, each.question, each.most, each.scale, each.score_of is not None)
            for each in found.made
        ),
        {name: str(error) for name, error in found.failed.items()},
        (*prepared.steps, *found.steps),
    )
    return FoundInShards(record, _passages(found.made, resources.corpus, resources.settings))


def _passages(lists: Sequence[RankedList], corpus: CorpusReader, settings: Search) -> pa.Table:
    rows = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.rows for each in lists)]))
    columns = {name: read(corpus, rows) for name, read in _COLUMNS.items()}
    for stage, name in (("community", "community"), ("recency", "modified")):
        if stage in settings.stages:
            columns[name] = _OPTIONAL[name](corpus, rows)
    if _NEED_VECTORS & set(settings.stages):
        columns["vector"] = fixed_size_lists(corpus.vectors(rows))
    if "rocchio" in settings.stages:
        columns["centroid"] = fixed_size_lists(corpus.centroids[corpus.document_of[rows]])
    for number, each in enumerate(lists):
        columns |= _scores(number, each, rows)
    return pa.table(columns)


def _scores(number: int, ranked: RankedList, rows: Ints) -> dict[str, pa.Array]:
    found = np.full(len(rows), np.nan)
    found[np.searchsorted(rows, ranked.rows)] = ranked.scores
    scores = found if ranked.score_of is None else ranked.score_of(rows)
    return {
        f"found.{number}": pa.array(found, pa.float64(), mask=np.isnan(found)),
        f"score.{number}": pa.array(np.nan_to_num(scores), pa.float64()),
    }


Column = Callable[[CorpusReader, Ints], pa.Array]


def _of_document(column: Callable[[CorpusReader], object]) -> Column:
    return lambda corpus, rows: pa.array(np.asarray(column(corpus))[corpus.document_of[rows]])


_COLUMNS: Mapping[str, Column] = {
    "row": lambda _, rows: pa.array(rows),
    "doc_id": lambda corpus, rows: _taken(corpus.documents.column("doc_id"), corpus.document_of[rows]),
    "ordinal": lambda corpus, rows: pa.array(rows - corpus.first_passage[corpus.document_of[rows]]),
    "section_id": lambda corpus, rows: _taken(corpus.section_ids, rows),
    "content": lambda corpus, rows: pa.array(corpus.content_of[rows]),
    "passages_of": _of_document(lambda corpus: corpus.passages_of),
    "links_in": _of_document(lambda corpus: corpus.links_in),
}
_OPTIONAL: Mapping[str, Column] = {
    "community": _of_document(lambda corpus: corpus.community_of),
    "modified": _of_document(lambda corpus: corpus.modified),
}


def _taken(column: pa.ChunkedArray, rows: object) -> pa.Array:
    taken = pc.take(column, pa.array(rows))
    return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


def shown_of(rows: Sequence[int], corpus: CorpusReader) -> pa.Table:
    """Return what a hit shows of passages by row; raise ``IndexError`` for a row that there is not."""
    if any(not 0 <= row < corpus.passages for row in rows):
        raise IndexError(f"rows are in 0..{corpus.passages - 1}")
    found = []
    for row in rows:
        values = {**corpus.document(int(corpus.document_of[row])), **corpus.rows.of(row)}
        found.append({name: values[name] for name in SHOWN})
    return pa.Table.from_pylist(found, schema=pa.schema([(name, pa.string()) for name in SHOWN]))
