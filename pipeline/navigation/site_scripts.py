"""Navigation of Starlight (``astro.config.mjs``), VuePress and Mintlify (``docs.json``), where it is data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .entry import REST, Bounded, Contents, NavEntry
from .script_imports import Script
from .sidebars import (
    as_list,
    as_text,
    links_in_nav,
    literal_items,
    note_unread,
    title_of_links,
    under_title,
)

# What holds pages in Mintlify's navigation, and where each says its name. The first of a list of versions
# or languages is the one that readers begin with.
_HOLDERS = ("pages", "groups", "tabs", "anchors", "dropdowns", "products", "menu", "versions", "languages")
_NAMES = ("group", "tab", "anchor", "dropdown", "product", "item", "version", "language", "name")


def starlight_options(script: Script) -> Mapping[str, Any]:
    """Return what ``starlight({…})`` is called with; nothing where it is not a literal."""
    given = script.value
    parts = given.get("integrations") if isinstance(given, dict) else None
    found = [each for each in (parts if isinstance(parts, list) else ()) if isinstance(each, dict)]
    return next((each for each in found if {"sidebar", "title", "locales"} & each.keys()), {})


def read_starlight(script: Script) -> Contents:
    """Return Starlight's ``sidebar``; pages of other languages are folders of their own after it."""
    bounded, given = Bounded(), starlight_options(script)
    if "sidebar" not in given:
        bounded.remarks.append("starlight() is called with no literal that has a sidebar: it is not read")
        return bounded.contents([])
    found = [*_starlight(given["sidebar"], bounded, 0)]
    locales = given.get("locales")
    default = as_text(given.get("defaultLocale")) or "root"
    for folder, locale in locales.items() if isinstance(locales, dict) else ():
        if folder not in ("root", default):
            label = as_text(locale.get("label")) if isinstance(locale, dict) else ""
            found.append(NavEntry(label or folder, "", (NavEntry("", f"{folder}/{REST}"),)))
    return bounded.contents(found)


def _starlight(items: Any, bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    for item in literal_items(items, bounded, depth):
        if isinstance(item, str):
            yield NavEntry("", item)
        else:
            yield from _starlight_item(item, bounded, depth)


def _starlight_item(item: Mapping[str, Any], bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    title, generated = as_text(item.get("label")), item.get("autogenerate")
    if isinstance(generated, dict):
        rest = NavEntry("", f"{as_text(generated.get('directory')).strip('/')}/{REST}".lstrip("/"))
        yield NavEntry(title, "", (rest,)) if title else rest
    elif "items" in item:
        yield NavEntry(title, "", tuple(_starlight(item["items"], bounded, depth + 1)))
    else:
        link = as_text(item.get("slug")) or as_text(item.get("link"))
        yield NavEntry(title, link if "://" in link else link.strip("/") or "index")


def read_vuepress(script: Script) -> Contents:
    """Return the ``sidebar`` of ``.vuepress/config``, or its ``nav``; of several, that of the top first."""
    bounded, given = Bounded(), script.value
    holders = [given.get(key) for key in ("themeConfig", "theme")] if isinstance(given, dict) else []
    theme = next((each for each in holders if isinstance(each, dict)), {})
    sidebar = next((theme[key] for key in ("sidebar", "nav", "navbar") if key in theme), None)
    if not isinstance(sidebar, dict):
        return bounded.contents([*_vuepress(sidebar, "", bounded, 0)])
    note_unread(bounded, sidebar)
    found: list[NavEntry] = []
    links = links_in_nav(theme.get("nav", theme.get("navbar"))) if len(sidebar) > 1 else []
    for prefix, items in sorted(sidebar.items(), key=lambda pair: pair[0] != "/"):
        folder = prefix.strip("/")
        if isinstance(items, list):
            title = title_of_links(links, prefix)
            found += under_title(title, _vuepress(items, folder, bounded, int(bool(title))))
        else:  # "auto", "heading" or only a title
            found.append(NavEntry("", f"{folder}/{REST}".lstrip("/")))
    return bounded.contents(found)


def _vuepress(items: Any, base: str, bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    named = [
        dict(zip(("path", "title"), each, strict=False)) if isinstance(each, list) else each
        for each in as_list(items, bounded)
    ]
    for item in literal_items(named, bounded, depth):
        if isinstance(item, str):
            yield NavEntry("", _below(item, base))
        else:
            yield from _vuepress_item(item, base, bounded, depth)


def _vuepress_item(item: Mapping[str, Any], base: str, bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    prefix = as_text(item.get("prefix"))
    inner = _below(prefix, base) if prefix.strip("/") else base
    link = next((as_text(item[key]) for key in ("link", "path") if key in item), None)
    children = item.get("children", item.get("items", []))
    below = tuple(_vuepress(children, inner, bounded, depth + 1)) if isinstance(children, list) else ()
    title = as_text(item.get("text")) or as_text(item.get("title"))
    if link is not None or below:
        yield NavEntry(title, "" if link is None else _below(link, inner), below)


def _below(path: str, base: str) -> str:
    """Return a path in a sidebar from the top: relative to its prefix, unless it begins there itself."""
    if "://" in path:
        return path
    return path.strip("/") or "index" if path.startswith("/") else f"{base}/{path}".strip("/") or "index"


def read_mintlify(script: Script) -> Contents:
    """Return the ``navigation`` of ``docs.json``, or of ``mint.json`` before it."""
    bounded, given = Bounded(), script.value
    navigation = given.get("navigation") if isinstance(given, dict) else None
    if isinstance(navigation, list):
        navigation = {"groups": navigation}
    if not isinstance(navigation, dict):
        bounded.remarks.append("it has no navigation")
        return bounded.contents([])
    return bounded.contents([*_mintlify(navigation, bounded, 0)])


def _mintlify(holder: Mapping[str, Any], bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    for key in _HOLDERS:
        for item in literal_items(holder[key], bounded, depth) if key in holder else ():
            if isinstance(item, str):
                # "GET /users" is an operation of an API that is described elsewhere.
                yield from () if " " in item.strip() else [NavEntry("", item)]
                continue
            title = next(filter(None, (as_text(item.get(each)) for each in _NAMES)), "")
            target = as_text(item.get("root")) or as_text(item.get("href"))
            below = tuple(_mintlify(item, bounded, depth + 1))
            if target or below:
                yield NavEntry(title, target, below)
