"""Converting an HTML tree into plain text, with the offsets of its headings, blocks and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from bs4.element import PageElement, PreformattedString, Tag

from ...model import Block, BlockKind, Heading, Link, LinkKind
from ...visibility import SEARCH_EXCLUDED, UNSEARCHED_ATTRIBUTES
from ..labels import PARSED

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ITEMS = frozenset({"li", "dt", "dd"})
_BLOCK_NAMES = """
    address article aside blockquote body caption center details div dl fieldset figcaption figure footer form
    header hgroup hr html legend main menu nav ol p section summary table tbody tfoot thead ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_BREAKS = _HEADINGS | _BLOCKS | {"tr", "td", "th"}
_BLOCK_TAGS = _BREAKS | _ITEMS | {"pre"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_SPACE = re.compile(r"[ \t\n\r\f\u00a0]+")
_LANGUAGE = re.compile(r"(?:language|lang|highlight|brush:)-?([\w+#.-]+)")
_NAME = re.compile(r"[\w+#.-]{1,40}")
_NO_LANGUAGE = frozenset({"default", "none", "text", "plain", "notranslate"})
_MEDIA = frozenset({"img", "video", "audio", "source"})
_PILCROWS = frozenset({"¶", "#", "§", "🔗", ""})


def _visits(root: Tag) -> Iterator[tuple[PageElement, bool]]:
    """Yield every node under the root on entry and (true) on leaving; pages nest too deeply to recurse."""
    pending: list[tuple[PageElement, bool]] = [(child, False) for child in reversed(root.contents)]
    while pending:
        node, leaving = pending.pop()
        yield node, leaving
        if isinstance(node, Tag) and not leaving:
            pending.append((node, True))
            if node.name != "pre":
                pending.extend((child, False) for child in reversed(node.contents))


@dataclass(frozen=True, slots=True)
class _OpenLink:
    tag: Tag
    target: str
    piece: int


@dataclass(frozen=True, slots=True)
class _Unsearched:
    """An element that searches leave out: whole blocks, or the pieces and code of one since it began."""

    tag: Tag
    is_block: bool
    piece: int
    code: int


@dataclass(slots=True)
class Flow:
    """The text under construction: one block after another, with a blank line between."""

    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _pieces: list[str] = field(default_factory=list)
    _code: list[str] = field(default_factory=list)
    _waiting: list[tuple[LinkKind, str, str]] = field(default_factory=list)
    _open: list[_OpenLink] = field(default_factory=list)
    _items: list[bool] = field(default_factory=list)
    _heading: int = 0
    _anchor: str = ""
    _row: Tag | None = None
    _code_from: int = -1
    _left_out: _Unsearched | None = None
    # The level of the heading whose section searches leave out.
    _unsearched_level: int = 0

    def walk(self, root: Tag) -> None:
        """Read everything under ``root``."""
        for node, leaving in _visits(root):
            if isinstance(node, Tag):
                (self._leave if leaving else self._enter)(node)
            elif not isinstance(node, PreformattedString):
                self._pieces.append(str(node))
        self._flush()

    def text(self) -> str:
        """Return the whole text, to which every offset refers."""
        return "".join(self._parts)

    def _enter(self, tag: Tag) -> None:
        is_block = self._row is None and tag.name in _BLOCK_TAGS
        if is_block:
            self._flush()
        if self._left_out is None and any(name in tag.attrs for name in UNSEARCHED_ATTRIBUTES):
            self._leave_out(tag, is_block=is_block)
        if self._row is not None:
            self._enter_cell_content(tag)
        elif is_block:
            self._enter_block(tag)
        self._enter_inline(tag)

    def _leave_out(self, tag: Tag, *, is_block: bool) -> None:
        """Begin what searches leave out; around blocks, with a block of its own."""
        if not is_block and self._row is None and tag.find([*_BLOCK_TAGS]) is not None:
            self._flush()
            is_block = True
        self._left_out = _Unsearched(tag, is_block, len(self._pieces), len(self._code))

    def _enter_block(self, tag: Tag) -> None:
        name = tag.name
        if name in _HEADINGS:
            self._heading, self._anchor = int(name[1]), attribute(tag, "id")
            if not self._unsearched_level or self._heading <= self._unsearched_level:
                self._unsearched_level = self._heading if SEARCH_EXCLUDED in tag.attrs else 0
        elif name == "pre":
            self._pre(tag)
        elif name in _ITEMS:
            self._items.append(True)
        elif name == "tr" and _is_row(tag):
            self._row = tag

    def _enter_cell_content(self, tag: Tag) -> None:
        if tag.name in ("td", "th"):
            self._pieces.append("\x00")
        elif tag.name in _BLOCKS or tag.name in _ITEMS:
            self._pieces.append(" ")

    def _enter_inline(self, tag: Tag) -> None:
        name = tag.name
        if name == "br":
            self._pieces.append("\x01" if not self._heading and self._row is None else " ")
        elif name in _MEDIA:
            self._image(tag)
        elif name == "a" and (href := attribute(tag, "href")):
            self._open.append(_OpenLink(tag, href, len(self._pieces)))
        elif name in _CODE and self._code_from < 0:
            self._code_from = len(self._pieces)

    def _leave(self, tag: Tag) -> None:
        name = tag.name
        if name == "a" and self._open and self._open[-1].tag is tag:
            self._link(self._open.pop())
        elif name in _CODE and self._code_from >= 0:
            self._end_code()
        if self._row is not None:
            if tag is self._row:
                self._end_row()
        elif name in _ITEMS:
            self._flush()
            self._items.pop()
        elif name in _BREAKS:
            self._flush()
        if self._left_out is not None and self._left_out.tag is tag:
            self._end_left_out(self._left_out)

    def _end_left_out(self, left_out: _Unsearched) -> None:
        if left_out.is_block:
            self._flush()
        else:
            del self._pieces[left_out.piece :], self._code[left_out.code :]
        self._left_out = None

    def _add(self, block: Block) -> None:
        is_left_out = self._left_out is not None and self._left_out.is_block
        if not is_left_out and not self._unsearched_level:
            self.blocks.append(block)

    def _image(self, tag: Tag) -> None:
        alt, src = _folded(attribute(tag, "alt")), attribute(tag, "src")
        self._pieces.append(alt)
        if src:
            self._waiting.append(("image", src, alt))

    def _link(self, link: _OpenLink) -> None:
        text = _folded("".join(self._pieces[link.piece :]))
        if text in _PILCROWS and link.target.startswith("#"):
            del self._pieces[link.piece :]
        else:
            self._waiting.append(("link", link.target, text))

    def _end_code(self) -> None:
        code = _folded("".join(self._pieces[self._code_from :]))
        self._code_from = -1
        if code:
            self._code.append(code)

    def _end_row(self) -> None:
        cells = [_folded(cell) for cell in "".join(self._pieces).split("\x00")[1:]]
        self._row = None
        line = " | ".join(cells)
        self._emit("table", line if line.strip(" |") else "")

    def _pre(self, tag: Tag) -> None:
        code, title = tag.get_text().strip("\n"), attribute(tag, "title")
        self._pieces = []
        if code.strip():
            text = f"{title}\n{code}" if title else code
            self._add(Block("code", *self._put(text), text, code, language_of(tag)))
        if PARSED in attribute(tag, "class").split():
            links = ((attribute(link, "href"), _folded(link.get_text())) for link in tag.find_all("a"))
            self._waiting += [("link", href, text) for href, text in links if href]
            self._settle(self._length)

    def _flush(self) -> None:
        """End the paragraph, item or heading that is being collected, if there is one."""
        text = "\n".join(_folded(line) for line in "".join(self._pieces).split("\x01")).strip()
        if self._heading:
            self._emit_heading(" ".join(text.split()))
        elif self._items:
            first, self._items[-1] = self._items[-1] and bool(text), self._items[-1] and not text
            self._emit("list", f"- {text}" if first else text)
        else:
            self._emit("text", text)

    def _emit_heading(self, text: str) -> None:
        level, self._heading = self._heading, 0
        if text:
            start, end = self._put(text)
            self.headings.append(Heading(level, text, start, end, self._anchor))
            self._settle(start)
        self._reset()

    def _emit(self, kind: BlockKind, text: str) -> None:
        if text:
            start, end = self._put(text)
            self._add(Block(kind, start, end, text, "\n".join(self._code)))
            self._settle(start)
        self._settle(self._length)
        self._reset()

    def _settle(self, start: int) -> None:
        self.links.extend(Link(kind, target, text, start) for kind, target, text in self._waiting)
        self._waiting = []

    def _reset(self) -> None:
        self._pieces, self._code, self._code_from = [], [], -1
        # A link around several blocks is cut at their boundaries.
        self._open = [_OpenLink(link.tag, link.target, 0) for link in self._open]

    def _put(self, text: str) -> tuple[int, int]:
        """Append the text's line and a blank one; return where the former begins and ends."""
        start = self._length
        self._parts += (text, "\n\n")
        self._length += len(text) + 2
        return start, self._length - 1


def _is_row(tag: Tag) -> bool:
    # Tables used for layout contain headings, code and other tables: their content is read as if unboxed.
    return tag.find([*_HEADINGS, "pre", "table"]) is None


def attribute(tag: Tag, name: str) -> str:
    """Return the attribute's value, its parts joined if there are several, else an empty string."""
    value = tag.get(name)
    return (" ".join(value) if isinstance(value, list) else value or "").strip()


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def language_of(pre: Tag) -> str:
    """Return the language, lower-case, that a class of the block, its code or its two parents names."""
    for tag in filter(None, (pre, pre.code, *islice(pre.parents, 2))):
        names = [attribute(tag, "data-language"), attribute(tag, "data-lang")]
        classes = [_LANGUAGE.fullmatch(name) for name in attribute(tag, "class").lower().split()]
        names.extend(found[1] for found in classes if found)
        for name in names:
            if _NAME.fullmatch(name) and name.lower() not in _NO_LANGUAGE:
                return name.lower()
    return ""
