"""Images, players and notes in the place of those that are missing, as HTML of our own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from html import escape, unescape
from urllib.parse import quote

from ...pipeline.parse.markup import sized
from ...pipeline.sanitize import SIDES, is_outward
from ..document_rows import Asset, LinkRow
from .linking import PageLinks

_LENGTH = re.compile(r"\s*(\d{1,5})\s*(px|%)?\s*\Z")
_SCALE = re.compile(r"\bscale-(\d{1,3})\b")
_ATTRIBUTE = re.compile(r'\s([^\s"=<>]+)="([^"<>]*)"')
_SOURCE = re.compile(r'<source((?:\s[^\s"=<>]+="[^"<>]*")*)>')
# The content's measure in pixels: a wider image is shown smaller than it is.
_MEASURE = 704
_ENLARGE_FROM = 400
_THEMES = {
    "only-dark": "only-dark",
    "gh-dark-mode-only": "only-dark",
    "only-light": "only-light",
    "gh-light-mode-only": "only-light",
}


def image_html(links: PageLinks, given: Mapping[str, str], *, linked: bool) -> str:
    """Return the image of an ``img`` tag with these attributes, or a note in its place; ``linked`` in a link.

    A video or a sound that is written as an image gets a player, any other file a link.
    """
    source, text = unescape(given.get("src", "")).strip(), sized(unescape(given.get("alt", "")))
    if is_outward(source):  # the sanitiser leaves only those that the settings allow
        return _remote_image(given, linked=linked)
    asset = links.asset(source)
    if asset is None:
        return note_html(source, text.text)
    size = {**given, "width": text.width, "height": text.height} if text.width else given
    return _shown(links, asset, text.text.strip(), size, source.partition("#")[2], linked)


def _remote_image(given: Mapping[str, str], *, linked: bool) -> str:
    """Return an image of another host, which is not told on which page it is shown."""
    source, text = given["src"], sized(unescape(given.get("alt", "")))
    size = {"width": text.width, "height": text.height} if text.width else given
    lengths = _lengths(_length(size, "width"), _length(size, "height"))
    name = posixpath.basename(source.partition("?")[0]) if linked else ""
    alt = escape(text.text.strip()) or name
    return (
        f'<img src="{source}" alt="{alt}"{lengths} loading="lazy" decoding="async" '
        'referrerpolicy="no-referrer">'
    )


def embedded(links: PageLinks, row: LinkRow, text: str) -> str:
    """Return what ``![[target|text]]`` shows, where the target is a file besides documents."""
    found, asset = sized(text, alone=True), links.asset_of(row)
    name = posixpath.basename(row.target.partition("#")[0])
    words = "" if found.text == row.target else found.text
    if asset is None:
        return note_html(name, words)
    return _shown(
        links, asset, words, {"width": found.width, "height": found.height}, row.fragment, linked=False
    )


def player_html(links: PageLinks, given: Mapping[str, str], inside: str) -> str:
    """Return the player of a ``video`` or ``audio`` element: those of its sources that are in the site."""
    named = [
        given.get("src", ""),
        *(attributes_of(found).get("src", "") for found in _SOURCE.findall(inside)),
    ]
    sources = [unescape(name).strip() for name in named if name]
    assets = [asset for each in sources if (asset := links.asset(each)) and asset.kind.player != "image"]
    if not assets:
        return note_html(sources[0], "") if sources else ""
    return _player(links, assets, given)


def note_html(source: str, text: str) -> str:
    """Return a note in the place of an image or medium that is not part of the site."""
    name = source.rsplit("/", 1)[-1]
    title = escape(f"This image is not part of the site: {name}")
    return f'<span class="image-note" title="{title}">{escape(text.strip() or name)}</span>'


def labelled(html: str) -> str:
    """Return the HTML with a text in every link that had none, such as one around an image from elsewhere."""
    return _EMPTY_LINK.sub(lambda found: f"{found[1]}{_label(found[2])}</a>", html)


_EMPTY_LINK = re.compile(r'(<a(?=\s)(?![^<>]*\saria-label=)[^<>]*\shref="([^"<>]*)"[^<>]*>)\s*</a>')


def _label(href: str) -> str:
    address = unescape(href).partition("#")[0].partition("?")[0].rstrip("/")
    return escape(address.rsplit("/", 1)[-1] or unescape(href))


def _shown(
    links: PageLinks, asset: Asset, text: str, size: Mapping[str, str], fragment: str, linked: bool
) -> str:
    if asset.kind.player == "image":
        return _image(links, asset, text, size, fragment, linked)
    if asset.kind.player == "file":
        label = escape(text or asset.name)
        # Viewers of PDF open the page that it names.
        href = links.href(asset) + (f"#{quote(fragment, safe='=&,-._~')}" if fragment else "")
        return label if linked else f'<a class="attachment" href="{escape(href)}">{label}</a>'
    return _player(links, [asset], size)


def _image(
    links: PageLinks, asset: Asset, text: str, size: Mapping[str, str], fragment: str, linked: bool
) -> str:
    width, height = _size(asset, size)
    enlarges = not linked and _is_larger(asset, width)
    # A link without a text cannot be named to those who do not see it.
    alt = text or (asset.name if linked or enlarges else "")
    theme = _THEMES.get(fragment, "")
    title = f' title="{size["title"]}"' if size.get("title") else ""
    classes = f"{theme} {_side(size)}".strip()
    css = f' class="{classes}"' if classes and not enlarges else ""
    source = escape(links.href(asset))
    shape = f"{title}{_lengths(width, height)}{css}"
    image = f'<img src="{source}" alt="{escape(alt)}"{shape} loading="lazy" decoding="async">'
    if not enlarges:
        return image
    return f'<a class="{f"enlarge {classes}".strip()}" href="{source}">{image}</a>'


def _player(links: PageLinks, assets: Sequence[Asset], size: Mapping[str, str]) -> str:
    element = "video" if assets[0].kind.player == "video" else "audio"
    lengths = _lengths(_length(size, "width"), _length(size, "height")) if element == "video" else ""
    sources = "".join(
        f'<source src="{escape(links.href(asset))}" type="{asset.kind.name}">' for asset in assets
    )
    download = f'<a href="{escape(links.href(assets[0]))}">{escape(assets[0].name)}</a>'
    name = f' aria-label="{escape(assets[0].name)}"'
    return f'<{element} controls preload="metadata"{name}{lengths}>{sources}{download}</{element}>'


def _size(asset: Asset, given: Mapping[str, str]) -> tuple[str, str]:
    """Return width and height as given, and what is not given in proportion to the image."""
    width, height = _length(given, "width"), _length(given, "height")
    if asset.width and not (width or height) and (scale := _SCALE.search(given.get("class", ""))):
        width = str(round(asset.width * int(scale[1]) / 100))
    if not asset.width or not asset.height or width.endswith("%") or (width and height):
        return width, height
    if width:
        return width, str(round(asset.height * int(width) / asset.width))
    if height.isdigit():
        return str(round(asset.width * int(height) / asset.height)), height
    return str(asset.width), str(asset.height)


def _side(given: Mapping[str, str]) -> str:
    """Return the class of an image that stands at a side, with the text beside it, or in the middle."""
    side = given.get("align", "").lower()
    return f"align-{side}" if side in SIDES else ""


def _is_larger(asset: Asset, width: str) -> bool:
    """Return whether a reader sees more of a raster image by opening it."""
    if asset.kind.ending == "svg" or asset.width is None:
        return False
    shown = min(int(width), _MEASURE) if width.isdigit() else _MEASURE
    return asset.width > max(shown, _ENLARGE_FROM)


def _length(given: Mapping[str, str], name: str) -> str:
    found = _LENGTH.match(given.get(name, ""))
    return f"{int(found[1])}{'%' if found[2] == '%' else ''}" if found else ""


def _lengths(width: str, height: str) -> str:
    return "".join(f' {name}="{value}"' for name, value in (("width", width), ("height", height)) if value)


def attributes_of(text: str) -> dict[str, str]:
    """Return the attributes of a tag as the sanitiser writes them, still escaped."""
    return dict(_ATTRIBUTE.findall(text))
