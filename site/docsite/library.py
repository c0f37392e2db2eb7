"""One snapshot in columns, grouped by document: the only place where the site reads tables."""

from __future__ import annotations

import posixpath
import sys
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..pipeline.navigation.toctree import OPENING
from ..pipeline.settings.site import Site
from ..pipeline.visibility import EVERYWHERE, Visibility, visibility_of
from . import urls
from .document_rows import ASSET_COLUMNS, CodeSpan, LinkRow, SectionRow, assets_of
from .grouping import Grouped, Rows, edges_between, taken
from .placement import Placement, own_places, placement_of, published_path

_ENTRY_COLUMNS = (
    "doc_id", "collection", "path", "title", "description", "tags", "modified", "language", "syntax",
    "community", "links_in", "front_matter", "author",
)  # fmt: skip
# Of these many documents have the same.
_IN_COMMON = {"collection", "modified", "language", "syntax", "author"}

# Nobody goes there on purpose.
NOT_FOUND = Placement(hidden=True)
_PLAIN = Site()


class SnapshotTables(Protocol):
    """What the site needs from an open snapshot."""

    @property
    def id(self) -> str:
        """Return the snapshot's name."""

    @property
    def spill(self) -> Path | None:
        """Return the folder for what would take too much memory, if there is one."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return one table, or some of its columns."""

    def open_tables(self, name: str) -> Sequence[pq.ParquetFile]:
        """Return the files that one table lies in, to read row groups from."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as lists and links show it; ``row`` is its place in the library, ``page`` in the site.

    ``apart`` tells it from others of the same title. ``place`` is where the page would be as a file.
    """

    row: int
    doc_id: str
    collection: str
    path: str
    title: str
    description: str
    tags: tuple[str, ...]
    modified: str
    language: str
    syntax: str
    community: int
    links_in: int
    placement: Placement
    page: str
    apart: str = ""
    shown: Visibility = EVERYWHERE
    author: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class CommunityRow:
    """A community's number and name, and its pages, most linked first."""

    community_id: int
    label: str
    entries: tuple[Entry, ...]


class Library:
    """Documents with their sections, code and links, read once; texts stay in Arrow until asked for."""

    def __init__(self, snapshot: SnapshotTables, *, originals: bool = False, settings: Site = _PLAIN) -> None:
        self.snapshot_id = str(snapshot.id)
        self._folders = settings.clean_urls and not originals
        self.base_path = urlsplit(settings.base_url).path.rstrip("/")
        self._spill = snapshot.spill
        self.documents = documents = self._by_name(snapshot.table("documents"))
        self._texts, self._htmls, self._anchors = map(documents.column, ("text", "html", "anchors"))
        self.entries = _entries(documents, originals, settings)
        self.by_id: Mapping[str, Entry] = {entry.doc_id: entry for entry in self.entries}
        self.listed = tuple(entry for entry in self.entries if entry.shown.listed)
        self._names = pa.array([*self.by_id], pa.string())
        self.collections: tuple[str, ...] = tuple(sorted({entry.collection for entry in self.entries}))
        sections = ["doc_id", "position", "depth", "slug", "title", "byte_start", "byte_end"]
        self.section_rows = self._grouped(snapshot.table("sections", sections), "doc_id", "position")
        links = ["source_id", "ordinal", "kind", "target", "target_id", "fragment", "status", "asset"]
        self.link_rows = self._grouped(snapshot.table("links", links), "source_id", "ordinal")
        code = ["doc_id", "ordinal", "language", "byte_start", "byte_end"]
        self.code_rows = self._grouped(snapshot.table("code_blocks", code), "doc_id", "ordinal")
        self.assets = assets_of(snapshot.table("assets", ASSET_COLUMNS))
        self._communities = snapshot.table("communities", ["community_id", "label"])
        found = self.link_rows.table
        self.edges = edges_between(
            self._listed_rows(found.column("source_id")),
            self._listed_rows(found.column("target_id")),
            len(self.entries),
        )

    def _by_name(self, documents: pa.Table) -> pa.Table:
        names = documents.column("doc_id").to_pylist()
        if names == sorted(names):
            return documents
        order = pc.sort_indices(documents, [("doc_id", "ascending")]).to_numpy()
        return taken(documents, order, self._spill)

    def rows_of(self, names: pa.ChunkedArray) -> Rows:
        """Return the row of each document by its id; -1 for none."""
        found: Rows = pc.fill_null(pc.index_in(names, value_set=self._names), -1).to_numpy().astype(np.int64)
        return found

    def _listed_rows(self, names: pa.ChunkedArray) -> Rows:
        """Return the rows of documents; -1 for those that no page may name."""
        rows = self.rows_of(names)
        hidden = np.array([entry.row for entry in self.entries if not entry.shown.listed], dtype=np.int64)
        return np.where(np.isin(rows, hidden), -1, rows) if len(hidden) else rows

    def _grouped(self, table: pa.Table, key: str, order: str) -> Grouped:
        owners = self.rows_of(table.column(key))
        return Grouped(table, owners, order, len(self.entries), self._spill)

    def href(self, source: str, target: str, fragment: str = "") -> str:
        """Return the address of the page ``target`` as written in the page ``source``."""
        return (urls.folder_href if self._folders else urls.relative_href)(source, target, fragment)

    def address(self, page: str) -> str:
        """Return the address of a page below that of the site."""
        return urls.encoded(urls.as_folder(page) if self._folders and page[:1] != "_" else page)

    def text(self, entry: Entry) -> str:
        """Return the document's text."""
        return str(self._texts[entry.row].as_py() or "")

    def front_matter(self, entry: Entry) -> str:
        """Return the document's front matter as canonical JSON."""
        return str(self.documents.column("front_matter")[entry.row].as_py() or "{}")

    def url(self, entry: Entry) -> str:
        """Return the address at which the document is published, relative if that is not known."""
        return str(self.documents.column("url")[entry.row].as_py() or "")

    def rows_with_toctree(self) -> list[int]:
        """Return the documents that may hold a ``toctree``, in order of their paths."""
        holds = (
            pc.fill_null(pc.match_substring(column, mark), False).to_numpy()
            for column, mark in ((self._texts, "{toctree}"), (self._htmls, OPENING))
        )
        found = np.flatnonzero(np.logical_or(*holds)).tolist()
        return sorted(found, key=lambda row: self.entries[row].path)

    def html(self, entry: Entry) -> str:
        """Return the main content of an HTML document, or nothing for other documents."""
        return str(self._htmls[entry.row].as_py() or "")

    def anchors(self, entry: Entry) -> list[str]:
        """Return the anchors of all the document's headings in order, and of those in boxes and lists."""
        return list(self._anchors[entry.row].as_py() or [])

    def sections(self, entry: Entry) -> list[SectionRow]:
        """Return the document's sections in order, without the document's own node."""
        columns = self.section_rows.columns(entry.row, "slug", "title", "depth", "byte_start", "byte_end")
        return [SectionRow(*row) for row in zip(*columns, strict=True) if row[0]]

    def links(self, entry: Entry) -> list[LinkRow]:
        """Return the document's links in the order in which they are written."""
        names = ("kind", "target", "target_id", "fragment", "status", "asset")
        columns = self.link_rows.columns(entry.row, *names)
        return [LinkRow(*row) for row in zip(*columns, strict=True)]

    def code_languages(self, entry: Entry) -> list[str]:
        """Return the language of each code block in order; empty if it has none."""
        return [str(name or "") for name in self.code_rows.columns(entry.row, "language")[0]]

    def code_spans(self, entry: Entry) -> list[CodeSpan]:
        """Return the document's code blocks in order."""
        columns = self.code_rows.columns(entry.row, "language", "byte_start", "byte_end")
        return [CodeSpan(str(name or ""), *span) for name, *span in zip(*columns, strict=True)]

    def communities(self) -> tuple[CommunityRow, ...]:
        """Return communities with their pages, largest first."""
        members: dict[int, list[Entry]] = {}
        for entry in self.entries:
            members.setdefault(entry.community, []).append(entry)
        rows = [
            CommunityRow(number, str(label or ""), _by_weight(members.get(number, [])))
            for number, label in zip(
                *(self._communities.column(name).to_pylist() for name in ("community_id", "label")),
                strict=True,
            )
        ]
        return tuple(sorted(rows, key=lambda row: (-len(row.entries), row.community_id)))

    def tags(self) -> Mapping[str, tuple[Entry, ...]]:
        """Return pages by tag, both sorted by name."""
        pages: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for tag in dict.fromkeys(entry.tags):
                pages.setdefault(tag, []).append(entry)
        ordered = sorted(pages, key=lambda tag: (tag.casefold(), tag))
        return {tag: tuple(sorted(pages[tag], key=by_title)) for tag in ordered}


def by_title(entry: Entry) -> tuple[str, str]:
    """Return a key that sorts entries by title as a reader would, then by id."""
    return (entry.title.casefold(), entry.doc_id)


def _by_weight(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: (-entry.links_in, *by_title(entry))))


def _entries(documents: pa.Table, originals: bool, settings: Site) -> tuple[Entry, ...]:
    columns = {name: _values(documents, name) for name in documents.column_names if name in _ENTRY_COLUMNS}
    titles = _shared_titles(columns["title"])
    if originals:
        paths = {str(name): str(path) for name, path in zip(columns["doc_id"], columns["path"], strict=True)}
        return tuple(_entry(row, columns, paths, titles) for row in range(documents.num_rows))
    names, fronts = columns["collection"], [str(each or "{}") for each in columns["front_matter"]]
    below = names if len(set(names)) > 1 else [""] * len(names)
    placed = [
        urls.Placed(doc_id, path, top, published_path(path, front, settings, top, title))
        for doc_id, path, title, front, top in zip(
            *(columns[name] for name in ("doc_id", "path", "title")), fronts, below, strict=True
        )
    ]
    places = urls.page_paths(placed, home=settings.home)
    pages = urls.folder_pages(places) if settings.clean_urls else places
    stand = {**places, **own_places(placed, fronts, settings)}
    return tuple(_entry(row, columns, pages, titles, stand) for row in range(documents.num_rows))


def _values(documents: pa.Table, name: str) -> list[object]:
    found, known = documents.column(name).to_pylist(), dict[object, object]()
    return [known.setdefault(each, each) for each in found] if name in _IN_COMMON else found


def _shared_titles(titles: Sequence[object]) -> Set[object]:
    return {title for title, count in Counter(titles).items() if count > 1}


def _entry(
    row: int,
    columns: Mapping[str, list[object]],
    pages: Mapping[str, str],
    titles: Set[object],
    places: Mapping[str, str] = MappingProxyType({}),
) -> Entry:
    def text(name: str) -> str:
        return str(columns[name][row] or "")

    def number(name: str, missing: int) -> int:
        value = columns[name][row]
        return value if isinstance(value, int) else missing

    tags, shown = columns["tags"][row], visibility_of(text("front_matter"))
    page = pages[text("doc_id")]
    return Entry(
        row=row,
        doc_id=text("doc_id"),
        collection=text("collection"),
        path=text("path"),
        title=text("title") or text("path"),
        description=text("description"),
        tags=tuple(sys.intern(str(tag)) for tag in tags) if isinstance(tags, list) and shown.listed else (),
        modified=text("modified"),
        language=text("language"),
        syntax=text("syntax"),
        community=number("community", -1) if shown.listed else -1,
        links_in=number("links_in", 0),
        placement=NOT_FOUND if page == urls.NOT_FOUND else placement_of(text("front_matter")),
        page=page,
        apart=posixpath.splitext(text("path"))[0] if columns["title"][row] in titles else "",
        shown=shown,
        author=text("author"),
        place=places.get(text("doc_id"), ""),
    )
