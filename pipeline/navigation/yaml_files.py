"""Tables of contents in YAML, TOML and JSON: MkDocs, Zensical, awesome-pages, Docusaurus, Jekyll."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from ..untrusted import NotRead, as_number, as_text, read_settings, read_toml, read_yaml
from .categories import Category, category_of, folder_label
from .entry import REST, Bounded, Contents, FolderEntry, NavEntry

_LABELS = ("title", "label", "text", "name", "section", "category", "group", "heading", "header", "caption")
_TARGETS = ("url", "path", "link", "file", "href", "page", "permalink")
_BELOW = (
    "children", "subitems", "sublinks", "subfolderitems", "items", "pages", "docs", "toc", "links", "entries",
)  # fmt: skip
_WEB = ("http://", "https://", "mailto:")


def read_mkdocs(text: str) -> Contents:
    """Return the ``nav`` of ``mkdocs.yml``; without one, every page, as MkDocs does."""
    given = read_yaml(text)
    bounded = Bounded()
    nav = given.get("nav") if isinstance(given, dict) else None
    if isinstance(given, dict) and "INHERIT" in given and nav is None:
        bounded.remarks.append("INHERIT is not followed: name the file that holds nav")
    return bounded.contents([*_mkdocs(nav, bounded, 0)] if isinstance(nav, list) else [])


def read_zensical(text: str) -> Contents:
    """Return the ``nav`` of ``zensical.toml``, which is that of MkDocs; raise ``NotRead``."""
    try:
        project = read_toml(text).get("project")
    except (ValueError, RecursionError) as error:
        raise NotRead(f"not TOML: {str(error)[:200]}") from None
    bounded = Bounded()
    nav = project.get("nav") if isinstance(project, dict) else None
    return bounded.contents([*_mkdocs(nav, bounded, 0)])


def _mkdocs(items: object, bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    for item in items if isinstance(items, list) else []:
        for title, value in item.items() if isinstance(item, dict) else [("", item)]:
            if not bounded.admits(depth):
                return
            if isinstance(value, list):
                yield NavEntry(_text(title), "", tuple(_mkdocs(value, bounded, depth + 1)))
            elif isinstance(value, str):
                yield NavEntry(_text(title), _mkdocs_target(value))
            else:
                bounded.remarks.append(f"{_text(title)!r:.80} is neither a page nor a list")


def _mkdocs_target(value: str) -> str:
    if value.strip() in ("...", "*", "**"):
        return REST
    if value.startswith("..."):  # awesome-pages' patterns
        return REST
    return f"{value.rstrip('/*')}/{REST}" if value.endswith(("/", "/*")) and not _is_web(value) else value


def read_pages(text: str) -> FolderEntry:
    """Return what ``.pages`` of awesome-pages says of its folder; raise ``NotRead``."""
    given = read_yaml(text)
    if not isinstance(given, dict):
        raise NotRead("not a table of settings")
    nav = given.get("nav", given.get("arrange"))
    entries = tuple(_mkdocs(nav, Bounded(), 0))
    return FolderEntry(_text(given.get("title")), as_number(given.get("order")), entries)


def read_category(text: str, name: str) -> FolderEntry:
    """Return what ``_category_.json`` or ``.yml`` of Docusaurus says of its folder; raise ``NotRead``."""
    given = _category(text, name)
    link, page = given.get("link", ""), ""
    if isinstance(link, dict) and link.get("type") == "doc":
        page = _text(link.get("id"))
    order = as_number(given.get("position"))
    return FolderEntry(_text(given.get("label")), order, page=None if link is None else page)


def read_generated(text: str, name: str, folder: str) -> Category | None:
    """Return the category of a folder if its file asks for a generated page; raise ``NotRead``."""
    return category_of(_category(text, name), folder_label(folder))


def _category(text: str, name: str) -> dict[str, Any]:
    given = read_settings(text, name)
    if not isinstance(given, dict):
        raise NotRead("not a table of settings")
    return given


def read_data(text: str) -> Contents:
    """Return a list of titles and addresses as Jekyll's themes keep them in ``_data/navigation.yml``.

    Of several lists in one file, each is a heading; one list alone needs none.
    """
    bounded = Bounded()
    given = read_yaml(text)
    if isinstance(given, dict) and not any(key in given for key in _TARGETS):
        lists = {key: value for key, value in given.items() if isinstance(value, list)}
        if len(lists) > 1:
            return bounded.contents(
                [NavEntry(_text(key), "", tuple(_data(value, bounded, 1))) for key, value in lists.items()]
            )
        given = next(iter(lists.values()), [])
    return bounded.contents([*_data(given, bounded, 0)])


def _data(items: object, bounded: Bounded, depth: int) -> Iterator[NavEntry]:
    for item in items if isinstance(items, list) else []:
        if not bounded.admits(depth):
            return
        if isinstance(item, str):
            yield NavEntry("", item)
        elif isinstance(item, dict):
            below: object = next((item[key] for key in _BELOW if isinstance(item.get(key), list)), [])
            children = tuple(_data(below, bounded, depth + 1))
            yield NavEntry(_first(item, _LABELS), _first(item, _TARGETS), children)


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next(filter(None, (_text(item.get(key)) for key in keys)), "")


def _is_web(value: str) -> bool:
    return value.startswith(_WEB)


def _text(value: object) -> str:
    return " ".join(unescape(as_text(value) or "").split())
