"""Sanitised HTML as the site shows it: links rewritten, headings named, code coloured, tables scrollable.

This runs after the sanitiser and relies on the shape of its output: attributes in double quotes, and no ``<``
or ``>`` outside tags. Everything it adds is either our own or escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape

from ...pipeline.address import heading_slugs
from ...pipeline.model import Heading
from ...pipeline.parse.code.info import code_info, language_name
from ...pipeline.parse.code.listing import CodeListing
from ...pipeline.parse.labels import FORMULA, PARSED, UNTITLED
from ...pipeline.sanitize import ID_PREFIX, SIDES
from .embedded import attributes_of, image_html, labelled, player_html
from .formulas import formula_html
from .highlight import listing_html
from .linking import KEPT, Destination, PageLinks, kept_name
from .markdown_html import Anchored
from .marks import ANCHOR_MARK, HTML_MARK, Marks, without_marks, without_marks_in_tags

_ATTRIBUTES = r'(?P<attributes>(?:\s[^\s"=<>]+="[^"<>]*")*)'
_TAGS = "a|img|h[1-6]|table|td|th|input|main|nav|header|footer|aside|video|audio|source"
_ANY_TAG = re.compile(r"<[^<>]*>")
_LANGUAGE = re.compile(r'class="(?:[^"]* )?language-([\w+#.-]+)')
_PARTS = re.compile(
    rf"<pre(?P<pre>[^<>]*)>(?P<code>.*?)</pre>"
    rf'|<a(?P<untitled>(?=[^<>]*\sclass="{UNTITLED}")[^<>]*)>(?P<target>[^<>]*)</a>'
    rf'|<span(?=[^<>]*\sclass="{FORMULA}")[^<>]*>(?P<formula>[^<>]*)</span>'
    rf"|<(?P<player>video|audio)(?P<played>[^<>]*)>(?P<inside>.*?)</(?P=player)>"
    rf"|<(?P<end>/?)(?P<tag>{_TAGS}){_ATTRIBUTES}>(?:{ANCHOR_MARK.replace('(', '(?P<anchor>')})?"
    rf"|{HTML_MARK.replace('(', '(?P<html>')}|{ANCHOR_MARK}",
    re.DOTALL,
)
_HEADING = re.compile(r"<h([1-6])(\s[^<>]*)?>(.*?)</h\1>", re.DOTALL)
# A page has one of each landmark, and it is the theme's.
_LANDMARKS = ("main", "nav", "header", "footer", "aside")
# Outside a player, or never closed.
_STRAY = ("video", "audio", "source")
_OWN_ID = re.compile(rf'\sid="(?!{ID_PREFIX})([^"]+)"')
_SOURCE_NAME = re.compile(rf'(\s(?:id="|href="[^"<>#]*#)){ID_PREFIX}([^"<>]+)"')
# Names of the theme, of its scripts, of notes, and of what scripts keep on the window.
_RESERVED = re.compile(
    r"(?:Playground|RelatedPages|LinkedFrom|SiteNav|Content|Search\w*|(?:Tab|Panel|Diagram)\d+)\Z"
    r"|fn|code-note-|noctule|mermaid|source-",
)
_PERMALINK_SIGNS = "¶#§ \n"


class Decorator:
    """A decorator of one document's HTML; transcluded HTML gets no anchors of its own."""

    def __init__(
        self,
        links: PageLinks,
        marks: Marks,
        *,
        languages: Sequence[str] = (),
        headings: Sequence[Anchored] = (),
        transcluded: bool = False,
    ) -> None:
        self._links, self._marks = links, marks
        self._languages: Iterator[str] = iter(languages)
        self._named = iter(headings)
        self._transcluded = transcluded
        self._link_ends: list[str] = []
        self._heading_ends: list[str] = []

    def decorate(self, clean: str) -> str:
        """Return the page's content."""
        decorated = _PARTS.sub(self._replace, without_marks_in_tags(clean))
        return labelled(_without_names(decorated) if self._transcluded else _with_own_names(decorated))

    def _replace(self, found: re.Match[str]) -> str:
        tag = found["tag"]
        if tag is None:
            return self._whole(found)
        ending, attributes = bool(found["end"]), found["attributes"]
        if tag == "a":
            return self._link_end() if ending else self._link(attributes)
        if tag[0] == "h" and tag[1:].isdigit():
            return self._heading_end(tag) if ending else self._heading(tag, attributes, found["anchor"])
        return _closing(tag) if ending else self._opening(tag, attributes)

    def _whole(self, found: re.Match[str]) -> str:
        """Return what stands for an element that is replaced with all it holds, or for a mark."""
        if found["code"] is not None and PARSED in attributes_of(found["pre"]).get("class", ""):
            marked = _PARTS.sub(self._replace, found["code"].removeprefix("\n")).rstrip("\n")
            return f'<div class="code"><pre tabindex="0"><code>{marked}\n</code></pre></div>'
        if found["code"] is not None:
            return self._code(found["pre"], found["code"])
        if found["untitled"] is not None:
            return self._titled(found["untitled"], found["target"])
        if found["formula"] is not None:
            return formula_html(unescape(found["formula"]).strip(), False)
        if found["player"] is not None:
            return player_html(self._links, _parsed(found["played"]), found["inside"])
        return self._marks.piece(found["html"] or "")

    def _opening(self, tag: str, attributes: str) -> str:
        given = _parsed(attributes)
        if tag in _STRAY:
            return ""
        if tag == "img":
            return image_html(self._links, given, linked=bool(self._link_ends))
        if tag == "table":
            return (
                f'<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table{attributes}>'
            )
        if tag == "input":
            state = "done" if "checked" in given else "to do"
            return f'<input{attributes} aria-label="{state}">'
        if tag in _LANDMARKS:
            return f"<div{attributes}>"
        side = given.pop("align", "")
        kept = "".join(f' {name}="{value}"' for name, value in given.items() if name != "class")
        return f'<{tag}{kept} class="align-{side}">' if side in SIDES else f"<{tag}{kept}>"

    def _titled(self, attributes: str, target: str) -> str:
        """Return a link without a text of its own, with the title of what it leads to."""
        given = attributes_of(attributes)
        href = unescape(given.get("href", ""))
        title = self._links.title(href.replace(f"#{ID_PREFIX}", "#", 1))  # as of a place on the page itself
        shown = escape(title, quote=False) or target or escape(href, quote=False)
        return self._link(
            "".join(f' {name}="{value}"' for name, value in given.items() if name != "class")
        ) + (f"{shown}{self._link_end()}")

    def _link(self, attributes: str) -> str:
        given = _parsed(attributes)
        if "href" not in given:
            self._link_ends.append("</a>")
            return f"<a{attributes}>"
        destination = self._links.plain(
            unescape(given["href"]).replace(f"#{ID_PREFIX}{ID_PREFIX}", f"#{ID_PREFIX}")
        )
        kept = "".join(f' {name}="{given[name]}"' for name in ("id", "class", "lang", "dir") if name in given)
        if destination.kind == "missing":
            self._link_ends.append("</span>" if destination.title else "")
            said = f' class="missing-link" title="{escape(destination.title)}"'
            return f"<span{said}>" if destination.title else ""
        self._link_ends.append("</a>")
        return f"<a{kept}{_href(destination)}>"

    def _link_end(self) -> str:
        return self._link_ends.pop() if self._link_ends else ""

    def _heading(self, tag: str, attributes: str, mark: str | None) -> str:
        slug = self._marks.piece(mark) if mark else ""
        if not mark:
            named = next(self._named, None)
            slug = named.slug if named else ""
        own = _parsed(attributes).get("id", "")
        target = f'<span id="{own}"></span>' if own else ""
        if not slug or self._transcluded:
            self._heading_ends.append("")
            return f"<{tag}>{target}"
        slug = kept_name(slug)
        link = f' <a class="anchor" href="#{escape(slug)}" aria-label="Link to this section">#</a>'
        self._heading_ends.append(link)
        return f'<{tag} id="{escape(slug)}">{target}'

    def _heading_end(self, tag: str) -> str:
        return f"{self._heading_ends.pop() if self._heading_ends else ''}</{tag}>"

    def _code(self, attributes: str, inner: str) -> str:
        known = _LANGUAGE.search(attributes) or _LANGUAGE.search(inner[:200])
        indexed = next(self._languages, "")
        text = unescape(_ANY_TAG.sub("", without_marks(inner)))
        language = language_name(known[1] if known else indexed)
        if language == "math":
            return f"<p>{formula_html(text.strip(), True)}</p>"
        title = unescape(_parsed(attributes).get("title", ""))
        return listing_html(CodeListing(code_info(language, attributes, title), text.removeprefix("\n")))


def html_headings(clean: str, anchors: Sequence[str]) -> list[Anchored]:
    """Return the headings of sanitised HTML with the names in ``anchors``, which the index gave them."""
    found = [_found_heading(*match) for match in _HEADING.findall(clean)]
    names = list(anchors) if len(anchors) == len(found) else heading_slugs(found)
    return [Anchored(h.level, h.text, name) for h, name in zip(found, names, strict=True)]


def _found_heading(level: str, attributes: str, inner: str) -> Heading:
    own = unescape(_parsed(attributes).get("id", "")).removeprefix(ID_PREFIX)
    return Heading(int(level), plain_text(inner).strip(_PERMALINK_SIGNS), 0, 0, own)


def plain_text(html: str) -> str:
    """Return the text of sanitised HTML on one line."""
    return " ".join(unescape(_ANY_TAG.sub("", html)).split())


def _closing(tag: str) -> str:
    if tag in _STRAY:
        return ""
    return {"table": "</table></div>"}.get(tag, "</div>" if tag in _LANDMARKS else f"</{tag}>")


def _parsed(attributes: str) -> dict[str, str]:
    given = attributes_of(attributes)
    if "id" in given:  # content that was clean before has its prefix twice
        given["id"] = given["id"].replace(f"{ID_PREFIX}{ID_PREFIX}", ID_PREFIX, 1)
    return given


def _href(destination: Destination) -> str:
    outward = ' rel="noopener noreferrer"' if destination.kind == "external" else ""
    return f' href="{escape(destination.href)}"{outward}'


def _with_own_names(html: str) -> str:
    """Return the page with the names that its source gave to places, where they are still free."""
    if ID_PREFIX not in html:
        return html
    taken = frozenset(_OWN_ID.findall(html))

    def named(found: re.Match[str]) -> str:
        name = found[2]
        if _RESERVED.match(name) or (found[1].endswith('id="') and name in taken):
            return found[0]
        return f'{found[1]}{name}"'

    return _SOURCE_NAME.sub(named, html).replace(KEPT, "")


def _without_names(html: str) -> str:
    """Return transcluded content without names that may clash on the page; footnotes are kept apart."""
    return re.sub(rf'(<[^<>]*?)\sid="(?!{ID_PREFIX}fn)[^"<>]*"', r"\1", html)
