"""The one allow-list for HTML that may reach a page: nothing in it runs or is fetched from elsewhere."""

from __future__ import annotations

import html as html_text
import re
from urllib.parse import unquote

import nh3

ID_PREFIX = "source-"

_TAG_NAMES = """
    a abbr article aside audio b bdi bdo blockquote br caption cite code col colgroup data dd del details dfn
    div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins kbd li main mark
    nav ol p pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody td
    tfoot th thead time tr tt u ul var video wbr
"""
# What these contain is not text for a reader: it goes with the tag.
_UNSEEN_NAMES = """
    script style template noscript iframe object embed svg math select textarea noembed noframes xmp
    plaintext title canvas applet
"""
_ATTRIBUTES = {
    "*": {"id", "class", "title", "lang", "dir"},
    "a": {"href", "name"},
    "img": {"src", "alt", "width", "height", "style", "align"},
    "video": {"src", "width", "height"},
    "audio": {"src"},
    "source": {"src"},
    "input": {"checked", "type"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "col": {"span"},
    "colgroup": {"span"},
    "details": {"open"},
    "time": {"datetime"},
    "data": {"value"},
    "bdo": {"dir"},
}
_SCHEMES = {"http", "https", "mailto"}
_CLASS = re.compile(
    r"language-[\w+#.-]{1,40}|numbered-\d{1,6}|marked-[\d_]{1,300}|callout(-[\w-]{1,40})?|admonition(-title)?|wikilink|transclusion|tag"
    r"|formula|parsed-literal|description(-content)?|scale-\d{1,3}|align-(?:left|center|right)|footnotes?(-[a-z]+)*|hero(-[a-z]+)?|annotations|callout-inline|md-button(--primary)?|grid|grid-item|cards|task-list-item(-checkbox)?|contains-task-list|toctree(-hidden)?|untitled"
)
_KIND_NAMES = "attention caution danger error hint important info note success tip warning"
_KINDS = frozenset(_KIND_NAMES.split())
# Of an image's style only this is kept, as the attribute of that name.
_STYLE_WIDTH = re.compile(r"(?:^|;)\s*width\s*:\s*(\d{1,4}(?:px|%))\s*(?:;|$)", re.IGNORECASE)
_CONTROL_OR_SPACE = re.compile(r"[\x00-\x20\x7f-\xa0]+")
_OUTWARD = re.compile(r"//|[a-z][a-z0-9+.-]*:", re.IGNORECASE)

# nh3 writes every attribute as name="value" with quotation marks escaped: these match only its output.
_ATTRIBUTE_RUN = r'((?:\s[^\s"=<>]+="[^"]*")*)'
_IMG = re.compile(f"<img{_ATTRIBUTE_RUN}>|<a\\s[^<>]*?href=|</a>")
_INPUT = re.compile(f"<input{_ATTRIBUTE_RUN}>")
_A = re.compile(f"<a{_ATTRIBUTE_RUN}>")
_ATTRIBUTE = re.compile(r'\s([^\s"=<>]+)="([^"]*)"')
_NAME = re.compile(rf'<a((?:\s(?!name=)[^\s"=<>]+="[^"]*")*)\sname="([^"]*)"{_ATTRIBUTE_RUN}>')
_ID = re.compile(rf'\sid="{ID_PREFIX}([^"]*)"')


# nh3 drops what an element of this name holds, though neither HTML nor its settings know it.
_CARD = re.compile(r"(</?)card(?=[\s/>])", re.IGNORECASE)


# Where an image or a cell may stand.
SIDES = frozenset({"left", "center", "right"})


def sanitize(html: str, *, remote_images: bool = False) -> str:
    """Return the HTML without anything that runs, phones home or clobbers the page's own names.

    Images of other hosts become their alt text, or a link if they have none, unless ``remote_images`` keeps
    those with an https address.
    The source's ids get a prefix, and links to them follow. Links out of the site get
    ``rel="noopener noreferrer"``.
    """
    clean = nh3.clean(
        _CARD.sub(r"\1cards", html),
        tags=set(_TAG_NAMES.split()),
        clean_content_tags=set(_UNSEEN_NAMES.split()),
        attributes=_ATTRIBUTES,
        attribute_filter=_filtered,
        url_schemes=_SCHEMES,
        link_rel=None,
        id_prefix=ID_PREFIX,
    )
    clean = _NAME.sub(_named, clean)
    ids = frozenset(_ID.findall(clean))
    clean = _INPUT.sub(_checkbox, _with_images(clean, remote_images))
    return _A.sub(lambda found: _anchor(found[1], ids), clean)


def _filtered(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return " ".join(_with_kind([word for word in value.split() if _CLASS.fullmatch(word)], value)) or None
    if name in ("id", "name"):
        return value if value and not _CONTROL_OR_SPACE.search(value) else None
    if name == "style":
        width = _STYLE_WIDTH.search(value)
        return width[1] if width else None
    if name == "src" and tag != "img":
        return None if is_outward(value) else value
    return value


def _with_kind(kept: list[str], written: str) -> list[str]:
    """Return the classes with those of a callout for an alert of Bootstrap's or an admonition of Sphinx's."""
    words = written.split()
    if "alert" not in words and "admonition" not in words:
        return kept
    kind = next((word for each in words if (word := each.removeprefix("alert-")) in _KINDS), "note")
    return list(dict.fromkeys((*kept, "callout", f"callout-{kind}")))


def _named(found: re.Match[str]) -> str:
    """Return the tag ``<a>`` with its name as an ``id``, as HTML has it today."""
    before, name, after = found.groups()
    named = "" if _ID.search(before + after) else f' id="{ID_PREFIX}{name}"'
    return f"<a{before}{named}{after}>"


def is_outward(url: str) -> bool:
    """Return whether a browser would leave the site for this address, however it is disguised."""
    # Browsers drop control characters inside an address and read a backslash as a slash.
    return bool(_OUTWARD.match(_CONTROL_OR_SPACE.sub("", url).replace("\\", "/")))


def _with_images(html: str, remote_images: bool) -> str:
    """Return the HTML with no image of another host but those that may be shown."""
    linked = False

    def shown(found: re.Match[str]) -> str:
        nonlocal linked
        if found[1] is None:
            linked = not found[0].startswith("</")
            return found[0]
        return _image(dict(_ATTRIBUTE.findall(found[1])), linked, remote_images)

    return _IMG.sub(shown, html)


def _image(attributes: dict[str, str], linked: bool, remote_images: bool) -> str:
    """Return the image, or what is said of one that is not shown; ``linked`` in a link."""
    source = html_text.unescape(attributes.get("src", ""))
    if source and (not is_outward(source) or (remote_images and source.startswith("https://"))):
        width = attributes.pop("style", None)
        kept = attributes | ({"width": width} if width else {})
        shown = "".join(f' {name}="{value}"' for name, value in kept.items())
        return f"<img{shown}>"
    alt = html_text.unescape(attributes.get("alt", ""))
    is_counter = attributes.get("width") in ("0", "1")
    # A link around an image that vanishes is named after where it leads, when its page is made.
    if alt.strip() or linked or is_counter or not source.startswith(("https://", "http://")):
        return html_text.escape(alt, quote=False)
    path = source.partition("?")[0].partition("#")[0].rstrip("/")
    name = html_text.escape(unquote(path.rpartition("/")[2]), quote=False)
    return f'<a href="{html_text.escape(source)}">{name}</a>'


def _checkbox(found: re.Match[str]) -> str:
    # Only task lists need inputs; other fields would do nothing. nh3's set_tag_attribute_values is no help:
    # its order varies.
    attributes = dict(_ATTRIBUTE.findall(found[1]))
    if attributes.get("type", "").lower() not in ("checkbox", "radio"):
        return ""
    checked = ' checked="checked"' if "checked" in attributes else ""
    return f'<input type="checkbox" disabled="disabled"{checked}>'


def _anchor(attributes: str, ids: frozenset[str]) -> str:
    href = dict(_ATTRIBUTE.findall(attributes)).get("href", "")
    if href.startswith("#") and href[1:] in ids:
        return f"<a{attributes}>".replace('href="#', f'href="#{ID_PREFIX}', 1)
    if is_outward(html_text.unescape(href)):
        return f'<a{attributes} rel="noopener noreferrer">'
    return f"<a{attributes}>"
