"""The content of a paragraph: its plain text, code spans, links and tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markdown_it.token import Token

from ...assets.media import media_type_of
from ...model import LinkKind
from ..markup import FoundLink, alt_of, href_of, sized, src_of
from ..unsearched import UnsearchedElements
from .marks import KEYS


@dataclass(slots=True)
class InlineText:
    """The text, code, links, tags and people of a run of inline tokens."""

    text: str = ""
    code: list[str] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Open:
    """A link that was opened at some piece of text and is not closed yet."""

    target: str
    piece: int
    by: str


def read_inline(children: Sequence[Token] | None, footnotes: Any = None) -> InlineText:
    """Return text, code, links and tags of an inline token; ``footnotes`` resolves inline notes."""
    return _Reader(footnotes).read(children or ())


class _Reader:
    def __init__(self, footnotes: Any) -> None:
        self.result = InlineText()
        self.pieces: list[str] = []
        self.open: list[_Open] = []
        self.hidden = ""
        self.left_out, self.searched = UnsearchedElements(), (0, 0)
        self.footnotes = footnotes

    def read(self, children: Sequence[Token]) -> InlineText:
        pieces, dispatch = self.pieces, _HANDLERS
        for token in children:
            kind = token.type
            if kind == "html_inline":
                self.raw(token)
            elif self.hidden:
                continue
            elif kind in ("text", "text_special", "formula", KEYS):
                pieces.append(token.content)
            elif kind == "softbreak":
                pieces.append(" ")
            elif kind == "hardbreak":
                pieces.append("\n")
            elif kind == "link_close":
                self._close("markdown")
            elif handler := dispatch.get(kind):
                handler(self, token)
        if self.left_out.is_open:
            self._leave_out()
        self.result.text = "".join(pieces)
        return self.result

    def raw(self, token: Token) -> None:
        """Read a tag; what searches leave out is text until its end, for the links within."""
        was_open = self.left_out.is_open
        if not was_open:
            self.searched = len(self.pieces), len(self.result.code)
        is_searched = bool(self.left_out.searched(token.content))
        self.html(token)
        if not self.left_out.is_open and (was_open or not is_searched):
            self._leave_out()

    def _leave_out(self) -> None:
        pieces, code = self.searched
        del self.pieces[pieces:], self.result.code[code:]

    def code(self, token: Token) -> None:
        self.pieces.append(token.content)
        self.result.code.append(token.content)

    def link_open(self, token: Token) -> None:
        if name := token.attrs.get("id"):
            self.result.html.append(f'<a id="{escape(str(name))}">')
        self.open.append(_Open(str(token.attrs.get("href", "")), len(self.pieces), "markdown"))

    def _close(self, by: str) -> None:
        # Raw HTML may open and close anything: what does not match is left alone.
        if self.open and self.open[-1].by == by:
            link = self.open.pop()
            text = " ".join("".join(self.pieces[link.piece :]).split())
            if not (link.target or text):  # [](){ #name } only names a place
                return
            self.result.links.append(FoundLink("link", link.target, text))

    def image(self, token: Token) -> None:
        alt = sized(read_inline(token.children).text).text
        self.pieces.append(alt)
        self.result.links.append(FoundLink("image", str(token.attrs.get("src", "")), alt))

    def reference(self, token: Token) -> None:
        meta = token.meta
        fragment = f"#{meta['fragment']}" if meta["fragment"] else ""
        kind: LinkKind = "transclusion" if token.type == "transclusion" else "wikilink"
        text = str(meta["text"])
        if kind == "transclusion" and media_type_of(meta["target"]) is not None:
            text = sized(text, alone=True).text or str(meta["target"])
        self.pieces.append(text)
        self.result.links.append(FoundLink(kind, meta["target"] + fragment, text))

    def tag(self, token: Token) -> None:
        self.pieces.append(token.content)
        self.result.tags.append(token.meta["target"])

    def person(self, token: Token) -> None:
        self.pieces.append(token.content)
        self.result.people.append(token.meta["target"])

    def footnote(self, token: Token) -> None:
        note = self.footnotes["list"].get(token.meta["id"], {}) if self.footnotes else {}
        if "tokens" in note:
            inner = read_inline(note["tokens"])
            self.pieces.append(f" ({inner.text})")
            self.result.code.extend(inner.code)
            self.result.links.extend(inner.links)

    def html(self, token: Token) -> None:
        tag = token.content
        self.result.html.append(tag)
        name = tag[1:9].lower()
        if self.hidden:
            self.hidden = "" if name.startswith(self.hidden) else self.hidden
        elif name.startswith(("script", "style")) and not tag.endswith("/>"):
            self.hidden = "/script" if name.startswith("script") else "/style"
        elif name.startswith("br"):
            self.pieces.append(" ")
        elif name.startswith("/a"):
            self._close("html")
        elif href := href_of(tag):
            self.open.append(_Open(href, len(self.pieces), "html"))
        elif src := src_of(tag):
            self.pieces.append(alt_of(tag))
            self.result.links.append(FoundLink("image", src, alt_of(tag)))


_HANDLERS = {
    "code_inline": _Reader.code,
    "link_open": _Reader.link_open,
    "image": _Reader.image,
    "wikilink": _Reader.reference,
    "transclusion": _Reader.reference,
    "tag": _Reader.tag,
    "person": _Reader.person,
    "footnote_ref": _Reader.footnote,
}
