"""The documents of a snapshot as a program reads them: markdown, with the place of each section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...artifacts.query.index.corpus import CorpusReader
from ...artifacts.query.index.documents import RowsByDocument, listed_documents
from ...artifacts.query.index.postings import TableRows
from ...pipeline.address import with_anchor
from ...pipeline.marked_text import CodeMark, HeadingMark, MarkedText, as_written, with_marks
from ...pipeline.printable import is_printable, printable
from .token_counter import TokenCounter, counter_of

Visible = frozenset[str] | None
_SECTION_COLUMNS = ("slug", "title", "depth", "byte_start", "byte_end", "body_end")


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """A section of a document by characters of its markdown: its heading begins at ``start``, its own text
    at ``body_start``; that ends at ``body_end``, and what is below it at ``end``.
    """

    slug: str
    title: str
    level: int
    start: int
    body_start: int
    body_end: int
    end: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document as markdown; the first section is the document itself and has no slug."""

    row: int
    doc_id: str
    title: str
    url: str
    markdown: MarkedText
    sections: tuple[SectionPlace, ...]

    @property
    def text(self) -> str:
        """Return the markdown."""
        return self.markdown.text

    def section(self, slug: str) -> SectionPlace | None:
        """Return the section with this anchor, if there is one."""
        return next((each for each in self.sections if each.slug == slug), None)

    def section_at(self, place: int) -> SectionPlace:
        """Return the innermost section in which a character stands."""
        return [each for each in self.sections if each.start <= place][-1]


class _Tables:
    """The tables of one snapshot that hold text, and the counter of its tokens."""

    def __init__(self, corpus: CorpusReader) -> None:
        snapshot = corpus.snapshot
        self.counter: TokenCounter = counter_of(snapshot)
        self.columns = TableRows(snapshot, "documents", ("text", "syntax"))
        self.sections = RowsByDocument(corpus, "sections", _SECTION_COLUMNS)
        self.code = RowsByDocument(corpus, "code_blocks", ("language", "byte_start", "byte_end"))
        self.passages = TableRows(snapshot, "passages", ("byte_start", "byte_end"))


class SnapshotDocuments:
    """Reads documents of one snapshot as markdown, and counts their tokens; threads may share it.

    ``visible`` are the collections whose documents may be named, ``None`` for all.
    """

    def __init__(self, corpus: CorpusReader, visible: Visible = None, tables: _Tables | None = None) -> None:
        self.corpus, self.visible = corpus, visible
        self._tables = tables or _Tables(corpus)
        self.counter = self._tables.counter

    def limited_to(self, visible: Visible) -> SnapshotDocuments:
        """Return the documents of these collections only, read from the same tables."""
        return SnapshotDocuments(self.corpus, visible, self._tables)

    def sees(self, doc_id: str) -> bool:
        """Return whether a document may be named."""
        return self.visible is None or doc_id.partition(":")[0] in self.visible

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Return the ids of all documents that lists may name, in order."""
        return tuple(filter(self.sees, listed_documents(self.corpus.snapshot)))

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Return the title of each document that lists may name."""
        documents, listed = self.corpus.documents, frozenset(self.listed)
        pairs = zip(*(documents.column(each).to_pylist() for each in ("doc_id", "title")), strict=True)
        return {name: str(title or name) for name, title in pairs if name in listed}

    @cached_property
    def collections(self) -> Mapping[str, int]:
        """Return how many documents each collection lists, by name."""
        return dict(sorted(Counter(name.partition(":")[0] for name in self.listed).items()))

    def read(self, row: int) -> DocumentText:
        """Return the document in a row."""
        shown, columns = self.corpus.document(row), self._tables.columns.of(row)
        text, doc_id = str(columns["text"] or ""), str(shown["doc_id"])
        sections = self._tables.sections.of(row)
        markdown = self._markdown(row, doc_id, text, str(columns["syntax"] or ""), sections)
        end = len(text.encode())
        places = [SectionPlace("", str(shown["title"]), 0, 0, 0, len(markdown.text), len(markdown.text))]
        for each in sections:
            start = markdown.heading_place(each["byte_start"]) if each["slug"] else 0
            names = ("byte_start", "body_end", "byte_end")
            bounds = [markdown.place(min(each[name], end)) for name in names]
            place = SectionPlace(str(each["slug"] or ""), str(each["title"]), each["depth"], start, *bounds)
            if place.slug:
                places.append(place)
            else:
                places[0] = place
        places[1:] = sorted(places[1:], key=lambda each: each.start)
        return DocumentText(row, doc_id, str(shown["title"]), str(shown["url"]), markdown, tuple(places))

    def _markdown(
        self, row: int, doc_id: str, text: str, syntax: str, sections: Sequence[Mapping[str, Any]]
    ) -> MarkedText:
        if syntax != "html":
            return as_written(text, doc_id)
        headings = [HeadingMark(each["byte_start"], each["depth"]) for each in sections if each["slug"]]
        blocks = self._tables.code.of(row)
        code = [CodeMark(str(b["language"] or ""), b["byte_start"], b["byte_end"]) for b in blocks]
        return with_marks(text, headings, code)

    def passage_span(self, document: DocumentText, ordinal: int) -> tuple[int, int] | None:
        """Return the characters of a passage in its document; ``None`` if it has none of that number."""
        first, last = self.corpus.first_passage[document.row : document.row + 2].tolist()
        if not 0 <= ordinal < last - first:
            return None
        span = self._tables.passages.of(first + ordinal)
        return document.markdown.place(span["byte_start"]), document.markdown.place(span["byte_end"])

    def address(self, document: DocumentText, slug: str) -> str:
        """Return the address of a section as its collection is published."""
        collection = document.doc_id.partition(":")[0]
        return with_anchor(document.url, slug, self.corpus.addresses[collection])


def one_line(text: str, most: int = 200) -> str:
    """Return a text from a document as one printable line of bounded length."""
    line = " ".join(text.split())
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return line if is_printable(line) else printable(line)


def quoted(text: str) -> str:
    """Return text of a document with a mark before each line, so that none passes for the server's own."""
    return "\n".join(f"> {printable(line.rstrip())}".rstrip() for line in text.split("\n"))
