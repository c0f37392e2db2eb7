"""The owner's logo, icon, colours and fonts: checked, and made into a style and files beside the pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path

from ..pipeline.assets.media import Recognised, recognise
from ..pipeline.errors import SettingsError
from ..pipeline.settings.site import Site, is_font_file
from ..pipeline.untrusted import NotRead, read_regular
from .theme_folder import THEME

MAX_OWN_BYTES = 20_000_000
# What WCAG 2.2 asks of text at level AA (1.4.3).
MIN_CONTRAST = 4.5
LOGO_HEIGHT = 28
_THEMES = ("light", "dark")
_GROUNDS = ("page", "panel", "raised")
_TEXTS = ("text", "muted", "link", "accent")
# These never stand on a raised ground.
_SIGNALS = ("note", "tip", "warning", "danger")
_COLOR = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
_STACK = re.compile(r"--(sans|mono): ([^;]+);")
_FONT_MARKS = {".woff2": b"wOF2", ".woff": b"wOFF", ".otf": b"OTTO", ".ttf": b"\0\1\0\0"}
_FORMATS = {".woff2": "woff2", ".woff": "woff", ".otf": "opentype", ".ttf": "truetype"}
_WEIGHTS = {
    "thin": 100, "extralight": 200, "light": 300, "regular": 400, "medium": 500, "semibold": 600, "bold": 700,
    "extrabold": 800, "black": 900,
}  # fmt: skip
_WEIGHT = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(_WEIGHTS, key=len, reverse=True))})(?![a-z])|(?<!\d)[1-9]00(?!\d)"
)
_FAMILY = re.compile(r"[\w -]{1,60}")

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Logo:
    """The image before the site's title: files for the light and the dark theme, and the size shown."""

    file: str
    dark: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Icon:
    """The image in the browser's tab."""

    file: str = "icon.svg"
    type: str = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Appearance:
    """What follows the theme's own style, and the files that it and the pages name, by their names."""

    style: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    logo: Logo | None = None
    icon: Icon = Icon()


def appearance_files(settings: Site) -> tuple[str, ...]:
    """Return the files that the appearance is made from."""
    fonts = (*settings.fonts.text, *settings.fonts.code)
    return (settings.logo, settings.logo_dark, settings.favicon, *filter(is_font_file, fonts))


def appearance_of(settings: Site) -> Appearance:
    """Return the owner's appearance; raise ``SettingsError`` for a wrong file or illegible colours."""
    files: dict[str, bytes] = {}
    logo = _logo(settings, files)
    icon = _icon(settings, files)
    lines = [*_color_lines(_colors(settings)), *_font_lines(settings, files)]
    faces = [line for line in lines if line.startswith("@font-face")]
    variables = [line for line in lines if not line.startswith("@font-face")]
    root = [":root {", *variables, "}"] if variables else []
    return Appearance("\n".join([*faces, *root, ""]) if lines else "", files, logo, icon)


def _logo(settings: Site, files: dict[str, bytes]) -> Logo | None:
    if not settings.logo:
        return None
    file, found = _image(settings.logo, "logo", files)
    dark = _image(settings.logo_dark, "logo_dark", files)[0] if settings.logo_dark else ""
    width, height = found.width or LOGO_HEIGHT, found.height or LOGO_HEIGHT
    return Logo(file, dark, max(round(LOGO_HEIGHT * width / height), 1), LOGO_HEIGHT)


def _icon(settings: Site, files: dict[str, bytes]) -> Icon:
    if not settings.favicon:
        return Icon()
    file, found = _image(settings.favicon, "favicon", files)
    return Icon(file, found.kind.name if found.kind else "")


def _image(path: str, setting: str, files: dict[str, bytes]) -> tuple[str, Recognised]:
    content = owners_file(Path(path), f"[site] {setting}")
    found = recognise(path, content)
    if found.kind is None or found.kind.player != "image":
        raise SettingsError(
            f"[site] {setting} is not an image that a page may show: {found.fault or 'it is not an image'}",
            where=path,
            hint="Use a PNG, a WebP, or an SVG without scripts.",
        )
    name = f"site-{setting.replace('_', '-')}.{found.kind.ending}"
    files[name] = content
    return name, found


# Colours


@lru_cache
def _theme_style() -> str:
    return (THEME / "style.css").read_text("utf-8")


def _theme_colors() -> dict[str, Pair]:
    return {name: (light, dark) for name, light, dark in _COLOR.findall(_theme_style())}


def _colors(settings: Site) -> dict[str, Pair]:
    """Return the colours that differ from the theme's; raise ``SettingsError`` if text would be illegible."""
    ours = _theme_colors()
    given = dict(settings.colors)
    if "accent" in given:
        given.setdefault("link", given["accent"])
    pairs = {name: value for name, value in given.items() if not isinstance(value, str)}
    known = ours | pairs
    for name, value in given.items():
        if isinstance(value, str):
            pairs[name] = (value, _legible(value, [known[ground][1] for ground in _GROUNDS], "#ffffff"))
    _require_contrast(ours | pairs, frozenset(pairs), frozenset(settings.colors))
    return pairs


def legible_pair(color: str) -> Pair:
    """Return a colour, ``#rrggbb``, as text in it is legible in the light and in the dark theme."""
    ours = _theme_colors()
    light, dark = ([ours[ground][theme] for ground in _GROUNDS] for theme in (0, 1))
    return _legible(color, light, "#000000"), _legible(color, dark, "#ffffff")


def colors_of(settings: Site) -> dict[str, Pair]:
    """Return the colours of the site by name, each for the light and the dark theme."""
    return _theme_colors() | _colors(settings)


def _require_contrast(colors: Mapping[str, Pair], changed: frozenset[str], given: frozenset[str]) -> None:
    codes = tuple(name for name in colors if name.startswith("code-"))
    stands = [*product(_TEXTS, _GROUNDS), *product((*_SIGNALS, *codes), _GROUNDS[:2])]
    for name, ground in stands:
        if changed.isdisjoint((name, ground)):
            continue
        for theme, text, behind in zip(_THEMES, colors[name], colors[ground], strict=True):
            if (ratio := contrast(text, behind)) < MIN_CONTRAST:
                key = _key(name, ground, given)
                raise _illegible(name, ground, theme, text, behind, ratio, key)


def _key(name: str, ground: str, given: frozenset[str]) -> str:
    """Return the key that made a text illegible: the text's own, the accent for links, or the background."""
    text = "accent" if name == "link" and name not in given else name
    return text if text in given else ground


def _illegible(
    name: str, ground: str, theme: str, text: str, behind: str, ratio: float, key: str
) -> SettingsError:
    toward = "#000000" if theme == "light" else "#ffffff"
    better = _legible(text, [behind], toward)
    enough = contrast(better, behind) >= MIN_CONTRAST
    one = f"{better} would do." if key != ground else f"Choose another {ground}, or {better} as {name}."
    return SettingsError(
        f"in the {theme} theme {name} {text} on {ground} {behind} has a contrast of {ratio:.2f} to 1; "
        f"text needs {MIN_CONTRAST}",
        where=f"[site.colors] {key}",
        hint=one if enough else f"Choose another {ground}, or another {name}.",
    )


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [part / 255 for part in bytes.fromhex(color[1:])]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _legible(color: str, grounds: Sequence[str], toward: str) -> str:
    """Return the colour, mixed with as little of another as makes it legible on all these grounds."""
    mixed = color
    for share in range(101):
        pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(toward[1:]), strict=True)
        mixed = "#" + bytes(round(a + (b - a) * share / 100) for a, b in pairs).hex()
        if all(contrast(mixed, ground) >= MIN_CONTRAST for ground in grounds):
            break
    return mixed


def _color_lines(colors: Mapping[str, Pair]) -> Iterator[str]:
    for name, (light, dark) in colors.items():
        yield f"  --{name}: light-dark({light}, {dark});"


# Fonts


def _font_lines(settings: Site, files: dict[str, bytes]) -> Iterator[str]:
    stacks = dict(_STACK.findall(_theme_style()))
    for use, variable, given in (
        ("text", "sans", settings.fonts.text),
        ("code", "mono", settings.fonts.code),
    ):
        own = [name for name in given if is_font_file(name)]
        for path in own:
            yield _face(path, f"site-{use}", alone=len(own) == 1, files=files)
        families = [_family(name, use) for name in given if not is_font_file(name)]
        if given:
            names = [f'"site-{use}"'] if own else []
            yield f"  --{variable}: {', '.join([*names, *families, stacks[variable]])};"


def _face(path: str, family: str, *, alone: bool, files: dict[str, bytes]) -> str:
    """Return the rule for one file; a font that comes too late is not shown, so that no text moves."""
    content, ending = owners_file(Path(path), "[site.fonts]"), posixpath.splitext(path)[1].lower()
    if not content.startswith(_FONT_MARKS[ending]):
        raise SettingsError(
            "the file is not a font of the kind that its ending names", where=path, hint="See [site.fonts]."
        )
    stem = posixpath.splitext(posixpath.basename(path))[0].lower()
    name = f"font-{'-'.join(re.findall('[a-z0-9]+', stem)) or 'file'}{ending}"
    files[name] = content
    found = _WEIGHT.search(re.sub("italic|oblique", " ", stem))
    weight = "100 900" if alone and found is None else str(_WEIGHTS.get(found[0], found[0]) if found else 400)
    style = "italic" if re.search("italic|oblique", stem) else "normal"
    return (
        f'@font-face {{ font-family: "{family}"; src: url("{name}") format("{_FORMATS[ending]}"); '
        f"font-weight: {weight}; font-style: {style}; font-display: optional; }}"
    )


def _family(name: str, use: str) -> str:
    if not _FAMILY.fullmatch(name):
        raise SettingsError(
            f"{name!r:.80} is neither a font's file nor the name of a family",
            where=f"[site.fonts] {use}",
            hint='Write ["fonts/Inter.woff2"] or ["Georgia", "serif"].',
        )
    return f'"{name}"' if " " in name else name


def owners_file(path: Path, setting: str) -> bytes:
    """Return the bytes of a file that a setting names; raise ``SettingsError``."""
    try:
        return read_regular(path, MAX_OWN_BYTES)
    except (OSError, NotRead) as error:
        raise SettingsError(
            f"cannot read a file that {setting} names: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint="Correct the setting, or choose another file.",
        ) from None
