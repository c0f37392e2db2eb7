"""One snapshot in columns, cut by document: the only place where the site reads tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from docsite import urls

ORDER_KEYS = ("nav_order", "sidebar_position", "weight", "order")


class SnapshotTables(Protocol):
    """What the site needs of an opened snapshot."""

    @property
    def id(self) -> str:
        """The snapshot's name."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """One table, or some of its columns."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as lists and links show it; ``row`` is its place in the library, ``page`` in the site."""

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
    order: float
    page: str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section's anchor and the bytes of the document's text that it covers."""

    slug: str
    title: str
    level: int
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """A code block's language and the bytes of the document's text that it covers."""

    language: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as written and where it leads."""

    kind: str
    target: str
    target_id: str | None
    fragment: str
    status: str


@dataclass(frozen=True, slots=True)
class CommunityRow:
    """A community's number and name, and its pages, most linked first."""

    community_id: int
    label: str
    entries: tuple[Entry, ...]


class Grouped:
    """A table's rows by the value of one column, in the order of others."""

    def __init__(self, table: pa.Table, key: str, order: Sequence[str]) -> None:
        names = (key, *order)
        self._table = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
        column = self._table.column(key)
        runs = pc.run_end_encode(
            pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        )
        ends = runs.run_ends.to_pylist()
        starts = [0, *ends][: len(ends)]
        self._spans = dict(zip(runs.values.to_pylist(), zip(starts, ends, strict=True), strict=True))

    def columns(self, key: str, *names: str) -> list[list[object]]:
        """The given columns of the rows with this key."""
        start, end = self._spans.get(key, (0, 0))
        return [self._table.column(name).slice(start, end - start).to_pylist() for name in names]


class Library:
    """Documents with their sections, code and links, read once; texts stay in Arrow until asked for."""

    def __init__(self, snapshot: SnapshotTables) -> None:
        self.snapshot_id = str(snapshot.id)
        documents = snapshot.table("documents").sort_by("doc_id")
        self._texts, self._htmls = documents.column("text"), documents.column("html")
        self._anchors = documents.column("anchors")
        self.entries = _entries(documents)
        self.by_id: Mapping[str, Entry] = {entry.doc_id: entry for entry in self.entries}
        self.collections: tuple[str, ...] = tuple(sorted({entry.collection for entry in self.entries}))
        sections = ["doc_id", "position", "depth", "slug", "title", "byte_start", "byte_end"]
        self._sections = Grouped(snapshot.table("sections", sections), "doc_id", ["position"])
        links = ["source_id", "ordinal", "kind", "target", "target_id", "fragment", "status"]
        self._links = Grouped(snapshot.table("links", links), "source_id", ["ordinal"])
        code = ["doc_id", "ordinal", "language", "byte_start", "byte_end"]
        self._code = Grouped(snapshot.table("code_blocks", code), "doc_id", ["ordinal"])
        self._communities = snapshot.table("communities", ["community_id", "label"])
        self.edges = _edges(snapshot.table("links", ["source_id", "target_id"]), self.by_id)

    def text(self, entry: Entry) -> str:
        """The document's text."""
        return str(self._texts[entry.row].as_py() or "")

    def html(self, entry: Entry) -> str:
        """The main content of an HTML document, else nothing."""
        return str(self._htmls[entry.row].as_py() or "")

    def anchors(self, entry: Entry) -> list[str]:
        """The name of every heading of the document in order, those with nothing below them included."""
        return list(self._anchors[entry.row].as_py() or [])

    def sections(self, entry: Entry) -> list[SectionRow]:
        """The document's sections in order, without the document's own node."""
        columns = self._sections.columns(entry.doc_id, "slug", "title", "depth", "byte_start", "byte_end")
        return [SectionRow(*row) for row in zip(*columns, strict=True) if row[0]]

    def links(self, entry: Entry) -> list[LinkRow]:
        """The document's links in the order in which they are written."""
        columns = self._links.columns(entry.doc_id, "kind", "target", "target_id", "fragment", "status")
        return [LinkRow(*row) for row in zip(*columns, strict=True)]

    def code_languages(self, entry: Entry) -> list[str]:
        """The language of each code block in order; empty where it has none."""
        return [str(name or "") for name in self._code.columns(entry.doc_id, "language")[0]]

    def code_spans(self, entry: Entry) -> list[CodeSpan]:
        """The document's code blocks in order."""
        columns = self._code.columns(entry.doc_id, "language", "byte_start", "byte_end")
        return [CodeSpan(str(row[0] or ""), *row[1:]) for row in zip(*columns, strict=True)]

    def communities(self) -> tuple[CommunityRow, ...]:
        """Communities with their pages, largest first."""
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
        """Pages by tag, both in order of name."""
        pages: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for tag in dict.fromkeys(entry.tags):
                pages.setdefault(tag, []).append(entry)
        ordered = sorted(pages, key=lambda tag: (tag.casefold(), tag))
        return {tag: tuple(sorted(pages[tag], key=by_title)) for tag in ordered}


def by_title(entry: Entry) -> tuple[str, str]:
    """The key that sorts entries by title as a reader would, then by id."""
    return (entry.title.casefold(), entry.doc_id)


def _by_weight(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: (-entry.links_in, *by_title(entry))))


def _entries(documents: pa.Table) -> tuple[Entry, ...]:
    columns = {
        name: documents.column(name).to_pylist()
        for name in documents.column_names
        if name not in ("text", "html")
    }
    several = len(set(columns["collection"])) > 1
    placed = [
        urls.Placed(doc_id, path, collection if several else "")
        for doc_id, path, collection in zip(
            columns["doc_id"], columns["path"], columns["collection"], strict=True
        )
    ]
    pages = urls.page_paths(placed)
    return tuple(_entry(row, columns, pages) for row in range(documents.num_rows))


def _entry(row: int, columns: Mapping[str, list[object]], pages: Mapping[str, str]) -> Entry:
    def text(name: str) -> str:
        return str(columns[name][row] or "")

    def number(name: str, missing: int) -> int:
        value = columns[name][row]
        return value if isinstance(value, int) else missing

    tags = columns["tags"][row]
    return Entry(
        row=row,
        doc_id=text("doc_id"),
        collection=text("collection"),
        path=text("path"),
        title=text("title") or text("path"),
        description=text("description"),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        modified=text("modified"),
        language=text("language"),
        syntax=text("syntax"),
        community=number("community", -1),
        links_in=number("links_in", 0),
        order=_order(text("front_matter")),
        page=pages[text("doc_id")],
    )


def _order(front_matter: str) -> float:
    """The place among its siblings that a page asks for in its front matter; without one, after those that do."""
    if not any(key in front_matter for key in ORDER_KEYS):
        return float("inf")
    given = json.loads(front_matter)
    for key in ORDER_KEYS:
        value = given.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return float("inf")


@dataclass(frozen=True, slots=True)
class Edges:
    """Distinct links between different documents, as row numbers, sorted by source, then target."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]

    def backlinks(self) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Each linked document with the documents that link to it, both in order."""
        order = np.lexsort((self.source, self.target))
        targets, starts = np.unique(self.target[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        for target, start, end in zip(targets.tolist(), starts.tolist(), ends[: len(starts)], strict=True):
            yield target, self.source[order[start:end]]


def _edges(links: pa.Table, by_id: Mapping[str, Entry]) -> Edges:
    found = links.filter(pc.is_valid(links.column("target_id")))
    names = pa.array([*by_id], pa.string())
    source, target = (
        pc.index_in(found.column(name), value_set=names).fill_null(-1).to_numpy().astype(np.int64)
        for name in ("source_id", "target_id")
    )
    keep = (source != target) & (source >= 0) & (target >= 0)
    pairs = np.unique(np.stack([source[keep], target[keep]], axis=1), axis=0)
    return Edges(pairs[:, 0], pairs[:, 1])
