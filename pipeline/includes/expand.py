"""Replaces include directives by what they include, within bounds of depth and size.

A directive that cannot be followed is removed, with a remark that names its line: a reader of a page or of
the index never sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol

from ..directives import NOT_INCLUDED
from . import code_variants, liquid, mdbook, mdx_imports, vitepress
from .hugo import shortcodes as hugo
from .jekyll import kramdown_boxes
from .logseq import blocks as logseq
from .logseq.page_heads import page_head
from .mkdocs import include_markdown, macros, markdown_extensions
from .parts import Composed, Directive, Literal, NoSuchPart, indented
from .project import Context
from .quarto import cross_references as quarto
from .sphinx import inclusions as sphinx
from .vaults import queries as vaults
from .vaults.line_breaks import with_line_breaks

MAX_DEPTH = 10
_MAX_NOTES = 200
# A line of a large file, asked for again and again, costs a look at all of the file each time.
_MAX_READ = 10
_LEAST_READ = 1_000
# The tag of include-markdown is also one of Liquid: the first of two at a place counts.
_OF_MARKDOWN = (mdbook, markdown_extensions, include_markdown, code_variants)
# These know the document's front matter and its project too.
_WITH_CONTEXT = (vitepress, liquid, hugo, mdx_imports, kramdown_boxes, logseq, quarto, vaults)
MARKDOWN_MARKS = (*sphinx.MYST_MARKS, *(m for each in (*_OF_MARKDOWN, *_WITH_CONTEXT) for m in each.MARKS))

_NO_CONTEXT = Context()
_IS_RST = {".md": False, ".markdown": False, ".mdx": False, ".qmd": False, ".rst": True, ".rest": True}


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark, and a byte of it that prose seldom has: one is found ten times as fast as several."""

    whole: bytes
    rare: bytes


def _marks(given: Iterable[str]) -> tuple[_Mark, ...]:
    pairs = ((each, re.search(r"[^\w\s]|_", each)) for each in given)
    return tuple(_Mark(each.encode(), (rare[0] if rare else each).encode()) for each, rare in pairs)


_MARKDOWN_BYTES, _RST_BYTES = _marks(MARKDOWN_MARKS), _marks(sphinx.MARKS)


_IN_ITSELF = "the file includes itself"


class NotIncluded(Exception):
    """A file cannot be included; the message says why."""


@dataclass(frozen=True, slots=True)
class IncludedFile:
    """The text of an included file, and its real path, which tells whether it includes itself."""

    path: str
    text: str


class FindIncluded(Protocol):
    """Finds what a directive names; raises ``NotIncluded``."""

    def __call__(self, target: str, included_by: str) -> IncludedFile:
        """Return the file that ``target`` means in the file at ``included_by``."""


@dataclass(frozen=True, slots=True)
class ExpandedText:
    """A text whose directives were followed, and a remark on each that could not be.

    ``has_read`` is true where one named a file, whether there is such a file or not.
    """

    text: str
    notes: tuple[str, ...]
    has_read: bool = False


def has_directives(content: bytes, path: str) -> bool:
    """Return whether a file may hold directives, by a scan of its bytes."""
    is_rst = _IS_RST.get(_suffix(path))
    marks = () if is_rst is None else _RST_BYTES if is_rst else _MARKDOWN_BYTES
    return any(mark.rare in content and mark.whole in content for mark in marks)


def expand(
    text: str, path: str, find: FindIncluded, max_chars: int, context: Context = _NO_CONTEXT
) -> ExpandedText:
    """Return the text of the file at the real path ``path`` with everything it includes.

    What would make it longer than ``max_chars`` characters is not included, and nothing more once ten times
    as many were read. ``context`` has the values that the text may name.
    """
    expander = _Expander(find, max_chars - len(text), _MAX_READ * max_chars, context)
    expanded, is_rst = expander.expand(text, (path,)), _IS_RST.get(_suffix(path))
    if context.project.has_line_breaks and is_rst is False:
        expanded = with_line_breaks(expanded)
    return ExpandedText(
        expanded if is_rst else mdbook.without_hidden_lines(expanded),
        tuple(expander.notes),
        expander.has_read,
    )


def _directives(text: str, path: str, context: Context) -> list[Composed | Directive | Literal]:
    """Return the directives of a text by their place; they may overlap."""
    is_rst = _IS_RST.get(_suffix(path))
    readers: list[Callable[[str], Iterator[Composed | Directive | Literal]]]
    if is_rst is None:
        readers = [partial(liquid.directives, context=context)] if context.is_of("jekyll") else []
    elif is_rst:
        readers = [sphinx.directives]
    else:
        readers = [each.directives for each in _OF_MARKDOWN if _may_hold(text, each.MARKS)]
        # Before others that know of values in braces.
        readers += [partial(macros.directives, context=context)] if context.variables else []
        readers += [sphinx.myst_directives] if _may_hold(text, sphinx.MYST_MARKS) else []
        readers += [
            partial(each.directives, context=context)
            for each in _WITH_CONTEXT
            if _may_hold(text, each.MARKS) or _may_concern(text, context)
        ]
    found = (each for read in readers for each in read(text))
    return sorted(found, key=lambda each: (each.start, each.end))


def _may_concern(text: str, context: Context) -> bool:
    """Return whether the tool whose folder it is may read the text in its own way."""
    return context.is_of("logseq") or bool(context.project.tools and ("{{" in text or "[[" in text))


def _may_hold(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in text for mark in marks)


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


@dataclass(slots=True)
class _Expander:
    find: FindIncluded
    room: int
    to_read: int
    context: Context
    notes: list[str] = field(default_factory=list)
    # By the file and the directive as it is written: a page may include one part thousands of times.
    parts: dict[tuple[str, str], str] = field(default_factory=dict)
    has_read: bool = False

    def expand(self, text: str, stack: tuple[str, ...]) -> str:
        """Return the text of the last file of the stack, in which each file is included by the one before."""
        return "".join(self._pieces(text, stack))

    def _pieces(self, text: str, stack: tuple[str, ...]) -> Iterator[str]:
        is_page = len(stack) == 1 and self.context.is_of("logseq") and _IS_RST.get(_suffix(stack[0])) is False
        head = page_head(text, self.context) if is_page else Literal(0, 0, "")
        yield head.text
        at = head.end
        for each in _directives(text, stack[-1], self.context):
            if each.start < at:
                continue
            yield text[at : each.start]
            at = each.end
            if isinstance(each, Literal):
                yield each.text
                if each.note:
                    self._note(text, each.start, each.note, stack)
                continue
            try:
                yield indented(self._included(each, stack, text[each.start : each.end]), each.indent)
            except (NotIncluded, NoSuchPart) as fault:
                if isinstance(each, Directive) and each.is_example:
                    yield text[each.start : each.end]
                    continue
                self._note(text, each.start, f"{each.target!r:.200} {NOT_INCLUDED}{fault}", stack)
        yield text[at:]

    def _included(self, directive: Composed | Directive, stack: tuple[str, ...], written: str) -> str:
        file = self._read(directive.target, stack, may_be_around=isinstance(directive, Directive))
        if isinstance(directive, Composed):
            return self._taken(directive.compose(file.text, partial(self._read_if_there, stack=stack)))
        if len(stack) > MAX_DEPTH:
            raise NotIncluded(f"it is included through more than {MAX_DEPTH} files")
        if (file.path, written) not in self.parts:
            self.parts[file.path, written] = directive.part(file.text)
        part = self._taken(self.parts[file.path, written])
        # A file may show a part of its own again, in which this does not stand.
        is_own_part = stack.count(file.path) == 1 and file.path == stack[-1] and written.strip() not in part
        if directive.is_nested and file.path in stack and not is_own_part:
            raise NotIncluded(_IN_ITSELF)
        return directive.form(self.expand(part, (*stack, file.path)) if directive.is_nested else part)

    def _read_if_there(self, target: str, stack: tuple[str, ...]) -> str | None:
        try:
            return self._read(target, stack).text
        except NotIncluded:
            return None

    def _read(self, target: str, stack: tuple[str, ...], *, may_be_around: bool = False) -> IncludedFile:
        self.has_read = True
        if "://" in target:
            raise NotIncluded("it is on the web, and nothing is fetched")
        if self.to_read <= 0:
            raise NotIncluded(f"the files that the document includes have over {_MAX_READ} times max_bytes")
        self.to_read -= _LEAST_READ
        file = self.find(target, stack[-1])
        self.to_read -= len(file.text)
        if file.path in stack and not may_be_around:
            raise NotIncluded(_IN_ITSELF)
        return file

    def _taken(self, part: str) -> str:
        """Return the part, for which there must be room."""
        if len(part) > self.room:
            raise NotIncluded("the document would become larger than max_bytes")
        self.room -= len(part)
        return part

    def _note(self, text: str, start: int, note: str, stack: tuple[str, ...]) -> None:
        if len(self.notes) > _MAX_NOTES:  # each costs a count of lines
            return
        if len(self.notes) == _MAX_NOTES:
            self.notes.append(f"remarks on directives end here, after {_MAX_NOTES}")
            return
        line = text.count("\n", 0, start) + 1
        place = f"line {line}" if len(stack) == 1 else f"line {line} of {PurePosixPath(stack[-1]).name}"
        self.notes.append(f"{place}: {note}")
