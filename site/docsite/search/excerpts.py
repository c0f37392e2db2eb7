"""What hits show: titles, addresses and texts, of a few neighbouring documents in each file.

The directory of these files lies in files of its own, 64 names in each, so that the manifest stays small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..library import SnapshotTables
from ..outline.plan import SitePlan
from .files import Files
from .format import BREADCRUMB_SEPARATOR, EXCERPT_DIRECTORY, EXCERPTS
from .material import blocks

# Characters of text in a file; packing leaves about two fifths.
GROUP_CHARS = 3_600
_SECTIONS_AT_A_TIME = 4_096
_FILES_IN_A_DIRECTORY = 64
_NOT_IN_SLUG = re.compile(r"[^\w -]")


@dataclass(frozen=True, slots=True)
class ExcerptFiles:
    """The names of files in order, with the document and the passage of it that each begins with.

    The files are those with excerpts, or those of their directory; documents are in the library's order.
    """

    names: tuple[str, ...]
    documents: tuple[int, ...]
    ordinals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What excerpts say of a document: title, page, labels of the pages above, and date."""

    title: str
    page: str
    above: tuple[str, ...]
    modified: str


def cards(plan: SitePlan) -> tuple[Card, ...]:
    """Return the cards of all documents, in the library's order."""
    above = {page: tuple(node.label for node in trail[:-1]) for page, trail in plan.tree.trails.items()}
    return tuple(
        Card(entry.title, entry.page, above.get(entry.page, ()), entry.modified)
        if entry.shown.searched
        else Card("", "", (), "")
        for entry in plan.library.entries
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """Passages of one document from ``ordinal`` on, each with the place of its section."""

    row: int
    ordinal: int
    passages: Sequence[_Passage]


@dataclass(frozen=True, slots=True)
class _Passage:
    section: int | None
    text: str


class ExcerptTexts:
    """A reader of documents' passages that cuts them, a block at a time, into pieces that fit a file."""

    def __init__(self, snapshot: SnapshotTables) -> None:
        self._snapshot = snapshot
        sections = snapshot.table("sections", ["section_id", "slug", "title", "breadcrumb"])
        ids = sections["section_id"].combine_chunks()
        places = pc.index_in(snapshot.table("passages", ["section_id"])["section_id"], value_set=ids)
        self._places = places.combine_chunks()
        self._sections = [sections[name].combine_chunks() for name in ("title", "slug", "breadcrumb")]
        self._first, self._some = 0, list[tuple[str | None, ...]]()
        pa.default_memory_pool().release_unused()

    def pieces(self, counts: Sequence[int]) -> Iterator[_Piece]:
        """Yield all documents in order, with this many passages each, in pieces; a short one is whole."""
        texts = chain.from_iterable(block.to_pylist() for block in blocks(self._snapshot, "passages", "text"))
        start = 0
        for row, count in enumerate(counts):
            places = self._places.slice(start, count).to_pylist()
            yield from _cut(row, [_Passage(place, next(texts)) for place in places])
            start += count

    def section(self, place: int | None) -> list[object]:
        """Return title, slug and the headings above; a slug that follows from the title is 0."""
        if place is None:
            return ["", "", ""]
        title, slug, breadcrumb = (given or "" for given in self._row(place))
        above = breadcrumb.split(BREADCRUMB_SEPARATOR)[1:-1]
        return [title, 0 if slug and slug == _slug(title) else slug, BREADCRUMB_SEPARATOR.join(above)]

    def _row(self, place: int) -> tuple[str | None, ...]:
        """Return one section's columns; as sections are asked for in order, many are read at a time."""
        if not 0 <= place - self._first < len(self._some):
            self._first = place
            some = (column.slice(place, _SECTIONS_AT_A_TIME).to_pylist() for column in self._sections)
            self._some = list(zip(*some, strict=True))
        return self._some[place - self._first]


def _cut(row: int, passages: Sequence[_Passage]) -> Iterator[_Piece]:
    run: list[_Passage] = []
    first = size = 0
    for ordinal, each in enumerate(passages):
        if run and size + len(each.text) > GROUP_CHARS:
            yield _Piece(row, first, run)
            run, first, size = [], ordinal, 0
        run.append(each)
        size += len(each.text)
    yield _Piece(row, first, run)


def _slug(title: str) -> str:
    """Return the slug of a heading as the client guesses it."""
    return _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")


def make_excerpts(
    shown: Sequence[Card], snapshot: SnapshotTables, counts: Sequence[int], files: Files
) -> ExcerptFiles:
    """Add the files of all documents, each of which has a card and this many passages."""
    texts = ExcerptTexts(snapshot)
    first: list[tuple[int, int]] = []

    def columns() -> Iterator[list[bytes]]:
        for group in _grouped(texts.pieces(counts)):
            first.append((group[0].row, group[0].ordinal))
            yield EXCERPTS.pack(
                {"documents": [_described(shown[piece.row], texts, piece) for piece in group]}
            )

    names = files.add_all(columns())
    return ExcerptFiles(names, tuple(row for row, _ in first), tuple(ordinal for _, ordinal in first))


def _described(card: Card, texts: ExcerptTexts, piece: _Piece) -> list[object]:
    """Return what a browser shows of the piece: document, sections, passages as ``[section, text]``."""
    own = list(dict.fromkeys(each.section for each in piece.passages))
    passages = [[own.index(each.section), each.text] for each in piece.passages]
    sections = [texts.section(place) for place in own]
    return [card.title, card.page, card.above, card.modified, piece.ordinal, sections, passages]


def make_directory(excerpts: ExcerptFiles, files: Files) -> ExcerptFiles:
    """Add the directory of files with excerpts, and return its own files."""
    starts = range(0, len(excerpts.names), _FILES_IN_A_DIRECTORY)
    parts = [slice(at, at + _FILES_IN_A_DIRECTORY) for at in starts]
    names = files.add_all(
        EXCERPT_DIRECTORY.pack(
            {
                "file_names": bytes.fromhex("".join(excerpts.names[part])),
                **first_rows(excerpts.documents[part], excerpts.ordinals[part]),
            }
        )
        for part in parts
    )
    first = slice(None, None, _FILES_IN_A_DIRECTORY)
    return ExcerptFiles(names, excerpts.documents[first], excerpts.ordinals[first])


def first_rows(documents: Sequence[int], ordinals: Sequence[int]) -> Mapping[str, object]:
    """Return the columns that say with which document and passage each file begins."""
    gaps = np.diff(np.array(documents, dtype=np.int64), prepend=0)
    return {"first_document_gap": gaps, "first_ordinal": ordinals}


def _grouped(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        weight = sum(len(each.text) + 20 for each in piece.passages) + 60
        if group and size + weight > GROUP_CHARS:
            yield group
            group, size = [], 0
        group.append(piece)
        size += weight
    if group:
        yield group
