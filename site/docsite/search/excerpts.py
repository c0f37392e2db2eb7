"""What hits show: titles, addresses and texts of a few neighbouring documents a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from ..library import SnapshotTables
from ..plan import SitePlan
from .files import Files
from .material import blocks
from .packing import text

# Characters of text in a file; packing leaves about two fifths.
GROUP_CHARS = 3_600
_SECTIONS_AT_A_TIME = 4_096
_BETWEEN = " › "
_NOT_IN_SLUG = re.compile(r"[^\w -]")


@dataclass(frozen=True, slots=True)
class Groups:
    """The names of the files, and the document and passage that each begins with; documents are in the library's order."""

    names: tuple[str, ...]
    documents: tuple[int, ...]
    ordinals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What every file with texts of a document says of it: its page, and the labels of the pages above that."""

    title: str
    page: str
    above: tuple[str, ...]
    modified: str


def cards(plan: SitePlan) -> tuple[Card, ...]:
    """The cards of all documents, in the library's order."""
    above = {page: tuple(node.label for node in trail[:-1]) for page, trail in plan.tree.trails.items()}
    return tuple(
        Card(entry.title, entry.page, above.get(entry.page, ()), entry.modified)
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


class Texts:
    """The passages of documents, a block in memory at a time, cut into pieces that a file has room for."""

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
        """All documents in order, of which each has so many passages, in pieces; one that is not long is whole."""
        texts = chain.from_iterable(block.to_pylist() for block in blocks(self._snapshot, "passages", "text"))
        start = 0
        for row, count in enumerate(counts):
            places = self._places.slice(start, count).to_pylist()
            yield from _cut(row, [_Passage(place, next(texts)) for place in places])
            start += count

    def section(self, place: int | None) -> list[object]:
        """Title, name and the headings above; a name that the title gives is 0."""
        if place is None:
            return ["", "", ""]
        title, slug, breadcrumb = (given or "" for given in self._row(place))
        above = breadcrumb.split(_BETWEEN)[1:-1]
        return [title, 0 if slug and slug == _slug(title) else slug, _BETWEEN.join(above)]

    def _row(self, place: int) -> tuple[str | None, ...]:
        """One section's columns: asked for in order, they are taken out of them many at a time."""
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
    """The name of a heading as the engine guesses it."""
    return _NOT_IN_SLUG.sub("", title.lower()).strip().replace(" ", "-")


def make_groups(
    shown: Sequence[Card], snapshot: SnapshotTables, counts: Sequence[int], files: Files
) -> Groups:
    """The files of all documents, of which each has a card and so many passages."""
    texts = Texts(snapshot)
    first: list[tuple[int, int]] = []

    def columns() -> Iterator[list[bytes]]:
        for group in _grouped(texts.pieces(counts)):
            first.append((group[0].row, group[0].ordinal))
            yield [text([_described(shown[piece.row], texts, piece) for piece in group])]

    names = files.add_all(columns())
    return Groups(names, tuple(row for row, _ in first), tuple(ordinal for _, ordinal in first))


def _described(card: Card, texts: Texts, piece: _Piece) -> list[object]:
    """What a browser shows of the piece: its document, its sections, and its passages as ``[section, text]``."""
    own = list(dict.fromkeys(each.section for each in piece.passages))
    passages = [[own.index(each.section), each.text] for each in piece.passages]
    sections = [texts.section(place) for place in own]
    return [card.title, card.page, card.above, card.modified, piece.ordinal, sections, passages]


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
