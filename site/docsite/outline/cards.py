"""Pictures for previews of links elsewhere: a page's title in the site's colours, drawn by Pillow."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import SettingsError
from ...pipeline.identity import sha256_hex, text_hash
from ...pipeline.settings.site import Site
from .. import urls
from ..appearance import colors_of, owners_file
from ..library import Entry

if TYPE_CHECKING:
    from PIL import Image, ImageFont

WIDTH, HEIGHT = 1200, 630
# Raised with every change of what a card looks like.
_VERSION = 1
_MARGIN, _BAR, _LOGO = 90, 18, 64
# Of a logo, which takes four bytes each.
_MOST_PIXELS = 25_000_000
_SIZES = (84, 72, 60, 50)
_TITLE_LINES, _TEXT_LINES, _TEXT_SIZE = 4, 2, 34
# More than a card has room for; lines are measured letter by letter.
_MOST_CHARS = 600
_FONT_PACKAGE = "font_source_sans_pro"
_FONTS = ("SourceSansPro-Semibold.ttf", "SourceSansPro-Regular.ttf")
# More colours than this a text on a plain ground does not need.
_PALETTE = 64


@dataclass(frozen=True, slots=True)
class CardStyle:
    """What all cards of a site have in common: its title, colours, fonts and logo."""

    site_title: str
    ground: str
    text: str
    muted: str
    accent: str
    bold: bytes
    plain: bytes
    logo: bytes
    pillow: str


class Cards:
    """The cards of a site, by page; those of one title, description and style are one file."""

    def __init__(self, style: CardStyle) -> None:
        self._style, self._known = style, dict[str, bool]()
        self._font = lru_cache(maxsize=16)(self._opened)
        parts = (style.site_title, style.ground, style.text, style.muted, style.accent, style.pillow)
        files = [sha256_hex(each) for each in (style.bold, style.plain, style.logo)]
        self.fingerprint = text_hash(repr((_VERSION, *parts, *files)))

    def path(self, entry: Entry) -> str:
        """Return the file of a page's card; empty for a title that the font cannot write."""
        if not self._writes(entry.title):
            return ""
        named = "\0".join((self.fingerprint, entry.title, entry.description))
        return f"{urls.CARDS}/{text_hash(named)[:20]}.png"

    def paint(self, title: str, description: str) -> bytes:
        """Return the card as a PNG of 1200 by 630 pixels."""
        from PIL import Image, ImageDraw

        style, title, description = self._style, title[:_MOST_CHARS], description[:_MOST_CHARS]
        image = Image.new("RGB", (WIDTH, HEIGHT), style.ground)
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 0, _BAR, HEIGHT), fill=style.accent)
        size, lines = self._fitting(title)
        y = _MARGIN
        for line in lines:
            draw.text((_MARGIN, y), line, fill=style.text, font=self._font(size, bold=True))
            y += round(size * 1.2)
        y += 16
        room = (HEIGHT - _MARGIN - _LOGO - y) // round(_TEXT_SIZE * 1.3)
        writable = description if self._writes(description) else ""
        for line in _wrapped(writable, self._font(_TEXT_SIZE), max(min(_TEXT_LINES, room), 0)):
            draw.text((_MARGIN, y), line, fill=style.muted, font=self._font(_TEXT_SIZE))
            y += round(_TEXT_SIZE * 1.3)
        self._sign(image, draw)
        written = BytesIO()
        image.quantize(_PALETTE, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        return written.getvalue()

    def _sign(self, image: Image.Image, draw: Any) -> None:
        """Draw the logo and the name of the site at the bottom."""
        x, y = _MARGIN, HEIGHT - _MARGIN // 2 - _LOGO
        if (logo := self._logo) is not None:
            image.paste(logo, (x, y), logo)
            x += logo.width + 20
        font, name = self._font(_TEXT_SIZE, bold=True), self._style.site_title
        if self._writes(name):
            draw.text((x, y + _LOGO // 2), name, fill=self._style.muted, font=font, anchor="lm")

    @cached_property
    def _logo(self) -> Image.Image | None:
        from PIL import Image

        if not self._style.logo:
            return None
        try:
            with Image.open(BytesIO(self._style.logo)) as given:
                if given.width * given.height > _MOST_PIXELS:
                    raise _undrawable(f"{given.width:,} by {given.height:,} pixels are too many for a card")
                logo = given.convert("RGBA")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise _undrawable(f"it cannot be drawn: {error}") from None
        logo.thumbnail((WIDTH // 3, _LOGO))
        return logo

    def _fitting(self, title: str) -> tuple[int, list[str]]:
        """Return the largest size at which the title fits, and its lines; at the smallest it is cut."""
        for size in _SIZES[:-1]:
            lines = _wrapped(title, self._font(size, bold=True), _TITLE_LINES)
            if not lines[-1].endswith("…") and len(lines) * size <= 3 * _SIZES[0]:
                return size, lines
        return _SIZES[-1], _wrapped(title, self._font(_SIZES[-1], bold=True), _TITLE_LINES)

    def _opened(self, size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
        from PIL import ImageFont

        try:
            return ImageFont.truetype(BytesIO(self._style.bold if bold else self._style.plain), size)
        except OSError as error:
            hint = "Take a TrueType or OpenType font; or set cards = false."
            what = f"it is not a font that can be drawn with: {error}"
            raise SettingsError(what, where="[site] card_font", hint=hint) from None

    def _writes(self, text: str) -> bool:
        """Return whether the font has a shape for every letter."""
        for letter in set(text) - self._known.keys():
            shape, none = (bytes(self._font(_TEXT_SIZE).getmask(each)) for each in (letter, "\uffff"))
            self._known[letter] = letter.isspace() or shape != none
        return all(self._known[letter] for letter in text)


def _wrapped(text: str, font: ImageFont.FreeTypeFont, most: int) -> list[str]:
    """Return the text in lines that fit into the card, with a sign where it is cut."""
    lines: list[str] = []
    fits = WIDTH - 2 * _MARGIN
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= fits:
            lines[-1] = longer
        else:
            lines.append(word)
    cut = len(lines) > most
    kept = [_shortened(line, font, fits, cut=cut and at == most - 1) for at, line in enumerate(lines[:most])]
    return kept or ([""] if most else [])


def _shortened(line: str, font: ImageFont.FreeTypeFont, fits: int, *, cut: bool) -> str:
    if not cut and font.getlength(line) <= fits:
        return line
    while line and font.getlength(f"{line}…") > fits:
        line = line[:-1]
    return f"{line.rstrip()}…"


def cards_of(settings: Site, title: str) -> Cards | None:
    """Return the cards of the site if it is to have them; raise ``SettingsError`` if they cannot be drawn."""
    if not settings.cards:
        return None
    if not settings.base_url:
        raise SettingsError(
            "cards need the site's address, since others load them from there",
            where="[site] cards",
            hint='Set base_url = "https://…", or cards = false.',
        )
    try:
        import PIL
    except ImportError:
        raise _not_installed() from None
    colors = colors_of(settings)
    bold, plain = _fonts(settings)
    logo = settings.logo if settings.logo and not settings.logo.lower().endswith(".svg") else ""
    return Cards(
        CardStyle(
            title,
            ground=colors["page"][0],
            text=colors["text"][0],
            muted=colors["muted"][0],
            accent=colors["accent"][0],
            bold=bold,
            plain=plain,
            logo=owners_file(Path(logo), "[site] logo") if logo else b"",
            pillow=str(PIL.__version__),
        )
    )


def _undrawable(what: str) -> SettingsError:
    return SettingsError(what, where="[site] logo", hint="Save it anew, smaller; or set cards = false.")


def _not_installed() -> SettingsError:
    return SettingsError(
        "cards are drawn by packages that are not installed",
        where="[site] cards",
        hint="Run: pip install 'noctule[cards]'",
    )


def _fonts(settings: Site) -> Iterator[bytes]:
    """Yield the fonts of titles and of other text: the owner's, or those of a package."""
    if settings.card_font:
        content = owners_file(Path(settings.card_font), "[site] card_font")
        yield from (content, content)
        return
    found = importlib.util.find_spec(_FONT_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise _not_installed()
    for name in _FONTS:
        yield (Path(found.submodule_search_locations[0]) / "files" / name).read_bytes()
