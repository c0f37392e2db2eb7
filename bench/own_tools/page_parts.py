"""What a reader meets on a page of any tool's site: blocks of text, headings, code and images, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PreformattedString

BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
# What themes add: permalinks, buttons, switches of tabs, and the list of a page's own contents.
FURNITURE = (
    "script, style, template, button, input, a.headerlink, a.hash-link, a.header-anchor, a.anchor, "
    ".toc-inline, .table-of-contents, ul.page-list, "
    ".copy, .line-numbers-wrapper, .linenos, .md-source-file, .tabbed-labels, ul.tabs, .tabs [role=tablist], "
    ".vp-code-group > .tabs, .screen-reader, .transclusion-source, .katex-html, .theme-doc-breadcrumbs, "
    "form.md-feedback, p.byline, "
    ".fullscreen, .md-annotation, .headerlink, .tab-list, [hidden].tab-names, .sr-only, div.code span.lang, "
    "div[class*=language-] > span.lang, a.footnote-backref, a.data-footnote-backref, "
    ".callout-tab > .callout-title, [data-language=mermaid], .mermaid"
)
# Themes write these in capitals by a style or by a rule of their own.
INLINE = "data:"
_TITLE = re.compile("admonition-title|admonitionHeading|callout-title|custom-block-title")
_QUOTES = str.maketrans("‘’“”–—…\u00a0\u200b", "''\"\"--. \u200b")
# A tool without lists of tasks writes their state in brackets.
_TASK = re.compile(r"\[[ xX]\] ")
# Scripts of Material put buttons in their place.
_ANNOTATION = re.compile(
    r"[ \t]*(?:(?:#|//|--|;)[ \t]*\(\d+\)!?|/\*[ \t]*\(\d+\)!?[ \t]*\*/|<!--[ \t]*\(\d+\)!?[ \t]*-->)[ \t]*$"
)
_HASHED = re.compile(r"(?:\.[0-9a-f]{12}|-[0-9a-f]{32}|\.[\w-]{8})(?=\.\w+$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, heading, row or piece of code, with its text normalised."""

    kind: str
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: ``links`` are the addresses of its text, ``dead`` the texts of links that lead nowhere.

    ``prose`` is its text without code, in which directives are examples.
    """

    file: Path
    blocks: tuple[Block, ...]
    images: tuple[tuple[str, str], ...]
    links: tuple[str, ...]
    dead: tuple[str, ...]
    anchors: frozenset[str]
    following: str
    prose: tuple[str, ...] = ()


def read_page(file: Path, main: str) -> Page | None:
    """Return the page whose content the CSS selector ``main`` selects; ``None`` for a file without any."""
    soup = BeautifulSoup(file.read_bytes(), "html.parser", from_encoding="utf-8")
    content = soup.select_one(main)
    if content is None:
        return None
    following = soup.select_one(
        "a[rel~=next], link[rel~=next], a.pagination-nav__link--next, a.pager-link.next"
    )
    dead = tuple(normal(each.get_text()) for each in content.select(".missing-link"))
    anchors = frozenset(str(each["id"]) for each in soup.select("[id]"))
    links = tuple(str(each["href"]) for each in content.select("a[href]"))
    for each in content.select(FURNITURE):
        each.decompose()
    # One tool writes LaTeX, another MathML: they count alike.
    for each in content.select(".katex, math, .arithmatex"):
        each.replace_with("(formula)")
    for each in content.select("img.twemoji, img.emojione, img.gemoji"):  # a drawing of a character
        each.replace_with(str(each.get("alt") or ""))
    for each in content.select(".VPHero h1 > .text"):  # which is set as a line of its own
        if each.parent is not None:
            each.name = "p"
            each.parent.insert_after(each.extract())
    for each in content.select(".termy pre"):  # Termynal's script shows tags in code as colours
        each.string = BeautifulSoup(each.get_text(), "html.parser").get_text()
    blocks = tuple(block for block in _blocks(content) if block.text)
    images = tuple(
        sorted((image_name(each), str(each.get("alt") or "")) for each in content.select("img[src]"))
    )
    for each in content.select("code, pre, kbd"):
        each.decompose()
    return Page(
        file,
        blocks,
        images,
        links,
        dead,
        anchors,
        str(following["href"]) if following else "",
        tuple(block.text for block in _blocks(content)),
    )


def normal(text: str) -> str:
    """Return the text on one line, with straight quotes and without marks of permalinks."""
    text = text.replace("…", "...").translate(_QUOTES).replace("\u200b", "").replace("\ufe0f", "")
    return " ".join(text.split())


def image_name(image: Tag) -> str:
    """Return an image's file name without what a tool adds; none for one that is in the page itself."""
    source = str(image["src"])
    if source.startswith("data:"):
        return INLINE
    address = urlsplit(source)
    if address.netloc:
        return unquote(source)
    stem, dot, ending = _HASHED.sub("", unquote(address.path).rsplit("/", 1)[-1]).lower().rpartition(".")
    # noctule writes names of files in letters that need no quoting.
    return "-".join(re.findall(r"[\w-]+", stem)) + dot + ending


def _blocks(element: Tag) -> Iterator[Block]:
    """Yield the blocks of an element; text between blocks is a block of its own."""
    inline: list[str] = []
    finish = partial(_finish, inline, element)
    for child in element.children:
        if isinstance(child, Tag) and (child.name in BLOCKS or child.find(_is_block)):
            yield from finish()
            yield from _element(child)
        elif isinstance(child, Tag):
            inline.append(_inline(child))
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            inline.append(str(child))
    yield from finish()


def _inline(element: Tag) -> str:
    if element.name == "br":
        return " "
    text = element.get_text()
    return text.strip("[]") if element.name == "sup" else text


def _is_block(element: Tag) -> bool:
    return element.name in BLOCKS


def _finish(inline: list[str], element: Tag) -> Iterator[Block]:
    text = normal("".join(inline))
    inline.clear()
    if text and element.name == "li":
        yield Block("item", _TASK.sub("", text, count=1) if _TASK.match(text) else text)
    elif text:
        yield Block("text", text)


def _element(element: Tag) -> Iterator[Block]:
    if re.fullmatch("h[1-6]", element.name):
        anchor = str(element.get("id") or "")
        yield Block(element.name, normal("".join(map(_text_of, element.children))), anchor)
    elif element.name == "pre":
        yield Block("code", code_text(element))
    elif element.name == "summary" or _TITLE.search(" ".join(element.get_attribute_list("class"))):
        yield Block("title", normal(element.get_text()).casefold())
    elif element.name == "tr":
        yield Block("row", " | ".join(map(_cell_text, element.select("td, th"))))
    else:
        yield from _blocks(element)


def _cell_text(cell: Tag) -> str:
    for note in cell.select("sup"):
        note.replace_with(_inline(note))
    return normal(cell.get_text(" "))


def _text_of(child: object) -> str:
    return _inline(child) if isinstance(child, Tag) else str(child)


def code_text(element: Tag) -> str:
    """Return the code's lines without white space at their ends, empty lines and what is hidden."""
    for each in element.select("br"):
        each.replace_with("\n")
    lines = element.get_text().split("\n")
    if not any("\n" in str(piece) for piece in element.strings):
        lines = [line.get_text() for line in element.select(".token-line")] or lines
    return "\n".join(filter(None, (_ANNOTATION.sub("", line).rstrip() for line in lines)))
