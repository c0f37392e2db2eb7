"""The settings of the site: its names and addresses, its optional parts, and the owner's own files."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator, model_validator

from .collection import AbsoluteAddress, WebAddress, web_address
from .search import Table

GROUNDS = ("page", "panel", "raised", "line")
COLORS = ("text", "muted", "link", "accent", *GROUNDS)
# The settings that name a file of the owner's.
OWN_FILES = ("templates", "words", "mermaid", "logo", "logo_dark", "favicon", "card_font")
# A version is a folder beside others, and stands in addresses.
VERSION_NAME = re.compile(r"(?!index\.html\Z|versions\.js|pages-)[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
FONT_ENDINGS = (".woff2", ".woff", ".ttf", ".otf")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/|\Z)")
_EVENTS = re.compile(r"(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?)?/[A-Za-z0-9._~/-]*")
_POST_WORDS = ("year", "month", "day", "slug", "file", "categories")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def _hex(color: str) -> str:
    if not _HEX.fullmatch(color):
        raise ValueError(f"{color!r} is not a colour; write it as #rrggbb")
    digits = color[1:].lower()
    return f"#{digits}" if len(digits) == 6 else f"#{''.join(2 * digit for digit in digits)}"


def _color(given: object) -> str | tuple[str, str]:
    match given:
        case str(one):
            return _hex(one)
        case [str(light), str(dark)]:
            return _hex(light), _hex(dark)
    raise ValueError("write one colour, #rrggbb, or two: [light, dark]")


# Of a plain union, pydantic would tell every member's fault.
Color = Annotated[str | tuple[str, str], BeforeValidator(_color)]


def is_font_file(name: str) -> bool:
    """Return whether a font's setting names a file and no family."""
    return name.lower().endswith(FONT_ENDINGS)


class Version(Table):
    """Another edition of the documents, in the site's menu; ``current`` marks this one."""

    label: str
    url: WebAddress
    current: bool = False


class OtherSite(Table):
    """Another site that noctule built, which this one's search asks too."""

    label: str = Field(min_length=1)
    url: str = Field(description="an address, or a path from this site's first page")

    @field_validator("url")
    @classmethod
    def _known_place(cls, url: str) -> str:
        if _ORIGIN.match(url):
            return web_address(url)
        if not url or ":" in url.partition("/")[0] or url.startswith("//"):
            raise ValueError(
                f"{url!r} is not an address of a site; write https://… or a path such as ../api/"
            )
        return url


class Fonts(Table):
    """Files of fonts, which the site carries, or names of families that readers' systems have."""

    text: tuple[str, ...] = Field(default=(), strict=False)
    code: tuple[str, ...] = Field(default=(), strict=False)


class Site(Table):
    """The generated site."""

    title: str = ""
    description: str = ""
    base_url: AbsoluteAddress = Field(
        default="", description="absolute address: sitemap, feed, canonical links"
    )
    related: int = Field(default=5, ge=0)
    language: str = "en"
    languages: dict[str, str] = Field(default={}, description="each with the folder of its pages")
    search: bool = True
    events: str = Field(
        default="", description="where pages tell what is searched and opened; empty: nowhere"
    )
    event_queries: bool = Field(default=False, description="they tell what was asked, too")
    graph: bool = True
    markdown: bool = Field(default=True, description="a .md twin of every page, and llms.txt")
    report: bool = Field(default=True, description="a page on what the last night did")
    offline: bool = Field(default=False, description="a service worker keeps what was visited")
    feed: int = Field(default=50, ge=0, description="0: no feed")
    edit_url: WebAddress = Field(default="", description="with {path} and {collection}")
    history_url: WebAddress = Field(default="", description="the same for a source's changes")
    image: AbsoluteAddress = Field(
        default="", description="absolute address of a picture for previews of links"
    )
    cards: bool = Field(default=False, description="a picture of each page for previews of links, by Pillow")
    card_font: str = Field(default="", description="a .ttf or .otf file for them")
    logo: str = Field(default="", description="an image before the title in the header")
    logo_dark: str = Field(default="", description="the same for the dark theme")
    favicon: str = Field(default="", description="an image for the browser's tab")
    templates: str = Field(default="", description="a folder of templates, styles and files of your own")
    words: str = Field(default="", description="a TOML file with words of the interface")
    mermaid: str = Field(default="", description="a local copy of mermaid's script")
    home: str = Field(default="", description="the document that is the home page; empty: index or README")
    blogs: tuple[str, ...] = Field(default=(), strict=False, description="folders of pages that are blogs")
    posts_per_page: int = Field(default=10, ge=1, description="posts that each page of a blog shows")
    post_url: str = Field(default="", description="addresses of posts, below their blog; empty: their paths")
    authors: dict[str, str] = Field(
        default={}, description="names of authors by what front matter calls them"
    )
    clean_urls: bool = Field(default=False, description="a page is a folder: install/ and not install.html")
    slugs: bool = Field(default=False, description="slug and id of front matter decide a page's address")
    number_prefixes: bool = Field(
        default=True, description="addresses keep the numbers that only order files: 01-intro.html"
    )
    remote_images: bool = Field(default=False, description="readers' browsers load images from other hosts")
    navigation: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, description="files of other tools that order a collection's pages"
    )
    redirects: dict[str, str] = Field(
        default_factory=dict, description="former addresses, and the page, document or address to go to"
    )
    verify_days: int = Field(default=7, ge=0, description="every file is read within so many; 0: never")
    also: tuple[OtherSite, ...] = Field(
        default=(), strict=False, description="other sites that the search asks too"
    )
    max_files: int = Field(default=0, ge=0, description="the most files that the host takes; 0: no limit")
    versions: tuple[Version, ...] = Field(default=(), strict=False)
    version: str = Field(default="", description="the site is this version, in a folder of this name")
    aliases: tuple[str, ...] = Field(default=(), strict=False, description="other names of the version")
    colors: dict[str, Color] = Field(default={}, description="one for both themes, or [light, dark]")
    fonts: Fonts = Fonts()

    def __hash__(self) -> int:  # of tables too, which are dictionaries
        return hash(self.model_dump_json())

    @field_validator("edit_url", "history_url")
    @classmethod
    def _known_places(cls, url: str) -> str:
        unknown = sorted(set(re.findall(r"\{([^{}]*)\}", url)) - {"path", "collection"})
        if unknown:
            raise ValueError(f"unknown {{{unknown[0]}}}; there are {{path}} and {{collection}}")
        return url

    @field_validator("post_url")
    @classmethod
    def _known_posts(cls, given: str) -> str:
        bare = re.sub(rf"\{{({'|'.join(_POST_WORDS)})\}}", "", given)
        if "{" in bare or "}" in bare:
            known = ", ".join(f"{{{name}}}" for name in _POST_WORDS)
            raise ValueError(f"{given!r:.80} is no pattern of addresses; in braces there may be {known}")
        return given

    @field_validator("events")
    @classmethod
    def _known_events(cls, url: str) -> str:
        if url and (not _EVENTS.fullmatch(url) or url.startswith("//")):
            raise ValueError(f"{url!r} is not an address for events; write https://…/v1/events or /v1/events")
        return url

    @field_validator("language")
    @classmethod
    def _known_language(cls, code: str) -> str:
        if not LANGUAGE.fullmatch(code):
            raise ValueError(f"{code!r:.80} is not a language; write a tag such as de or pt-BR")
        return code

    @field_validator("languages")
    @classmethod
    def _known_languages(cls, given: dict[str, str]) -> dict[str, str]:
        for code in given:
            if not LANGUAGE.fullmatch(code):
                raise ValueError(f"{code!r} is not a language; write a tag such as de or pt-BR")
        folders = [folder.strip("/") for folder in given.values()]
        if len(set(folders)) < len(folders):
            raise ValueError("two languages cannot have the same folder")
        return given

    @field_validator("colors")
    @classmethod
    def _known_colors(cls, given: dict[str, Color]) -> dict[str, Color]:
        for name, value in given.items():
            if name not in COLORS:
                raise ValueError(f"unknown colour {name}; there are {', '.join(COLORS)}")
            if name in GROUNDS and isinstance(value, str):
                raise ValueError(f"{name} is a background: give two colours, [light, dark]")
        return given

    @model_validator(mode="after")
    def _names_of_versions(self) -> Site:
        for name in (*filter(None, [self.version]), *self.aliases):
            if not VERSION_NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot be a version's name; use letters, digits and . _ + -")
        if self.aliases and (not self.version or self.version in self.aliases):
            raise ValueError("aliases are other names of a version: give version too")
        return self
