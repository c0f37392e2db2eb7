"""Raw HTML inside markdown: its text, links and images, found by linear scans."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

# No quantifier here can run past the next "<": thousands of unclosed tags stay linear.
_UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|template|noscript|iframe|svg)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    r"|<[!?][^<>]*>?",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BREAK = re.compile(
    r"</?(?:p|div|br|li|tr|h[1-6]|dd|dt|ul|ol|table|details|summary|pre|blockquote|td|th)\b[^<>]*>", re.I
)
_BLANKS = re.compile(r"[ \t]*\n\s*")
_SPACES = re.compile(r"[ \t]+")
_HREF = re.compile(
    r"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_SRC = re.compile(
    r"""<img\s(?:[^<>]*?\s)?src\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_ALT = re.compile(
    r"""<img\s(?:[^<>]*?\s)?alt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)
_MAX_LINK_TEXT = 500


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link or image as written in raw HTML."""

    is_image: bool
    target: str
    text: str


def without_unseen(html: str) -> str:
    """Remove comments, declarations, scripts, styles and the like.

    An unclosed one extends to the end of the text. Python's own HTML parser takes quadratic time over these,
    and its versions differ on where they end.
    """
    return _UNSEEN.sub("", html)


def visible_text(html: str) -> str:
    """Return what a reader sees of the HTML: no comments, scripts, tags or blank lines, entities decoded."""
    bare = _TAG.sub("", _BREAK.sub("\n", without_unseen(html)))
    return _BLANKS.sub("\n", _SPACES.sub(" ", unescape(bare))).strip()


def href_of(tag: str) -> str:
    """Return the ``href`` of an ``<a>`` tag, else an empty string."""
    return _value(_HREF.match(tag))


def src_of(tag: str) -> str:
    """Return the ``src`` of an ``<img>`` tag, else an empty string."""
    return _value(_SRC.match(tag))


def alt_of(tag: str) -> str:
    """Return the ``alt`` of an ``<img>`` tag, else an empty string."""
    return _value(_ALT.match(tag))


def _value(found: re.Match[str] | None) -> str:
    return unescape(found[1] or found[2] or found[3] or "").strip() if found else ""


def links_in(html: str) -> list[RawLink]:
    """Return the links and images of a run of raw HTML, links first, each kind in order."""
    links = [RawLink(False, _value(found), _text_after(html, found.end())) for found in _HREF.finditer(html)]
    images = [RawLink(True, _value(found), alt_of(_tag_at(html, found))) for found in _SRC.finditer(html)]
    return [link for link in links + images if link.target]


def _tag_at(html: str, found: re.Match[str]) -> str:
    return html[found.start() : html.find(">", found.end()) + 1 or len(html)]


def _text_after(html: str, position: int) -> str:
    start = html.find(">", position, position + _MAX_LINK_TEXT) + 1
    end = html.find("</a", start, start + _MAX_LINK_TEXT)
    return " ".join(visible_text(html[start:end]).split()) if 0 < start <= end else ""
