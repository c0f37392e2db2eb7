"""The domain model: sources, documents, sections, passages, code blocks, links and communities.

A ``Source`` is the bytes of a file. A ``Document`` is what a parser extracted from them. ``Section`` and
``Passage`` are cut from a document; ``CodeBlock`` and ``Link`` are found in it. The plain offsets ``start``
and ``end`` count characters of ``Document.text``; names that start with ``byte_`` count bytes of the same
text in UTF-8.
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
# How the names of notes begin that Dendron has for tags (``#x``) and for people (``@x``).
TAG_NOTES, PERSON_NOTES = "tags.", "user."
# The status of a link to a label that no document here has and another project of Sphinx may.
OTHER_PROJECT = "other-project"
# A "label" is of Sphinx and may be of another project; once resolved, it is a "link".
LinkKind = Literal["link", "wikilink", "transclusion", "image", "tag", "label"]


@dataclass(frozen=True, slots=True)
class PythonModule:
    """The bytes of a module that a document describes; ``is_package`` is true of an ``__init__.py``."""

    name: str
    content: bytes
    is_package: bool


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one file of a collection, and their SHA-256; ``path`` is relative, NFC, with ``/``.

    What the file includes of others is in its bytes; ``notes`` are remarks on what could not be included.
    ``modules`` are those that it describes; the hash covers them too. ``version`` is what a store calls these
    bytes; empty where the bytes are not those of one file alone. ``read_as`` is the ending of the files that
    it is read like, empty for those of its own. ``title`` is for a document that has none of its own.
    ``has_other_projects`` is true where Sphinx looks for labels in other projects too. ``autodoc`` are the
    options that its directives for modules and classes have besides their own.
    """

    collection: str
    path: str
    content: bytes
    sha256: str
    modified: str | None = None
    author: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()
    modules: tuple[PythonModule, ...] = ()
    version: str = ""
    read_as: str = ""
    has_other_projects: bool = False
    autodoc: tuple[tuple[str, str], ...] = ()

    @property
    def path_by_format(self) -> str:
        """Return the path with the ending that tells how the file is read."""
        return self.path + self.read_as


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """A row of a snapshot's report: a file that is left out and why, or a remark on one that is indexed."""

    collection: str
    path: str
    kind: Literal["skipped", "quarantined", "noted"]
    reason: str

    @property
    def is_left_out(self) -> bool:
        """Return whether the file is not indexed."""
        return self.kind != "noted"


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
    """A run of lines that form a unit: a paragraph, a list item, a table row, a code block.

    ``text`` is what a reader sees (no markup); ``code`` holds the code in it (a whole code block, or the
    inline code spans of a paragraph, one per line); ``language`` is a code block's.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    code: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: where it points is decided later, once all documents are known."""

    kind: LinkKind
    target: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser extracted from one source.

    ``text`` is the source with newlines normalized and template rules applied (markdown, plain text), its
    markdown without components (MDX) or outputs (notebooks), or the main content as plain text with one
    heading per line (HTML, reStructuredText). ``html`` is the sanitized main content of the last two, else
    empty. ``headings`` and ``blocks`` are in order and do not overlap; what they do not cover is blank or
    markup. ``inner_anchors`` are the names of headings in boxes, quotes and lists, which are no sections, and
    ``anchors`` other names in it that a link may point to. ``front_matter`` is canonical JSON. ``notes`` are
    remarks for the report.
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
    inner_anchors: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A node of the heading tree; the document itself is the node of depth 0.

    ``[byte_start, byte_end)`` runs from the line after the heading to the next heading of the same or a
    higher level, so it covers all descendants; ``[byte_start, body_end)`` ends at the first child's heading.
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
    """The unit of retrieval: part of one section's body, small enough for the embedding model to read whole.

    ``ordinal`` counts within the document. ``headings`` are the titles from the top section down to this one.
    ``tokens`` counts what the model reads: breadcrumb, text and special tokens. ``content_hash`` covers the
    embedded text, so equal passages share one vector.
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
    """A link with its ``status``, and the document it leads to in ``target_id`` where there is one.

    ``status`` is one of ``resolved``, ``external``, ``missing-document``, ``missing-heading``, ``asset``,
    ``missing-asset``, ``other-project``. A link with a missing heading still has its target document.
    ``asset`` is the path in the collection of the image or attachment that it names.
    """

    source_id: DocId
    target_id: DocId | None
    fragment: str
    kind: LinkKind
    target: str
    text: str
    ordinal: int
    status: str
    asset: str | None = None


def leads_nowhere(status: str) -> bool:
    """Return whether nothing here is known of what a link with this status names."""
    return status.startswith("missing-") or status == OTHER_PROJECT


@dataclass(frozen=True, slots=True)
class Community:
    """A Louvain community of linked documents, named by its distinctive terms."""

    community_id: int
    label: str
    terms: tuple[str, ...]
    size: int
    internal_weight: float
    share: float
