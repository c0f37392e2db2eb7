"""Parsing bytes into a ``Document``: the file's extension selects the parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from ..address import address
from ..errors import DraftDocument, RejectedDocument, is_transient
from ..identity import doc_id
from ..model import Block, Document, Heading, Source, Syntax
from ..settings.collection import Collection, Rule
from .decoding import decode
from .front_matter import NONE, FrontMatter, read_front_matter, unique
from .labels import myst_anchors, myst_label
from .markdown.mdx import markdown_of_mdx
from .markdown.parser import plain_markdown, read_markdown
from .notebook import markdown_of_notebook
from .text import read_text

# Some authors mark up code in a title as they would in the text.
_BACKTICKS = re.compile(r"`([^`]*)`")


def parse(source: Source, collection: Collection) -> Document:
    """Return the document that the source holds.

    Raises ``RejectedDocument``, whose message gives the reason, when it cannot be read, and ``DraftDocument``
    when it says that it is not published. Otherwise only ``MemoryError`` and an ``OSError`` that may go away
    by itself can leave this function.
    """
    where = f"{source.collection}:{source.path}"
    try:
        return _reader(source.path)(source, collection, where)
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
        text = _compiled(rule.pattern).sub(rule.replacement, text)
    return text


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _markdown(source: Source, collection: Collection, where: str) -> Document:
    return _markdown_document(source, collection, decode(source.content, where), where)


def _mdx(source: Source, collection: Collection, where: str) -> Document:
    return _markdown_document(source, collection, decode(source.content, where), where, markdown_of_mdx)


def _notebook(source: Source, collection: Collection, where: str) -> Document:
    text = markdown_of_notebook(decode(source.content, where), where)
    return _markdown_document(source, collection, text, where)


def _markdown_document(
    source: Source, collection: Collection, text: str, where: str, cleaned: Callable[[str], str] = str
) -> Document:
    front = _front_matter(text, collection, where)
    text = text[: front.end] + cleaned(_ruled(text[front.end :], collection.rules))
    found = read_markdown(text, front.end, where)
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=_front_title(front) or _first_title(found.headings, found.blocks) or _stem(source.path),
        url=address(source.path, front.slug or None, collection.address),
        syntax="markdown",
        text=text,
        html="",
        sha256=source.sha256,
        language=front.language or collection.language,
        description=front.description,
        author=front.author or source.author,
        modified=source.modified or front.modified,
        tags=unique(front.tags + found.tags),
        aliases=front.aliases,
        keywords=front.keywords,
        front_matter=front.json,
        headings=found.headings,
        anchors=myst_anchors(found.blocks),
        blocks=tuple(block for block in found.blocks if not myst_label(block)),
        links=found.links,
        notes=found.notes,
    )


def _html(source: Source, collection: Collection, where: str) -> Document:
    text = decode(source.content, where)
    front = _front_matter(text, collection, where)
    return _page_document(source, collection, _ruled(text[front.end :], collection.rules), where, front)


def _rst(source: Source, collection: Collection, where: str) -> Document:
    from .rst.parser import rst_html  # docutils takes a tenth of a second to load

    text = _ruled(decode(source.content, where), collection.rules)
    return _page_document(source, collection, rst_html(text, where), where)


def _page_document(
    source: Source, collection: Collection, html: str, where: str, front: FrontMatter = NONE
) -> Document:
    from .html.parser import read_html  # BeautifulSoup takes as long as docutils

    page = read_html(html, where)
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=_front_title(front)
        or page.title
        or _first_title(page.headings, page.blocks)
        or _stem(source.path),
        url=address(source.path, front.slug or None, collection.address),
        syntax="html",
        text=page.text,
        html=page.html,
        sha256=source.sha256,
        language=front.language or page.language or collection.language,
        description=front.description or page.description,
        author=front.author or page.author or source.author,
        modified=source.modified or front.modified or page.modified,
        tags=front.tags,
        aliases=front.aliases,
        keywords=unique(front.keywords + page.keywords),
        front_matter=front.json,
        headings=page.headings,
        anchors=page.anchors,
        blocks=page.blocks,
        links=page.links,
    )


def _text(source: Source, collection: Collection, where: str) -> Document:
    text = _ruled(decode(source.content, where), collection.rules)
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=_stem(source.path),
        url=address(source.path, None, collection.address),
        syntax="text",
        text=text,
        html="",
        sha256=source.sha256,
        language=collection.language,
        author=source.author,
        modified=source.modified,
        blocks=read_text(text),
    )


def _front_matter(text: str, collection: Collection, where: str) -> FrontMatter:
    """Return the front matter of the text; raises ``DraftDocument`` if it leaves the document out."""
    front = read_front_matter(text, where)
    if front.draft and not collection.drafts:
        raise DraftDocument(
            f"is a draft ({front.draft})", where=where, hint="To include it: drafts = true in its collection."
        )
    return front


def _front_title(front: FrontMatter) -> str:
    return _BACKTICKS.sub(r"\1", front.title)


def _first_title(headings: Sequence[Heading], blocks: Sequence[Block]) -> str:
    """Return the first top-level heading, or else the heading that the document opens with."""
    top = next((heading.text for heading in headings if heading.level == 1 and heading.text), "")
    if top or not headings:
        return top
    opens = not blocks or headings[0].start < blocks[0].start
    return headings[0].text if opens else ""


_READERS = {
    ".htm": _html,
    ".html": _html,
    ".ipynb": _notebook,
    ".mdx": _mdx,
    ".rest": _rst,
    ".rst": _rst,
    ".text": _text,
    ".txt": _text,
    ".xhtml": _html,
}


def _reader(path: str) -> Callable[[Source, Collection, str], Document]:
    """Return the parser for that file extension; markdown where the settings do not say."""
    return _READERS.get(PurePosixPath(path).suffix.lower(), _markdown)


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
