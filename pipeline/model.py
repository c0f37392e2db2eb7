"""The nouns of the house.

A ``Source`` is bytes with a name. A ``Document`` is what a parser understood of them. ``Section`` and
``Passage`` are cut from a document; ``CodeBlock`` and ``Link`` are found in it. Offsets that end in nothing
(``start``, ``end``) count characters of ``Document.text``; those that start with ``byte_`` count bytes of the
same text in UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType

DocId = NewType("DocId", str)
SectionId = NewType("SectionId", str)
PassageId = NewType("PassageId", str)
SnapshotId = NewType("SnapshotId", str)

Syntax = Literal["markdown", "html", "text"]
BlockKind = Literal["text", "list", "table", "code"]
LinkKind = Literal["link", "wikilink", "transclusion", "image"]


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one file of a collection, and their SHA-256; ``path`` is relative, NFC, with ``/``."""

    collection: str
    path: str
    content: bytes
    sha256: str
    modified: str | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A file that was skipped or quarantined and why, or a remark on one that was indexed."""

    collection: str
    path: str
    kind: Literal["skipped", "quarantined", "noted"]
    reason: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line: ``[start, end)`` covers the whole line with its newline; ``text`` is plain.

    ``anchor`` is the name that the source itself gives the heading (an HTML ``id``), else empty.
    """

    level: int
    text: str
    start: int
    end: int
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines that read as one: a paragraph, a list item, a table row, a code block.

    ``text`` is what a reader sees (no markup); ``code`` holds the code in it (a whole code block, or the
    inline code spans of a paragraph, one a line); ``language`` is a code block's.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    code: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A reference as written: where it points is decided later, when all documents are known."""

    kind: LinkKind
    target: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser understood of one source.

    ``text`` is the source with newlines normalised and template rules applied (markdown, plain text), its markdown
    without components (MDX) or outputs (notebooks), or the main content as plain text with one heading a line (HTML,
    reStructuredText). ``html`` is the sanitised main content of those two, else empty. ``headings`` and ``blocks`` are in order and do not overlap; what they leave out
    is blank or markup. ``anchors`` are the names in it that a link may end in, besides its headings.
    ``front_matter`` is canonical JSON. ``notes`` are remarks for the report.
    """

    doc_id: DocId
    collection: str
    path: str
    title: str
    url: str
    syntax: Syntax
    text: str
    html: str
    sha256: str
    language: str
    description: str = ""
    author: str = ""
    modified: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    front_matter: str = "{}"
    headings: tuple[Heading, ...] = ()
    anchors: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A node of the heading tree; the document itself is the node of depth 0.

    ``[byte_start, byte_end)`` runs from the line after the heading to the next heading of the same or a
    higher level, so it covers all descendants; ``[byte_start, body_end)`` stops at the first child's heading.
    """

    section_id: SectionId
    doc_id: DocId
    parent_id: SectionId | None
    depth: int
    position: int
    title: str
    slug: str
    breadcrumb: str
    byte_start: int
    byte_end: int
    body_end: int
    sibling_count: int
    body: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The retrieval unit: part of one section's body, small enough for the embedding model to read whole.

    ``ordinal`` counts within the document. ``headings`` are the titles from the first section down to this
    one. ``tokens`` counts what the model reads: breadcrumb, text and special tokens. ``content_hash`` is of
    the embedded text, so equal passages share one vector.
    """

    passage_id: PassageId
    doc_id: DocId
    section_id: SectionId
    ordinal: int
    text: str
    code: str
    breadcrumb: str
    headings: tuple[str, ...]
    byte_start: int
    byte_end: int
    tokens: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced, indented or ``<pre>`` block of a section."""

    doc_id: DocId
    section_id: SectionId
    ordinal: int
    language: str
    text: str
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link with its fate: ``target_id`` when it was found, else the reason why not in ``status``.

    ``status`` is one of ``resolved``, ``external``, ``missing-document``, ``missing-heading``, ``asset``.
    A missing heading still has its target document.
    """

    source_id: DocId
    target_id: DocId | None
    fragment: str
    kind: LinkKind
    target: str
    text: str
    ordinal: int
    status: str


@dataclass(frozen=True, slots=True)
class Community:
    """A Louvain community of linked documents, named by the terms that set it apart."""

    community_id: int
    label: str
    terms: tuple[str, ...]
    size: int
    internal_weight: float
    share: float
