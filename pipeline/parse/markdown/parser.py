"""Reading headings, blocks, links and tags from markdown, with the offsets of whole lines, in one parse."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from ...address import heading_slugs
from ...directives import LEFTOVERS
from ...model import Block, BlockKind, Heading, Link
from ..code.in_markdown import listing_of
from ..content import ParsedContent, first_title
from ..front_matter import one_line, unique
from ..labels import anchors_of, labels_in
from ..markup import FoundLink, links_in, names_in, require_tame, visible_text
from ..unsearched import UnsearchedElements
from .inline import InlineText, read_inline
from .marks import TASK_STATES
from .syntax import DOCUMENT_ORDER, MAX_NESTING, markdown_parser

__all__ = ["markdown_parser", "plain_markdown", "read_markdown"]

_CONTAINERS = frozenset(
    {"list_item_open", "dt_open", "dd_open", "blockquote_open", "footnote_reference_open", "admonition_open"}
)
_ENDINGS = frozenset({"list_item_close", "dt_close", "dd_close"})
_ITEMS = frozenset({"list_item_open", "dt_open", "dd_open"})
# Characters from one link to the next.
_FARTHEST = 20_000
TOO_DEEP = f"nested deeper than {MAX_NESTING}, text below was dropped"


def read_markdown(text: str, body_start: int, where: str) -> ParsedContent:
    """Return the content of ``text`` from ``body_start`` on, whose title is that of a heading.

    Raises ``RejectedDocument`` when its raw HTML is a bomb.
    """
    body = text[body_start:] if body_start else text
    env: dict[str, Any] = {}
    markdown_parser().parse(body, env)
    starts = [body_start, *(body_start + found.end() for found in re.finditer("\n", body)), len(text)]
    reader = _Reader(text, starts, env.get("footnotes"), tuple(env.get(LEFTOVERS, ())))
    reader.walk(env[DOCUMENT_ORDER])
    # Inline tags end with their paragraph; blocks of raw HTML nest across the whole page.
    for html in ("".join(reader.raw_blocks), *reader.raw_inline):
        require_tame(html, where)
    return reader.result()


@dataclass(slots=True)
class _Reader:
    text: str
    # The offset at which each line begins, and that of the end of the text.
    starts: list[int]
    footnotes: Any
    leftovers: tuple[str, ...] = ()
    headings: list[Heading] = field(default_factory=list)
    # In boxes, quotes and lists: no sections, but links lead to them.
    inner_headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    raw_blocks: list[str] = field(default_factory=list)
    raw_inline: list[str] = field(default_factory=list)
    too_deep: bool = False
    # One entry per open list item: whether its first paragraph is still to come.
    items: list[bool] = field(default_factory=list)
    row: list[InlineText] | None = None
    # The parts of the text that stand on the page and that searches leave out, in order, none in another.
    unsearched: tuple[range, ...] = ()
    left_out: UnsearchedElements = field(default_factory=UnsearchedElements)

    def walk(self, tokens: list[Token]) -> None:
        self.unsearched = _joined(self.span([*lines]) for lines in _unsearched(tokens, len(self.starts)))
        for index, token in enumerate(tokens):
            kind = token.type
            if kind == "inline":
                self.inline(token, tokens[index - 1])
            elif kind in ("fence", "code_block"):
                self.code(token)
            elif kind == "html_block":
                self.html(token)
            elif kind == "tr_open":
                self.row = []
            elif kind == "tr_close":
                self.end_row(tokens, index)
            elif kind in _CONTAINERS:
                self.too_deep |= token.level >= MAX_NESTING - 1
                if kind in _ITEMS:
                    self.items.append(True)
            elif kind in _ENDINGS:
                self.items.pop()

    def inline(self, token: Token, before: Token) -> None:
        if before.meta.get("callout") == "default" or not token.map:
            return
        inline = read_inline(token.children, self.footnotes)
        if self.row is not None:
            self.row.append(inline)
        elif before.type == "heading_open" and before.level == 0:
            self.headings.append(self.heading(before, inline, before.map or token.map))
            self.found(inline, *self.span(before.map or token.map))
        else:
            if before.type == "heading_open":
                self.inner_headings.append(self.heading(before, inline, token.map))
            self.paragraph(inline, token.map)

    def heading(self, opening: Token, inline: InlineText, lines: list[int]) -> Heading:
        level, name = int(opening.tag[1]), str(opening.meta.get("id", ""))
        return Heading(level, one_line(inline.text), *self.span(lines), name)

    def paragraph(self, inline: InlineText, lines: list[int]) -> None:
        text = inline.text.strip()
        if labels := labels_in(text):
            self.labels += labels
            return
        if self.items:
            text = f"- {_without_colon(text)}" if self.items[-1] and text else text
            self.items[-1] = False
        start, end = self.span(lines)
        self.found(inline, start, end)
        self.block("list" if self.items else "text", start, end, text, "\n".join(inline.code))

    def end_row(self, tokens: list[Token], index: int) -> None:
        cells, self.row = self.row or [], None
        while tokens[index].type != "tr_open":
            index -= 1
        start, end = self.span(tokens[index].map or [0, 0])
        for cell in cells:
            self.found(cell, start, end)
        text = " | ".join(one_line(cell.text) for cell in cells)
        code = "\n".join(code for cell in cells for code in cell.code)
        self.block("table", start, end, text if text.strip(" |") else "", code)

    def code(self, token: Token) -> None:
        start, end = self.span(token.map or [0, 0])
        listing = listing_of(token)
        code, title = listing.text.rstrip("\n"), listing.info.title
        self.block("code", start, end, f"{title}\n{code}" if title else code, code, listing.info.language)

    def html(self, token: Token) -> None:
        self.raw_blocks.append(token.content)
        start, end = self.span(token.map or [0, 0])
        searched = self.left_out.searched(token.content)
        self.add("list" if self.items else "text", start, end, visible_text(searched))
        self.locate(links_in(token.content), start, end)

    def block(
        self, kind: BlockKind, start: int, end: int, text: str, code: str = "", language: str = ""
    ) -> None:
        if not self.left_out.is_open:
            self.add(kind, start, end, text, code, language)

    def add(
        self, kind: BlockKind, start: int, end: int, text: str, code: str = "", language: str = ""
    ) -> None:
        at = bisect_right(self.unsearched, start, key=lambda each: each.start)
        if text.strip() and not (at and start in self.unsearched[at - 1]):
            self.blocks.append(Block(kind, start, end, text, code, language))

    def span(self, lines: list[int]) -> tuple[int, int]:
        # The definition list plugin gives a term a range without lines.
        first, last, end = lines[0], max(lines[1], lines[0] + 1), len(self.starts) - 1
        return self.starts[min(first, end)], self.starts[min(last, end)]

    def found(self, inline: InlineText, start: int, end: int) -> None:
        self.tags += inline.tags
        self.people += inline.people
        if inline.html:
            self.raw_inline.append("".join(inline.html))
        if inline.links:
            self.locate(inline.links, start, end)

    def locate(self, links: list[FoundLink], start: int, end: int) -> None:
        """Place each link at its opening bracket, or after the previous link if it is defined elsewhere.

        A target that is written otherwise than it reads is looked for in vain, each time.
        """
        cursor = start
        for link in links:
            if not markdown_parser().validateLink(link.target):
                continue
            at = self.text.find(link.target, cursor, min(end, cursor + _FARTHEST + len(link.target)))
            self.links.append(Link(link.kind, link.target, link.text, self.opening(cursor, at)))
            cursor = max(cursor, at)

    def opening(self, cursor: int, target: int) -> int:
        found = self.text.rfind("[", cursor, target) if target >= 0 else -1
        if found < 0 <= target:
            found = self.text.rfind("<", cursor, target)
        while found > cursor and self.text[found - 1] in "[!":
            found -= 1
        return max(cursor, found)

    def inner_anchors(self) -> tuple[str, ...]:
        if not self.inner_headings:
            return ()
        return tuple(heading_slugs((*self.headings, *self.inner_headings))[len(self.headings) :])

    def result(self) -> ParsedContent:
        return ParsedContent(
            text=self.text,
            blocks=tuple(self.blocks),
            title=first_title(self.headings, self.blocks),
            tags=unique(self.tags),
            people=unique(self.people),
            headings=tuple(self.headings),
            links=tuple(sorted(self.links, key=lambda link: link.start)),
            inner_anchors=self.inner_anchors(),
            anchors=unique(
                (*anchors_of(self.labels), *names_in("".join((*self.raw_blocks, *self.raw_inline))))
            ),
            notes=(TOO_DEEP,) if self.too_deep else (),
            leftovers=self.leftovers,
        )


def _unsearched(tokens: list[Token], end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of each box and section that searches leave out."""
    for token in tokens:
        if token.type == "admonition_open" and token.meta.get("unsearched") and token.map:
            yield token.map[0], token.map[1]
    opened = (each for each in tokens if each.type == "heading_open" and each.level == 0)
    headings = [(each.map[0], each.tag, each.meta.get("unsearched")) for each in opened if each.map]
    ends: dict[str, int] = {}  # where the next heading of each level is
    for line, tag, is_left_out in reversed(headings):
        if is_left_out:
            yield line, min((after for other, after in ends.items() if other <= tag), default=end)
        ends[tag] = line


def _joined(spans: Iterable[tuple[int, int]]) -> tuple[range, ...]:
    """Return the ranges that the spans cover together, in order."""
    found = list[range]()
    for start, end in sorted(spans):
        before = found.pop() if found and start <= found[-1].stop else range(start, end)
        found.append(range(before.start, max(end, before.stop)))
    return tuple(found)


def _without_colon(text: str) -> str:
    # MDN and PHP Markdown write a definition as a list item that begins with a colon.
    return text[2:].lstrip() if text.startswith(": ") else text


_PREFIX = re.compile(
    r"^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|#{1,6}[ \t]+)?"
    rf"(?:\[[ xX{re.escape(''.join(TASK_STATES))}]\][ \t]+)?",
    re.MULTILINE,
)
_RULE_ROW = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\Z")
_UNRESOLVED = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])")


def plain_markdown(piece: str) -> str:
    """Return a line or sentence of markdown as a reader sees it: no markup, no addresses, no tags."""
    if _RULE_ROW.match(piece):
        return ""
    bare = _PREFIX.sub(_dash, piece)
    tokens = markdown_parser().parseInline(bare.strip(), {})
    text = " ".join(read_inline(token.children).text for token in tokens)
    text = _UNRESOLVED.sub(r"\1", text).strip()
    if text.startswith("|") or text.endswith("|"):
        return " | ".join(cell.strip() for cell in text.strip("|").split("|"))
    return text


def _dash(found: re.Match[str]) -> str:
    mark = found[0].strip(" \t>")
    return "- " if mark and not mark.startswith("#") else ""
