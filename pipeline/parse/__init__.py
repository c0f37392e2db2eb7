"""Parsing bytes into a ``Document``: the file's extension selects the parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from ..address import INDEX_NAMES, address
from ..directives import SHOWN, remarks
from ..encodings import decoded
from ..errors import DraftDocument, RejectedDocument, is_transient
from ..identity import canonical_json, doc_id
from ..includes.python_blocks import with_references
from ..model import PERSON_NOTES, TAG_NOTES, Block, Document, Link, Source, Syntax
from ..settings.collection import Collection, Rule
from ..visibility import DRAFT, visibility_of
from .canvas import markdown_of_canvas
from .content import ParsedContent
from .front_matter import NONE, FrontMatter, read_front_matter, unique
from .labels import LABEL_PREFIX
from .markdown.authoring import MORE, published_text
from .markdown.home import with_home
from .markdown.mdx import is_mdx, markdown_of_mdx
from .markdown.parser import plain_markdown, read_markdown
from .notebook import markdown_of_notebook

# Some authors mark up code in a title as they would in the text.
_BACKTICKS = re.compile(r"`([^`]*)`")
# Sphinx: a page that is in no table of contents on purpose; only other fields and comments stand before.
_ORPHAN = re.compile(r"(?:(?::[\w-]+:|\.\.)[^\n]*\n|[ \t]*\n)*:orphan:")
_MDX_EXCERPT = re.compile(r"\{/\*\s*(?:more|truncate)\s*\*/\}")
_PARAGRAPH = re.compile(r"(?:^[^\n]*\S[^\n]*(?:\n|\Z))+", re.MULTILINE)


def parse(source: Source, collection: Collection) -> Document:
    """Return the document that the source holds.

    Raises ``RejectedDocument``, whose message gives the reason, when it cannot be read, and ``DraftDocument``
    when it says that it is not published. Otherwise only ``MemoryError`` and an ``OSError`` that may go away
    by itself can leave this function.
    """
    where = f"{source.collection}:{source.path}"
    try:
        suffix = PurePosixPath(source.path_by_format).suffix.lower()
        if (read_bytes := _BINARY_READERS.get(suffix)) is not None:
            return _document(source, collection, "html", read_bytes(source.content, source.path, where))
        read = _READERS.get(suffix, _markdown)
        return read(decoded(source.content, where, collection.encoding), source, collection, where)
    except (RejectedDocument, MemoryError):
        raise
    except RecursionError:
        raise RejectedDocument("nested too deeply to parse", where=where, hint="Flatten it.") from None
    except Exception as error:
        if is_transient(error):  # a module that was not loaded yet, and no file handle left to load it
            raise
        raise RejectedDocument(
            f"the parser failed: {type(error).__name__}: {error}", where=where, hint="Exclude the file."
        ) from error


def plain_piece(syntax: Syntax, piece: str) -> str:
    """Return a line or sentence of ``Document.text`` as a reader sees it."""
    return plain_markdown(piece) if syntax == "markdown" else piece


def _ruled(text: str, rules: tuple[Rule, ...]) -> str:
    for rule in rules:
        text = re.sub(rule.pattern, rule.replacement, text)
    return text


def _markdown(text: str, source: Source, collection: Collection, where: str) -> Document:
    front = _front_matter(text, collection, where)
    body = _ruled(text[front.end :], collection.rules)
    removed: tuple[str, ...] = ()
    if PurePosixPath(source.path).suffix.lower() == ".mdx" or is_mdx(body):
        mdx = markdown_of_mdx(_MDX_EXCERPT.sub(MORE, body), json.loads(front.json))
        body, removed = mdx.text, remarks(text, mdx.removed, "is a program's and is removed")
    body = published_text(with_home(body, front.json), front.json)
    if source.modules:
        from ..python_api.autodoc import with_autodoc
        from ..python_api.pages import with_descriptions  # Griffe takes as long as BeautifulSoup

        described = with_descriptions(body, source.modules, collection.api, collection.max_bytes)
        auto = with_autodoc(described.text, source.modules, collection.max_bytes, source.autodoc)
        body, removed = auto.text, (*removed, *described.notes, *auto.notes)
    if collection.api.packages or collection.heading_references:
        body = with_references(
            body, collection.api.packages, are_headings_named=collection.heading_references
        )
    content = read_markdown(text[: front.end] + body, front.end, where)
    if removed or content.leftovers:
        shown = remarks(text, content.leftovers, SHOWN)
        content = replace(content, notes=(*content.notes, *removed, *shown))
    return _document(source, collection, "markdown", content, front)


def _notebook(text: str, source: Source, collection: Collection, where: str) -> Document:
    return _markdown(markdown_of_notebook(text, where), source, collection, where)


def _canvas(text: str, source: Source, collection: Collection, where: str) -> Document:
    return _markdown(markdown_of_canvas(text, source.path, where), source, collection, where)


def _html(text: str, source: Source, collection: Collection, where: str) -> Document:
    from .html.parser import read_html  # BeautifulSoup takes a tenth of a second to load

    front = _front_matter(text, collection, where)
    content = read_html(_ruled(text[front.end :], collection.rules), where)
    return _document(source, collection, "html", content, front)


def _rst(text: str, source: Source, collection: Collection, where: str) -> Document:
    from .html.parser import read_html
    from .rst.parser import rst_page  # docutils takes as long as BeautifulSoup

    front, notes = _front_matter(text, collection, where), tuple[str, ...]()
    ruled = _ruled(text[front.end :], collection.rules)
    if source.modules:
        from ..python_api.autodoc import with_autodoc

        described = with_autodoc(ruled, source.modules, collection.max_bytes, source.autodoc)
        ruled, notes = described.text, described.notes
    page = rst_page(ruled, where)
    content = read_html(page.html, where)
    if _ORPHAN.match(text, front.end):
        front = replace(front, json=canonical_json({**json.loads(front.json), "orphan": True}))
    notes = (*content.notes, *notes, *remarks(text, page.failed, SHOWN))
    return _document(source, collection, "html", replace(content, notes=notes), front)


def _pdf(content: bytes, path: str, where: str) -> ParsedContent:
    from .pdf import read_pdf

    return read_pdf(content, path, where)


def _word(content: bytes, path: str, where: str) -> ParsedContent:
    from .word import read_word

    return read_word(content, path, where)


def _text(text: str, source: Source, collection: Collection, where: str) -> Document:
    front = _front_matter(text, collection, where, is_plain=True)
    ruled = _ruled(text[front.end :], collection.rules)
    paragraphs = (found for found in _PARAGRAPH.finditer(ruled) if found[0].strip())
    blocks = tuple(Block("text", found.start(), found.end(), found[0].strip()) for found in paragraphs)
    return _document(source, collection, "text", ParsedContent(ruled, blocks), front)


def _labels(links: Iterable[Link]) -> Iterator[Link]:
    """Yield the links, of which those to labels may lead to another project."""
    for link in links:
        yield replace(link, kind="label") if link.target.startswith(f"#{LABEL_PREFIX}") else link


def _title(source: Source, content: ParsedContent, syntax: Syntax) -> str:
    """Return the title of a document whose front matter gives none.

    What the navigation calls it comes before a heading of the second level, which is one of several; the name
    of a vault's note also before one of the first level that is one of several or stands below others. HTML
    has a title apart from its headings.
    """
    tops = [each.text for each in content.headings if each.level == 1]
    first = next((each.text for each in content.headings), "")
    named = _BACKTICKS.sub(r"\1", source.title)
    is_of_a_part = content.title == first and not tops
    if named == PurePosixPath(source.path).stem:
        is_of_a_part = is_of_a_part or tops[:1] != [first] or len(tops) > 1
    titles = (named, content.title) if is_of_a_part and syntax != "html" else (content.title, named)
    return next(filter(None, titles), "") or _name(source)


def _name(source: Source) -> str:
    """Return what a document without a title is called: an index like its folder, others like their file."""
    path = PurePosixPath(source.path)
    is_index = path.stem.lower() in INDEX_NAMES
    return (path.parent.name or source.collection) if is_index else path.stem


def _document(
    source: Source, collection: Collection, syntax: Syntax, content: ParsedContent, front: FrontMatter = NONE
) -> Document:
    """Return the document; what its front matter says comes before what its content says."""
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=_BACKTICKS.sub(r"\1", front.title) or _title(source, content, syntax),
        url=address(source.path, front.slug or None, collection.address),
        syntax=syntax,
        text=content.text,
        html=content.html,
        sha256=source.sha256,
        language=front.language or content.language or collection.language,
        description=front.description or content.description,
        author=front.author or content.author or source.author,
        modified=source.modified or front.modified or content.modified,
        tags=unique(front.tags + content.tags),
        aliases=front.aliases,
        keywords=unique(front.keywords + content.keywords),
        front_matter=front.json,
        headings=content.headings,
        inner_anchors=content.inner_anchors,
        anchors=content.anchors,
        blocks=content.blocks,
        links=(
            *_links_to_notes(unique(front.tags + content.tags), content.people),
            *(_labels(content.links) if source.has_other_projects else content.links),
        ),
        notes=tuple(
            filter(None, (*source.notes, front.fault, *content.notes, visibility_of(front.json).remark))
        ),
    )


def _links_to_notes(tags: tuple[str, ...], people: tuple[str, ...]) -> Iterator[Link]:
    """Yield links to the notes that tags and people have in Dendron; most collections have no such notes."""
    yield from (Link("tag", f"{TAG_NOTES}{tag}", tag, 0) for tag in tags)
    yield from (Link("tag", f"{PERSON_NOTES}{name}", name, 0) for name in people)


def _front_matter(text: str, collection: Collection, where: str, *, is_plain: bool = False) -> FrontMatter:
    """Return the front matter of the text; raises ``DraftDocument`` if it leaves the document out."""
    front = read_front_matter(text, where, is_plain=is_plain)
    if front.draft and not collection.drafts:
        raise DraftDocument(
            f"{DRAFT} ({front.draft})", where=where, hint="To include it: drafts = true in its collection."
        )
    return front


# Markdown where the settings include a file with another extension.
_READERS = {
    ".canvas": _canvas,
    ".htm": _html,
    ".html": _html,
    ".ipynb": _notebook,
    ".rest": _rst,
    ".rst": _rst,
    ".text": _text,
    ".txt": _text,
    ".xhtml": _html,
}
_BINARY_READERS = {".docx": _word, ".pdf": _pdf}
