"""What a document's front matter says of its place in the site, in the words of the tools that people use."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from ..pipeline.address import INDEX_NAMES, slug_path, unnumbered
from ..pipeline.identity import read_front_matter_json
from ..pipeline.links.published import FORMER, SLUGS, dated_path, former_addresses, slugs_of, without_ending
from ..pipeline.parse.dates import day_of
from ..pipeline.settings.site import Site
from ..pipeline.untrusted import as_number
from . import urls

NO_ORDER = float("inf")
_DATES = ("date", "created", "published", "publishedAt", "pubDate", "publishDate", "pub_date")
# With the folder that a site lies in before it, within the 4,096 of Linux and the 1,024 of macOS.
MAX_PATH_BYTES = 800
_ORDER = ("nav_order", "sidebar_position", "weight", "order")
_LABEL = ("nav_title", "sidebar_label", "linkTitle", "linktitle", "navTitle")
# Just the Docs; Docusaurus; Docsy; hugo-book; Sphinx.
_HIDDEN = ("nav_exclude", "unlisted", "toc_hide", "bookHidden", "orphan")
# Just the Docs; whatever it says of children in newer versions, pages have them.
_BELOW = ("has_children", "has_toc")
_NAMES = (
    *SLUGS,
    "id",
    *_ORDER,
    *_LABEL,
    *_HIDDEN,
    *FORMER,
    "parent",
    "sidebar",
    "menu",
    "redirect_to",
    "displayed_sidebar",
    *_BELOW,
)


@dataclass(frozen=True, slots=True)
class Placement:
    """A page's place among its siblings, its name there, and the title of the page above it.

    ``former`` are addresses that the page had, ``moved_to`` the one that it has now. ``slug`` and ``name``
    are what Docusaurus and others put in place of the file's path and of its name. ``lists_below`` tells
    whether the pages below it are listed on it; None leaves that to the page's text. A page that
    ``is_titled`` has its title from there.
    """

    order: float = NO_ORDER
    label: str = ""
    hidden: bool = False
    parent: str = ""
    grand_parent: str = ""
    former: tuple[str, ...] = ()
    moved_to: str = ""
    slug: str = ""
    name: str = ""
    lists_below: bool | None = None
    is_titled: bool = False


NOWHERE = Placement()
_TITLED = Placement(is_titled=True)
_TITLE = '"title":"'


@lru_cache(maxsize=32_768)
def placement_of(front_matter: str) -> Placement:
    """Return what the front matter, as canonical JSON, says of its document's place."""
    if not any(f'"{name}"' in front_matter for name in _NAMES):
        return _TITLED if _TITLE in front_matter else NOWHERE
    given = read_front_matter_json(front_matter)
    sidebar, menu = _table(given.get("sidebar")), _menu(given.get("menu"))
    return Placement(
        order=_order({**given, **{key: menu[key] for key in ("weight",) if key in menu}, **sidebar}),
        label=_label({**given, "sidebar_label": given.get("sidebar_label") or sidebar.get("label")}, menu),
        hidden=_is_hidden(given, sidebar) or bool(given.get("redirect_to")),
        parent=_text(given.get("parent")),
        grand_parent=_text(given.get("grand_parent")),
        former=former_addresses(given),
        moved_to=next(iter(_texts(given.get("redirect_to"))), ""),
        slug=next(filter(None, map(_path, slugs_of(given))), ""),
        lists_below=_lists_below(given),
        is_titled=bool(_text(given.get("title"))),
        name=name if (name := _path(given.get("id"))) and "/" not in name else "",
    )


def published_path(path: str, front_matter: str, settings: Site, below: str = "", title: str = "") -> str:
    """Return the path at which a document is published in place of its own; empty for none.

    The front matter gives it, with ``settings.slugs``, and without ``settings.number_prefixes`` its own path
    without the numbers that only order files. A post of a blog has its day in its path, with ``slugs``, or
    what ``post_url`` says; ``below`` is the folder of the site that its collection has.
    """
    if settings.post_url and (post := post_path(path, front_matter, settings, below, title)):
        return post
    named = path if settings.number_prefixes else unnumbered(path)
    placement = placement_of(front_matter) if settings.slugs else NOWHERE
    is_index = PurePosixPath(path).stem.lower() in INDEX_NAMES
    if placement.slug:
        return f"{without_ending(slug_path(named, placement.slug)) or 'index'}.html"
    if placement.name and not is_index:
        return f"{slug_path(named, placement.name)}.html"
    if settings.slugs and (dated := dated_path(path)) and _is_post(posixpath.join(below, path), settings):
        return f"{dated}.html"
    return urls.page_path(named) if named != path else ""


def post_path(path: str, front_matter: str, settings: Site, below: str, title: str) -> str:
    """Return the path that ``post_url`` makes of a post with a day; empty for another document."""
    page = posixpath.join(below, path)
    blog = next((name for name in _blog_folders(settings) if page.startswith(name)), None)
    given = read_front_matter_json(front_matter) if blog is not None else {}
    if blog is None or not (day := said_day(given)):
        return ""
    words = dict(zip(("year", "month", "day"), day.split("-"), strict=True))
    words["slug"] = _path(given.get("slug")) or _slug(title)
    words["file"] = PurePosixPath(path).stem
    words["categories"] = "".join(map(_slug, _texts(given.get("categories"))[:1]))
    name = slug_path("", f"/{blog}{settings.post_url.format_map(words)}")
    if not name or len(name.encode("utf-8", "replace")) > MAX_PATH_BYTES:
        return ""
    return f"{name.removeprefix(f'{below}/' if below else '')}.html"


def own_places(documents: Iterable[urls.Placed], fronts: Iterable[str], settings: Site) -> Mapping[str, str]:
    """Return by id where the files of posts are that ``post_url`` moves: they stand there in the tree."""
    if not settings.post_url:
        return {}
    moved = (d for d, front in zip(documents, fronts, strict=True) if _is_moved(d, front, settings))
    named = {d: d.path if settings.number_prefixes else unnumbered(d.path) for d in moved}
    return {d.doc_id: posixpath.join(d.below, urls.page_path(path)) for d, path in named.items()}


def _is_moved(document: urls.Placed, front: str, settings: Site) -> bool:
    return bool(post_path(document.path, front, settings, document.below, document.path))


def said_day(given: Mapping[str, Any]) -> str:
    """Return the day of a post as its front matter says it; empty for none."""
    values = (each.get("created") if isinstance(each := given.get(name), dict) else each for name in _DATES)
    return next(filter(None, map(day_of, values)), "")


def _slug(text: str) -> str:
    """Return a text as Material for MkDocs has it in addresses."""
    kept = re.sub(r"[^\w\s-]", "", unicodedata.normalize("NFC", text)).strip().lower()
    return re.sub(r"\s", "-", kept)


def _blog_folders(settings: Site) -> list[str]:
    return [f"{name.strip('/.')}/".lstrip("/") for name in settings.blogs]


def _is_post(page: str, settings: Site) -> bool:
    return page.startswith(tuple(_blog_folders(settings)))


def served_file(path: str) -> str:
    """Return the file of the site that a server shows at a path, which may be that of a document."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in (".md", ".mdx", ".qmd", ".rst", ".ipynb", ".canvas", ".markdown"):
        return urls.page_path(path)
    return path if ending in (".html", ".htm") else f"{path}/{urls.HOME}".lstrip("/")


def _lists_below(given: Mapping[str, Any]) -> bool | None:
    if given.get("has_toc") is False:
        return False
    return True if given.get("has_children") is True else None


def _order(given: Mapping[str, Any]) -> float:
    for key in _ORDER:
        value = given.get(key)
        # For Hugo a weight of 0 is none.
        if isinstance(value, int | float) and not isinstance(value, bool) and (value or key != "weight"):
            return as_number(value, NO_ORDER)
    return NO_ORDER


def _label(given: Mapping[str, Any], menu: Mapping[str, Any]) -> str:
    return next(filter(None, (_text(given.get(key)) for key in _LABEL)), "") or _text(menu.get("name"))


def _is_hidden(given: Mapping[str, Any], sidebar: Mapping[str, Any]) -> bool:
    if any(given.get(key) is True for key in _HIDDEN) or sidebar.get("hidden") is True:
        return True
    return given.get("sidebar") == "hidden" or given.get("displayed_sidebar", "") is None


def _menu(value: object) -> Mapping[str, Any]:
    """Return the first of Hugo's menus that has settings of its own."""
    return next(filter(None, map(_table, _table(value).values())), {})


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_scalar else ""


def _path(value: object) -> str:
    """Return a text that a path is made of; one that is longer than a system's paths are is none."""
    text = _text(value)
    return text if len(text.encode("utf-8", "replace")) <= MAX_PATH_BYTES else ""


def _texts(value: object) -> list[str]:
    return [text for each in (value if isinstance(value, list) else [value]) if (text := _text(each))]
