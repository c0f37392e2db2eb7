"""SQL over one snapshot: conditions on documents, counts, neighbours by links, and queries of users.

DuckDB is loaded when it is first asked: it takes 40 MB, and a search without a filter does without it.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ....pipeline.errors import QueryError
from ...sql import catalog
from ...store.snapshot import Snapshot
from ...tables.schemas import DOCUMENTS
from ..caches import Cache
from ..model import Ints, Mask

if TYPE_CHECKING:
    import duckdb

# A mask has a byte for each document.
_KEPT_MASKS = 64
# A relation of DuckDB 1.3 does not keep the connection that it is on.
_KEPT_CURSORS = 64
_UNCOUNTED = ("text", "html", "front_matter")
# A predicate takes 0.5 ms on the table, 1.2 on Parquet. What few predicates read stays there: 20 MB on MDN.
_SELDOM_READ = "text", "html", "front_matter", "anchors", "description", "keywords", "aliases", "sha256"
_ROWS = f"""
create view whole_documents as
select file_row_number as document, * exclude (file_row_number)
    replace (try_cast(left(modified, 10) as date) as modified)
from {{documents}};
create table document_rows as select * exclude ({", ".join(_SELDOM_READ)}) from whole_documents
"""  # noqa: S608  # ours
_NAMES_SELDOM_READ = re.compile(rf"\b({'|'.join(_SELDOM_READ)})\b", re.IGNORECASE)
# Of several links between two documents the first kind counts; links are followed in both directions.
_NEIGHBOURS = """
create table neighbours as
with linked as (
    select source.document as document, target.document as neighbour,
        list_position(['wikilink', 'transclusion', 'link'], kind) as kind
    from links
    join document_rows as source on source.doc_id = source_id
    join document_rows as target on target.doc_id = target_id
    where kind in ('wikilink', 'transclusion', 'link') and source_id != target_id),
either as (from linked union all select neighbour, document, kind from linked),
edges as (select document, neighbour, min(kind) as kind from either group by document, neighbour)
select document::int as document, neighbour::int as neighbour, kind::tinyint as kind,
    row_number() over (partition by document order by kind, neighbour)::int as position
from edges order by document, position
"""
_EDGES = """
select document, neighbour, kind from neighbours where document in ({documents}) and position <= {hub:d}
"""


class SnapshotDatabase:
    """A locked DuckDB connection over one snapshot, opened when it is first asked; threads may share it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lock = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._closed = self._has_neighbours = False
        self._parts: set[str] = set()
        self._cursors: deque[duckdb.DuckDBPyConnection] = deque(maxlen=_KEPT_CURSORS)
        # No ``lru_cache`` around a method: in a circle of references, a searcher that is dropped keeps its
        # pin and its files until Python looks for circles.
        self._masks: Cache[Mask] = Cache(_KEPT_MASKS)

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        with self._lock:
            self._cursors.clear()
            if self._connection is not None:
                self._connection.close()
            self._connection, self._closed = None, True

    @property
    def is_open(self) -> bool:
        """Tell whether anything was asked yet that takes DuckDB."""
        return self._connection is not None

    def documents_where(self, predicate: str, values: tuple[object, ...] = ()) -> Mask:
        """Return which documents meet a predicate; ``values`` stand for its question marks.

        Raise ``QueryError`` if DuckDB cannot evaluate it. The text must be trusted, or checked before.
        """
        return self._where(predicate, values)

    def documents_where_given(self, predicate: str) -> Mask:
        """Return which documents meet a predicate of a user; raise ``QueryError`` unless it is one."""
        with self._lock:
            catalog.require_predicate(self._opened("tables"), predicate)
        return self._where(predicate, ())

    def column(self, expression: str) -> npt.NDArray[Any]:
        """Return the value of an expression for every document, in the order of their rows."""
        sql = f"select {expression} as value from document_rows order by document"  # noqa: S608  # ours
        values: npt.NDArray[Any] = self._numpy(sql)["value"]
        return values

    def counts(self, column: str, documents: Mask | None, limit: int) -> dict[str, int]:
        """Count documents by a column's values, the commonest first; of a list, every value counts once."""
        if column not in DOCUMENTS.names or column in _UNCOUNTED:
            hint = f"One of {', '.join(name for name in DOCUMENTS.names if name not in _UNCOUNTED)}."
            raise QueryError("there is no such column to count by", where=repr(column), hint=hint)
        value = f"unnest({column})" if "list" in str(DOCUMENTS.field(column).type) else column
        among = "" if documents is None else "where document in (select unnest($rows::int[]))"
        sql = f"""
            select value::varchar, count(distinct document) as documents
            from (select document, {value} as value from {_table(column)} {among})
            where value::varchar != ''
            group by value order by documents desc, value limit {limit:d}"""  # noqa: S608  # of the schema
        values = {} if documents is None else {"rows": np.flatnonzero(documents).tolist()}
        with self._lock:
            return dict(self._opened().execute(sql, values).fetchall())

    def neighbours(self, seeds: Sequence[int], depth: int, hub: int) -> list[int]:
        """Return documents linked with the seeds, by best seed (given best first), distance, kind and row.

        Seeds are left out. From a document with more than ``hub`` links only the first ``hub`` are followed.
        """
        best: dict[int, tuple[int, int, int, int]] = {}
        fronts = [{seed} for seed in seeds]
        for hop in range(depth):
            edges = self._edges(set().union(*fronts), hub)
            for rank, front in enumerate(fronts):
                near = [edge for document in front for edge in edges.get(document, ())]
                for document, kind in near:
                    key = (rank, hop, kind, document)
                    best[document] = min(best.get(document, key), key)
                fronts[rank] = {document for document, _ in near}
        return sorted(set(best) - set(seeds), key=best.__getitem__)

    def _edges(self, documents: Iterable[int], hub: int) -> dict[int, list[tuple[int, int]]]:
        """Return the first ``hub`` neighbours of each document, with the kinds of their links."""
        # Numbers written out let DuckDB skip blocks of the sorted table; a recursive query took 50 ms.
        listed = ", ".join(str(int(document)) for document in documents)
        if not listed:
            return {}
        with self._lock:
            if not self._has_neighbours:
                self._opened("tables").execute(_NEIGHBOURS)
                self._has_neighbours = True
            rows = self._opened().execute(_EDGES.format(documents=listed, hub=hub)).fetchall()
        found: dict[int, list[tuple[int, int]]] = {}
        for document, neighbour, kind in rows:
            found.setdefault(document, []).append((neighbour, kind))
        return found

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Return the answer to a query as a relation, with the views and macros of ``noctule sql``."""
        import duckdb

        catalog.require_queries(query)
        try:
            return self._cursor().sql(query)
        except duckdb.Error as error:
            hint = "See the tables with: show tables"
            raise catalog.refused(error, self._snapshot.path, "sql", hint) from None

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of its own to the same views, for one relation."""
        with self._lock:
            cursor = self._opened(*catalog.PARTS).cursor()
            self._cursors.append(cursor)
        cursor.execute("set variable snapshot = ?", [str(self._snapshot.path)])
        return cursor

    def _opened(self, *parts: str) -> duckdb.DuckDBPyConnection:
        """Return the connection, opened now if nobody has asked before, with parts of the catalog.

        Its views take 10 MB, which a filter by kind and value does without.
        """
        if self._closed:
            raise QueryError("the searcher is closed", hint="Open it again, or ask before it is closed.")
        if self._connection is None:
            connection = self._snapshot.locked_connection()
            connection.execute(_ROWS.format(documents=self._snapshot.relation("documents")))
            self._connection = connection
        missing = [part for part in parts if part not in self._parts]
        if missing:
            self._connection.execute(self._snapshot.catalog(missing))
            self._parts.update(missing)
        return self._connection

    def _where(self, predicate: str, values: tuple[object, ...]) -> Mask:
        found = self._masks.get((predicate, values))
        if found is None:
            found = self._read_mask(predicate, values)
            self._masks.put((predicate, values), found)
        return found

    def _read_mask(self, predicate: str, values: tuple[object, ...]) -> Mask:
        import duckdb

        # The predicate stands on lines of its own: a comment at its end must not swallow the bracket.
        sql = f"select document from {_table(predicate)} as documents where (\n{predicate}\n)"  # noqa: S608  # checked
        try:
            rows: Ints = self._numpy(sql, list(values))["document"]
        except (RuntimeError, duckdb.Error) as error:
            where = " ".join([f"where {predicate!r}", *map(repr, values)])
            hint = f"Columns: {', '.join(DOCUMENTS.names)}."
            raise catalog.refused(error, self._snapshot.path, where, hint) from None
        mask = np.zeros(self._snapshot.rows("documents"), dtype=np.bool_)
        mask[rows] = True
        mask.flags.writeable = False
        return mask

    def _numpy(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> dict[str, Any]:
        with self._lock:
            return self._opened().execute(sql, values).fetchnumpy()


def _table(expression: str) -> str:
    """Return the table with the columns that an expression names."""
    return "whole_documents" if _NAMES_SELDOM_READ.search(expression) else "document_rows"
