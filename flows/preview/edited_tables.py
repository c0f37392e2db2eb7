"""A snapshot's tables in which some documents are as they were saved since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.store.snapshot import Snapshot
from ...artifacts.tables import schemas
from ...pipeline.links.linking_documents import LinkingDocument
from ...pipeline.links.published import published_names
from ...pipeline.model import ResolvedLink

# Tables with rows of single documents, and the column that names the document. Each is sorted by it.
_OWNERS = {"documents": "doc_id", "sections": "doc_id", "code_blocks": "doc_id", "links": "source_id"}
_LINK_COLUMNS = tuple(each.name for each in fields(ResolvedLink))
# What only the whole corpus determines stays as it was.
_OF_THE_CORPUS = ("community", "links_in", "links_out", "passages")
# Pages of words take longer to plan than all else; the build that follows makes them.
_LEFT_OUT = ("vocabulary",)


@dataclass(frozen=True, slots=True)
class Edit:
    """A document as it was saved: its parsed contents and its resolved links, or neither if it is gone."""

    parsed: ParsedCorpus | None = None
    links: tuple[ResolvedLink, ...] = ()


@dataclass(frozen=True, slots=True)
class EditedTables:
    """The tables of an open snapshot with ``edits`` by document id; what was read once is kept."""

    snapshot: Snapshot
    edits: Mapping[str, Edit] = field(default_factory=dict)
    _read: dict[tuple[str, tuple[str, ...]], pa.Table] = field(default_factory=dict)
    _linking: dict[str, LinkingDocument] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the snapshot's name."""
        return str(self.snapshot.id)

    @property
    def spill(self) -> Path | None:
        """Return ``None``: a preview's tables stay in memory."""
        return None

    def with_edits(self, edits: Mapping[str, Edit]) -> EditedTables:
        """Return the same snapshot with other edits."""
        return EditedTables(self.snapshot, dict(edits), self._read, self._linking)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return one table, or some of its columns, with the rows of edited documents."""
        key = (name, tuple(columns or ()))
        if key not in self._read:
            found = self.snapshot.table(name, columns)
            self._read[key] = found.slice(0, 0) if name in _LEFT_OUT else found
        table, owner = self._read[key], _OWNERS.get(name)
        for doc_id, edit in self.edits.items() if owner else ():
            table = _spliced(table, str(owner), doc_id, _rows(name, edit))
        return table

    def open_tables(self, name: str) -> Sequence[pq.ParquetFile]:
        """Return the files that one table lies in, without the edits."""
        return self.snapshot.open_tables(name)

    def linking(self) -> list[LinkingDocument]:
        """Return what links can lead to; the links of edited documents alone are listed."""
        if not self._linking:
            self._linking.update(self._linking_before())
        parsed = [edit.parsed for edit in self.edits.values() if edit.parsed is not None]
        edited = {
            document.doc_id: document for each in parsed for document in each.linking_documents().in_order()
        }
        left = {name: each for name, each in self._linking.items() if name not in self.edits}
        return [*left.values(), *edited.values()]

    def _linking_before(self) -> Iterator[tuple[str, LinkingDocument]]:
        """Yield the documents of the snapshot by id, without their links."""
        names = ["doc_id", "collection", "path", "url", "title", "aliases", "anchors", "front_matter"]
        columns = (self.snapshot.table("documents", names).column(name).to_pylist() for name in names)
        for doc_id, collection, path, url, title, aliases, anchors, front in zip(*columns, strict=True):
            known = (*aliases, *published_names(path, front))
            yield doc_id, LinkingDocument(doc_id, collection, path, url, title, known, tuple(anchors), ())

    def links_before(self, doc_id: str) -> dict[tuple[str, str], ResolvedLink]:
        """Return a document's links in the snapshot by kind and by target as written."""
        links = self._read.get(("links", _LINK_COLUMNS)) or self.snapshot.table("links", _LINK_COLUMNS)
        self._read["links", _LINK_COLUMNS] = links
        own = links.filter(pc.equal(links.column("source_id"), doc_id))
        return {(row["kind"], row["target"]): ResolvedLink(**row) for row in own.to_pylist()}


def _rows(name: str, edit: Edit) -> pa.Table | None:
    """Return the edited document's rows of a table; none if it is gone."""
    if edit.parsed is None:
        return None
    if name == "links":
        return schemas.links_table(edit.links)
    rows: pa.Table = getattr(edit.parsed, name)
    return rows


def _spliced(table: pa.Table, owner: str, doc_id: str, rows: pa.Table | None) -> pa.Table:
    """Return the table with other rows of one document, in their place."""
    names = table.column(owner)
    before, own = (pc.sum(each(names, doc_id)).as_py() or 0 for each in (pc.less, pc.equal))
    parts = [table.slice(0, before), table.slice(before + own)]
    if rows is not None:
        parts.insert(1, _as_before(rows, table.slice(before, own)))
    return pa.concat_tables(parts)


def _as_before(rows: pa.Table, old: pa.Table) -> pa.Table:
    """Return new rows in the columns of the old ones, with what no document determines by itself."""
    rows = rows.select(old.column_names).cast(old.schema)
    for name in set(_OF_THE_CORPUS) & set(old.column_names) if len(rows) == len(old) == 1 else ():
        rows = rows.set_column(rows.column_names.index(name), old.schema.field(name), old.column(name))
    return rows
