"""What a document's front matter says of its page's parts, in the words of the tools that people use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...pipeline.identity import read_front_matter_json

_WEB = ("https://", "http://")
_DEEPEST = 6
_NAMES = (
    "hide", "hide_title", "hide_table_of_contents", "toc", "notoc", "enableToc", "outline", "tableOfContents",
    "toc_min_heading_level", "toc_max_heading_level", "pagination_prev", "pagination_next", "prev", "next",
    "custom_edit_url", "editUrl", "editLink", "layout",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Which parts a page has; ``levels`` are the first and the last level of headings in its contents.

    ``edit_url`` is None for the address that the site's settings give, and empty for none.
    """

    title: bool = True
    contents: bool = True
    levels: tuple[int, int] | None = None
    previous: bool = True
    next: bool = True
    edit_url: str | None = None


USUAL = PageOptions()


@lru_cache(maxsize=4_096)
def options_of(front_matter: str) -> PageOptions:
    """Return what the front matter, as canonical JSON, says of a page's parts."""
    if not any(f'"{name}"' in front_matter for name in _NAMES):
        return USUAL
    given = read_front_matter_json(front_matter)
    hidden = hide if isinstance(hide := given.get("hide"), list) else []
    off = {"hide_table_of_contents": True, "notoc": True, "toc": False, "enableToc": False, "outline": False,
           "tableOfContents": False}  # fmt: skip
    # Of VitePress: nothing is read before its home page or after it.
    is_home = given.get("layout") == "home" and ("hero" in given or "features" in given)
    has_footer = "footer" not in hidden and not is_home
    has_contents = "toc" not in hidden and not any(given.get(key) is value for key, value in off.items())
    return PageOptions(
        title=given.get("hide_title") is not True,
        contents=has_contents and not is_home,
        levels=_levels(given),
        previous=has_footer and not _is_off(given, "pagination_prev", "prev"),
        next=has_footer and not _is_off(given, "pagination_next", "next"),
        edit_url=_edit_url(given),
    )


def _levels(given: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the levels of headings that Docusaurus, Starlight or VitePress would show, if they say so."""
    starlight = given.get("tableOfContents")
    table = starlight if isinstance(starlight, dict) else {}
    first = given.get("toc_min_heading_level", table.get("minHeadingLevel"))
    last = given.get("toc_max_heading_level", table.get("maxHeadingLevel"))
    outline = given.get("outline")
    if outline == "deep":
        first, last = 2, _DEEPEST
    elif isinstance(outline, list) and len(outline) == 2:
        first, last = outline
    elif _is_level(outline):
        first = last = outline
    if not _is_level(first) and not _is_level(last):
        return None
    return (first if _is_level(first) else 2, last if _is_level(last) else 3)


def _is_level(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _DEEPEST


def _is_off(given: Mapping[str, Any], *names: str) -> bool:
    """Return whether a page leads nowhere on this side: null in Docusaurus, false in others."""
    return any(name in given and (given[name] is None or given[name] is False) for name in names)


def _edit_url(given: Mapping[str, Any]) -> str | None:
    for name in ("custom_edit_url", "editUrl"):
        if isinstance(address := given.get(name), str) and address.startswith(_WEB):
            return address
    is_none = given.get("custom_edit_url", "") is None
    return "" if is_none or given.get("editUrl") is False or given.get("editLink") is False else None
