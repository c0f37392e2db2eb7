"""Markdown as HTML in which our own parts (code, headings' anchors, references) are marks.

The output still has to be sanitised, but what the marks stand for must not be.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from ...pipeline.address import heading_slugs, slugify
from ...pipeline.model import Heading
from ...pipeline.parse.code.in_markdown import NOTES, listing_of
from ...pipeline.parse.labels import UNTITLED, label_anchor, labels_in
from ...pipeline.parse.markdown.authoring import TAG_LIST
from ...pipeline.parse.markdown.inline import read_inline
from ...pipeline.parse.markdown.marks import render_task
from ...pipeline.parse.markdown.syntax import markdown_parser
from ...pipeline.sanitize import SIDES
from .definitions import definition_lists, descriptions
from .formulas import formula_html
from .highlight import diagram, listing_html
from .lift import lift_transclusions
from .linking import Destination
from .marks import Marks

# Elements whose content the sanitiser drops, or whose content a browser reads as text.
_SWALLOWING = re.compile(
    r"<(?=(script|style|template|noscript|iframe|object|svg|math|select|textarea|noembed|noframes|xmp|plaintext"
    r"|title|audio|video|canvas|applet)\b)",
    re.IGNORECASE,
)

_PLAIN_TITLE = re.compile("[A-Za-z][A-Za-z0-9]*(?: [A-Za-z0-9]+)*")
_REPEATED = re.compile(r"-(\d+)\Z")
_NO_LETTER = re.compile(r"[^\w\s-]")
_UNSPACED = re.compile(r"\s")
_SEPARATORS = re.compile(r"[-\s]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PUNCTUATION = re.compile(r"""[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:"'“”‘’<>,.?/]+""")


@dataclass(frozen=True, slots=True)
class Reference:
    """A wikilink, transclusion or tag as written."""

    target: str
    fragment: str
    text: str


@dataclass(frozen=True, slots=True)
class Anchored:
    """A heading with the name that links use for it."""

    level: int
    title: str
    slug: str


@dataclass(slots=True)
class Sheet:
    """A rendering in progress: its marks, how it writes references, and the headings seen so far.

    ``transclusion`` is also told whether the reference stands where a block may.
    ``footnotes`` keeps the ids of transcluded footnotes apart from the page's own.
    """

    marks: Marks
    wikilink: Callable[[Reference], str]
    transclusion: Callable[[Reference, bool], str]
    tag: Callable[[Reference], str]
    tag_list: Callable[[], str]
    person: Callable[[Reference], str]
    anchors: bool = True
    footnotes: str = ""
    headings: list[Anchored] = field(default_factory=list)


def markdown_html(text: str, sheet: Sheet) -> str:
    """Return the text as HTML with marks, and add its headings to the sheet."""
    md = markdown_parser()
    env: dict[str, Any] = {"docId": sheet.footnotes} if sheet.footnotes else {}
    tokens = md.parse(text, env)
    _find_headings(tokens, sheet, env)
    _name_labels(tokens)
    tokens = descriptions(definition_lists(lift_transclusions(tokens)))
    return str(_renderer(sheet).render(tokens, md.options, env))


def _find_headings(tokens: Sequence[Token], sheet: Sheet, env: MutableMapping[str, Any]) -> None:
    """Give top-level headings the slugs that the index gave them, by the same rule, and then the others."""
    headings = [i for i, token in enumerate(tokens) if token.type == "heading_open"]
    opened = sorted(headings, key=lambda i: tokens[i].level > 0)
    titles = [
        " ".join(read_inline(tokens[i + 1].children, env.get("footnotes")).text.split()) for i in opened
    ]
    levels = [int(tokens[i].tag[1]) for i in opened]
    names = [str(tokens[i].meta.get("id", "")) for i in opened]
    found = zip(levels, titles, names, strict=True)
    slugs = heading_slugs([Heading(level, title, 0, 0, name) for level, title, name in found])
    used = set(slugs)
    for i, level, title, slug in zip(opened, levels, titles, slugs, strict=True):
        if tokens[i].level == 0:
            sheet.headings.append(Anchored(level, title, slug))
        also = [name for name in other_slugs(title, slug) if name and name not in used]
        used.update(also)
        tokens[i].meta = {**tokens[i].meta, "anchor": slug, "also": tuple(dict.fromkeys(also))}


def other_slugs(title: str, slug: str) -> Iterator[str]:
    """Yield what other tools call the heading, so that links from outside to their pages still lead there.

    They are those of GitHub, mdBook and Docusaurus, of Python-Markdown, and of VitePress.
    """
    repeated = _REPEATED.search(slug)
    if _PLAIN_TITLE.fullmatch(title) and not repeated:
        return
    number = repeated[1] if repeated and slugify(title) != slug else ""
    again = f"-{number}" if number else ""
    apart = unicodedata.normalize("NFKD", title)
    yield _UNSPACED.sub("-", _NO_LETTER.sub("", title.lower()).strip()) + again
    ascii_only = _NO_LETTER.sub("", apart.encode("ascii", "ignore").decode()).strip().lower()
    yield _SEPARATORS.sub("-", ascii_only) + (f"_{number}" if number else "")
    separated = _PUNCTUATION.sub("-", _ACCENTS.sub("", apart)).strip("-").lower()
    yield (f"_{separated}" if separated[:1].isdigit() else separated) + again


def _name_labels(tokens: Sequence[Token]) -> None:
    """Turn MyST's labels, ``(name)=`` on lines of their own, into the names that links use."""
    for before, inline, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        labels = labels_in(inline.content) if before.type == "paragraph_open" else ()
        if labels:
            before.hidden = after.hidden = True
            names = dict.fromkeys(name for label in labels for name in (label, label_anchor(label)))
            named = "".join(f'<span id="{escape(name)}"></span>' for name in names)
            inline.children = [Token("html_inline", "", 0, content=named)]


def _renderer(sheet: Sheet) -> RendererHTML:
    shared = markdown_parser().renderer
    if not isinstance(shared, RendererHTML):
        raise TypeError("the markdown parser does not render HTML")
    renderer = _Renderer(markdown_parser())
    renderer.sheet = sheet
    # The methods below are already among the rules; those of the parser's plugins are not.
    renderer.rules = {**shared.rules, **renderer.rules}
    return renderer


class _Renderer(RendererHTML):
    sheet: Sheet

    def wikilink(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.sheet.marks.html(self.sheet.wikilink(_reference(tokens[index])))

    def transclusion(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        token = tokens[index]
        is_block = bool(token.meta.get("block"))
        return self.sheet.marks.html(self.sheet.transclusion(_reference(token), is_block))

    def tag(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.sheet.marks.html(self.sheet.tag(_reference(tokens[index])))

    def task(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return self.sheet.marks.html(render_task(self, tokens, index, options, env))

    def person(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.sheet.marks.html(self.sheet.person(_reference(tokens[index])))

    def heading_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        opened = str(self.renderToken(tokens, index, options, env))
        meta = tokens[index].meta
        if "anchor" not in meta or not self.sheet.anchors:
            return opened
        also = "".join(f'<span id="{escape(name)}"></span>' for name in meta["also"])
        return opened + self.sheet.marks.anchor(meta["anchor"]) + also

    def formula(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        meta = tokens[index].meta
        return self.sheet.marks.html(formula_html(str(meta["latex"]), bool(meta["display"])))

    def fence(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        listing = listing_of(tokens[index])
        if listing.info.language == "math":
            made = f"<p>{formula_html(listing.text.strip(), True)}</p>"
        elif listing.info.language == "mermaid":
            made = diagram(listing.text)
        else:
            made = listing_html(listing, str(tokens[index].meta.get(NOTES, "")))
        return self.sheet.marks.html(made) + "\n"

    def code_block(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return self.sheet.marks.html(listing_html(listing_of(tokens[index]))) + "\n"

    def html_block(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        if tokens[index].content.strip() == TAG_LIST:
            return self.sheet.marks.html(self.sheet.tag_list())
        return _contained(tokens[index].content)

    def html_inline(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        written = tokens[index].content
        if _contained(written) == written:
            return written
        rest = (token.content for token in tokens[index + 1 :] if token.type == "html_inline")
        return _contained(written, "".join(rest))

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        is_empty = index + 1 < len(tokens) and tokens[index + 1].type == "link_close"
        if is_empty and not tokens[index].attrs.get("href"):  # [](){ #name } only names a place
            tokens[index].attrs.pop("href", None)
        elif is_empty:
            tokens[index].attrSet("class", UNTITLED)
        return str(self.renderToken(tokens, index, options, env))

    def td_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return _cell(tokens[index])

    def th_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return _cell(tokens[index])

    def admonition_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        token = tokens[index]
        kind = str(token.meta.get("tag", "note")).lower()
        is_open = " open" if "open" in token.attrs else ""
        classes = str(token.attrs.get("class", "")).split()
        beside = "".join(f" {name}" for name in ("callout-inline", "callout-start") if name in classes)
        return f'<{token.tag} class="callout callout-{escape(kind)}{beside}"{is_open}>\n'

    def admonition_title_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return f'<{tokens[index].tag} class="callout-title">'


def _cell(token: Token) -> str:
    style = str(token.attrs.get("style", ""))
    side = style.removeprefix("text-align:")
    return f'<{token.tag} align="{side}">' if side in SIDES else f"<{token.tag}>"


def _reference(token: Token) -> Reference:
    return Reference(str(token.meta["target"]), str(token.meta["fragment"]), str(token.meta["text"]))


def link_html(destination: Destination, text: str, css: str = "wikilink") -> str:
    """Return our own link with plain text, or a span that says why it leads nowhere."""
    shown = escape(text)
    if destination.kind == "missing":
        return f'<span class="missing-link" title="{escape(destination.title)}">{shown}</span>'
    outward = ' rel="noopener noreferrer"' if destination.kind == "external" else ""
    return f'<a class="{css}" href="{escape(destination.href)}"{outward}>{shown}</a>'


def _contained(html: str, rest: str = "") -> str:
    """Return the HTML without tags that would swallow ``rest`` and everything after it as text.

    An author who writes about ``<textarea>`` and forgets the code marks opens one: the sanitiser then drops
    everything that follows, to the end of the page.
    """
    if not _SWALLOWING.search(html):
        return html
    after = (html + rest).lower()

    def shown(found: re.Match[str]) -> str:
        closed = after.find(f"</{found[1].lower()}", found.end()) >= 0
        return found[0] if closed else "&lt;"

    return _SWALLOWING.sub(shown, html)
