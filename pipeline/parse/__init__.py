"""Bytes become a ``Document``: the file's ending chooses the parser, and nothing but ``RejectedDocument`` gets out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from pipeline.address import address
from pipeline.errors import RejectedDocument
from pipeline.identity import doc_id
from pipeline.model import Block, Document, Heading, Source, Syntax
from pipeline.parse.decoding import decode
from pipeline.parse.front_matter import read_front_matter, unique
from pipeline.parse.html import read_html
from pipeline.parse.markdown import plain_markdown, read_markdown
from pipeline.parse.text import read_text
from pipeline.settings import Collection, Rule

_HTML_ENDINGS = frozenset({".html", ".htm", ".xhtml"})
# Some writers set code in a title as they would in the text.
_BACKTICKS = re.compile(r"`([^`]*)`")
_TEXT_ENDINGS = frozenset({".txt", ".text"})


def parse(source: Source, collection: Collection) -> Document:
    """The document that the source holds.

    Raises ``RejectedDocument``, and nothing else, when it cannot be read: the message gives the reason.
    """
    where = f"{source.collection}:{source.path}"
    try:
        return _READERS[syntax_of(source.path)](source, collection, where)
    except RejectedDocument:
        raise
    except RecursionError:
        raise RejectedDocument("nested too deeply to parse", where=where, hint="Flatten it.") from None
    except Exception as error:
        raise RejectedDocument(
            f"the parser failed: {type(error).__name__}: {error}", where=where, hint="Exclude the file."
        ) from error


def plain_piece(syntax: Syntax, piece: str) -> str:
    """A line or sentence of ``Document.text`` as a reader sees it."""
    return plain_markdown(piece) if syntax == "markdown" else piece


def syntax_of(path: str) -> Syntax:
    """The syntax that a file's ending stands for; markdown where it says nothing."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in _HTML_ENDINGS:
        return "html"
    return "text" if ending in _TEXT_ENDINGS else "markdown"


def _ruled(text: str, rules: tuple[Rule, ...]) -> str:
    for rule in rules:
        text = _compiled(rule.pattern).sub(rule.replacement, text)
    return text


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _markdown(source: Source, collection: Collection, where: str) -> Document:
    text = decode(source.content, where)
    front = read_front_matter(text, where)
    text = text[: front.end] + _ruled(text[front.end :], collection.rules)
    found = read_markdown(text, front.end, where)
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=_BACKTICKS.sub(r"\1", front.title)
        or _first_title(found.headings, found.blocks)
        or _stem(source.path),
        url=address(source.path, front.slug or None, collection.address),
        syntax="markdown",
        text=text,
        html="",
        sha256=source.sha256,
        language=front.language or collection.language,
        description=front.description,
        author=front.author,
        modified=source.modified or front.modified,
        tags=unique(front.tags + found.tags),
        aliases=front.aliases,
        keywords=front.keywords,
        front_matter=front.json,
        headings=found.headings,
        blocks=found.blocks,
        links=found.links,
        notes=found.notes,
    )


def _html(source: Source, collection: Collection, where: str) -> Document:
    page = read_html(_ruled(decode(source.content, where), collection.rules), where)
    return Document(
        doc_id=doc_id(source.collection, source.path),
        collection=source.collection,
        path=source.path,
        title=page.title or _first_title(page.headings, page.blocks) or _stem(source.path),
        url=address(source.path, None, collection.address),
        syntax="html",
        text=page.text,
        html=page.html,
        sha256=source.sha256,
        language=page.language or collection.language,
        description=page.description,
        author=page.author,
        modified=source.modified or page.modified,
        keywords=page.keywords,
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
        modified=source.modified,
        blocks=read_text(text),
    )


def _first_title(headings: Sequence[Heading], blocks: Sequence[Block]) -> str:
    """The first top heading; where there is none, the heading that the document opens with."""
    top = next((heading.text for heading in headings if heading.level == 1 and heading.text), "")
    if top or not headings:
        return top
    opens = not blocks or headings[0].start < blocks[0].start
    return headings[0].text if opens else ""


_READERS = {"markdown": _markdown, "html": _html, "text": _text}


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
