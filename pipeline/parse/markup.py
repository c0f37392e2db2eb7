"""Raw HTML as its authors write it: what is visible, links and images, and bombs, found by linear scans."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape

from ..errors import RejectedDocument
from ..model import LinkKind

_ENDLESS = re.compile(r"<(?=[a-z/])", re.IGNORECASE)
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
_VALUE = r"""\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
_HREF = re.compile(rf"<a\s(?:[^<>]*?\s)?href{_VALUE}", re.IGNORECASE)
_SRC = re.compile(rf"<(?:img|video|audio|source)\s(?:[^<>]*?\s)?src{_VALUE}", re.IGNORECASE)
_ALT = re.compile(rf"<img\s(?:[^<>]*?\s)?alt{_VALUE}", re.IGNORECASE)
_NAMED = re.compile(rf"<(?:a\s(?:[^<>]*?\s)?name|[A-Za-z][\w-]*\s(?:[^<>]*?\s)?id){_VALUE}", re.IGNORECASE)
_MAX_LINK_TEXT = 500
# Obsidian's size of an image, after its text or in its place.
_SIZE = re.compile(r"(?:^|\|)\s*(\d{1,5})(?:x(\d{1,5}))?\s*\Z")


MAX_DEPTH = 2_000
MAX_TAGS = 200_000
# Per tag: parsers compare each attribute with those before it. A long page may have many in all.
MAX_ATTRIBUTES = 1_000
TAG_PARTS = re.compile(r"<(/?)([A-Za-z][^\s<>/]*)([^<>]*)")
# These never nest by themselves: void tags, and those whose end tag HTML allows authors to omit.
_FLAT_NAMES = """
    area base br col embed hr img input link meta param source track wbr
    p li dt dd option optgroup tr td th thead tbody tfoot colgroup html head body
"""
_FLAT = frozenset(_FLAT_NAMES.split())


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link as written, whose offset is not known yet."""

    kind: LinkKind
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Sized:
    """The text of an image, and the size in pixels that is written behind it; none where it is empty."""

    text: str
    width: str = ""
    height: str = ""


def sized(text: str, *, alone: bool = False) -> Sized:
    """Return an image's text and size: ``an owl|300x200``; with ``alone``, the size needs no text."""
    found = _SIZE.search(text)
    if not found or not (alone or found[0].startswith("|")):
        return Sized(text)
    return Sized(text[: found.start()].strip(), found[1], found[2] or "")


def require_tame(html: str, where: str) -> None:
    """Raise ``RejectedDocument`` for HTML nested, repeated or attributed beyond any real page.

    It is a linear scan, made before any parser or sanitizer sees the HTML.
    """
    depth = 0
    for tags, found in enumerate(TAG_PARTS.finditer(html), start=1):
        closing, name, rest = found.groups()
        if len(rest) > MAX_ATTRIBUTES and len(rest.split()) > MAX_ATTRIBUTES:
            raise _bomb(f"more than {MAX_ATTRIBUTES} attributes in one tag", where)
        if name.lower() not in _FLAT and not rest.endswith("/"):
            depth = max(0, depth - 1) if closing else depth + 1
        if depth > MAX_DEPTH:
            raise _bomb(f"more than {MAX_DEPTH} tags open at once", where)
        if tags > MAX_TAGS:
            raise _bomb(f"more than {MAX_TAGS} tags", where)


def _bomb(what: str, where: str) -> RejectedDocument:
    hint = "Split the page, or exclude it in the settings."
    return RejectedDocument(f"the HTML has {what}", where=where, hint=hint)


# Every repetition here is bounded: thousands of unclosed tags stay linear.
_FRAME = re.compile(r"<iframe\b([^<>]*)>(?:[^<]{0,2000}</iframe\s*>)?", re.IGNORECASE)
_PLAYER = re.compile(
    r"<(video|audio)\b([^<>]{0,2000})>((?:[^<]{0,2000}<(?!/?(?:video|audio))[^<>]{0,2000}>){0,20}[^<]{0,2000})</\1\s*>",
    re.IGNORECASE,
)
_TITLE = re.compile(rf"\stitle{_VALUE}", re.IGNORECASE)
_SOURCES = re.compile(rf"\ssrc{_VALUE}", re.IGNORECASE)
_HIDDEN_FRAME = re.compile(r"display\s*:\s*none|\b(?:width|height)\s*=\s*[\"']?0\b", re.IGNORECASE)
# Of what hosts of videos have pages embed, the page that shows the video itself.
_EMBEDDED = re.compile(
    r"https?://(?:(?:www\.)?(?P<tube>youtube(?:-nocookie)?\.com)/embed|player\.(?P<vimeo>vimeo\.com)/video)/([\w-]+)"
)
VIDEO_HOST = r"https?://(?:www\.|m\.)?(?:youtube\.com|youtu\.be|vimeo\.com)/"


def with_linked_frames(html: str) -> str:
    """Return the HTML with a link in place of each frame, and of each video or sound from another host.

    Pages embed nothing from elsewhere, and what would vanish without a trace is named.
    """
    lowered = html.lower()
    if "<iframe" in lowered:
        html = _FRAME.sub(_frame_link, html)
    return _PLAYER.sub(_player_link, html) if "<video" in lowered or "<audio" in lowered else html


def _frame_link(found: re.Match[str]) -> str:
    source = _value(_SOURCES.search(found[1]))
    if not source:
        return found[0]
    return "" if _HIDDEN_FRAME.search(found[1]) else linked(source, _value(_TITLE.search(found[1])))


def _player_link(found: re.Match[str]) -> str:
    sources = [_value(each) for each in _SOURCES.finditer(found[2] + found[3])]
    if not sources or not all(each.startswith(("https://", "http://", "//")) for each in sources):
        return found[0]
    return linked(sources[0], _value(_TITLE.search(found[2])), is_video=found[1].lower() == "video")


def linked(source: str, title: str, *, is_video: bool = False) -> str:
    """Return a link to what another page would embed, named by its title or its address."""
    address = f"https:{source}" if source.startswith("//") else source
    if video := _EMBEDDED.match(address):
        address = f"https://{'www.youtube.com/watch?v=' if video['tube'] else 'vimeo.com/'}{video[3]}"
    is_video = is_video or bool(re.match(VIDEO_HOST, address))
    bare = address.partition("://")[2] or address
    shown = title or (f"Video: {bare}" if is_video else bare)
    return f'<a href="{escape(address)}">{escape(shown, quote=False)}</a>'


def without_unseen(html: str) -> str:
    """Remove comments, declarations, scripts, styles and the like.

    An unclosed one extends to the end of the text. Python's own HTML parser takes quadratic time over these,
    and its versions differ on where they end.
    """
    return _UNSEEN.sub("", html)


def with_endless_as_text(html: str) -> str:
    """Escape tags that never end, over which Python's HTML parser takes quadratic time or which it drops."""
    end = html.rfind(">") + 1
    return html[:end] + _ENDLESS.sub("&lt;", html[end:])


def visible_text(html: str) -> str:
    """Return what a reader sees of the HTML: no comments, scripts, tags or blank lines, entities decoded."""
    bare = _TAG.sub("", _BREAK.sub("\n", without_unseen(html)))
    return _BLANKS.sub("\n", _SPACES.sub(" ", unescape(bare))).strip()


def names_in(html: str) -> list[str]:
    """Return the names that links may point to: every ``id``, and the ``name`` of ``<a>``."""
    return [name for found in _NAMED.finditer(html) if (name := _value(found))]


def href_of(tag: str) -> str:
    """Return the ``href`` of an ``<a>`` tag, else an empty string."""
    return _value(_HREF.match(tag))


def src_of(tag: str) -> str:
    """Return the ``src`` of an image, a video or a sound, else an empty string."""
    return _value(_SRC.match(tag))


def alt_of(tag: str) -> str:
    """Return the ``alt`` of an ``<img>`` tag, else an empty string."""
    return _value(_ALT.match(tag))


def _value(found: re.Match[str] | None) -> str:
    return unescape(found[1] or found[2] or found[3] or "").strip() if found else ""


def links_in(html: str) -> list[FoundLink]:
    """Return the links and images of a run of raw HTML, links first, each kind in order."""
    links = [
        FoundLink("link", _value(found), _text_after(html, found.end())) for found in _HREF.finditer(html)
    ]
    images = [
        FoundLink("image", _value(found), alt_of(_tag_at(html, found))) for found in _SRC.finditer(html)
    ]
    return [link for link in links + images if link.target]


def _tag_at(html: str, found: re.Match[str]) -> str:
    return html[found.start() : html.find(">", found.end()) + 1 or len(html)]


def _text_after(html: str, position: int) -> str:
    start = html.find(">", position, position + _MAX_LINK_TEXT) + 1
    end = html.find("</a", start, start + _MAX_LINK_TEXT)
    return " ".join(visible_text(html[start:end]).split()) if 0 < start <= end else ""
