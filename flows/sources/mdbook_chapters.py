"""The documents that mdBook makes pages of: those that the table of contents of a book links."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from ...pipeline.filesystems.availability import real_path
from ...pipeline.navigation.summary import NAME as SUMMARY
from ...pipeline.navigation.summary import read_summary
from ...pipeline.parse.markdown.link_rules.brackets import bound_brackets
from ...pipeline.untrusted import read_toml
from .tool_settings import ABOVE, SettingsText, folders_near, texts_of

_SETTINGS, _SOURCE = ("book.toml",), "src"


@dataclass(frozen=True, slots=True)
class Book:
    """The chapters of the book in a folder of a collection, empty for its root; paths begin at the root."""

    folder: str
    chapters: tuple[str, ...]


def books_of(root: Path) -> tuple[Book, ...]:
    """Return the books in a collection's folder or around it, the innermost first; raise ``NotKnown``.

    Of those around it, only the innermost counts. One that links nothing, or around the folder nothing in
    it, leaves nothing out.
    """
    found = dict[str, Book]()
    for inner, source, top in sorted(_sources(root), key=lambda each: each[0].count("..")):
        folder = "" if inner in (".", "..") or inner.startswith("../") else inner
        summary = next(texts_of([Path(source)], (SUMMARY,)), None) if folder not in found else None
        linked = {*_linked(summary.text)} if summary else set[str]()
        paths = (os.path.relpath(posixpath.join(source, each), top) for each in (*linked, SUMMARY))
        chapters = tuple(sorted(each for each in {*paths} if not each.startswith("../")))
        if linked and chapters:
            found[folder] = Book(folder, chapters)
    return tuple(sorted(found.values(), key=lambda book: -len(book.folder)))


def without_a_page(books: Sequence[Book], paths: Iterable[str]) -> Iterator[str]:
    """Yield the markdown in the folder of a book that its table of contents does not link."""
    chapters = [(book.folder and f"{book.folder}/", {*book.chapters}) for book in books]
    for path in paths:
        own = next((linked for folder, linked in chapters if path.startswith(folder)), None)
        if own is not None and path.endswith(".md") and path not in own:
            yield path


def _sources(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the sources of books in a folder or around it: from there, in full, and the folder in full.

    Links may lead to either, so they are compared as written and as they are.
    """
    for found in texts_of(folders_near(root), _SETTINGS):
        if (source := _source(found)) is None:
            continue
        for full in (os.path.abspath, real_path):
            place, top = full(found.folder / source), full(root)
            inner = os.path.relpath(place, top)
            is_around = {*inner.split("/")} <= {".", ".."} and inner.count("..") <= ABOVE
            if is_around or not f"{inner}/".startswith("../"):
                yield inner, place, top


def _source(found: SettingsText) -> str | None:
    try:
        book = read_toml(found.text).get("book", {})
    except (ValueError, RecursionError):
        return None  # mdBook makes no page at all then
    source = book.get("src", _SOURCE) if isinstance(book, dict) else None
    return source.replace("\0", "\ufffd") if isinstance(source, str) else None


def _linked(summary: str) -> Iterator[str]:
    """Yield the paths in a table of contents: those of its chapters, and of all that is a link in it."""
    for target in _targets(summary):
        yield posixpath.normpath(unquote(target.partition("#")[0]) or ".")


def _targets(summary: str) -> Iterator[str]:
    pending = [*read_summary(summary).entries]
    while pending:
        entry = pending.pop()
        pending += entry.children
        if entry.target:
            yield entry.target
    md = MarkdownIt("commonmark", {"maxNesting": 100}).use(footnote_plugin)
    bound_brackets(md)
    for token in (each for block in md.parse(summary) for each in block.children or ()):
        if token.type == "link_open":
            yield str(token.attrs["href"])
