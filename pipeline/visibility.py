"""Where a published page is shown: on lists, in search, to search engines; as its front matter says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .identity import read_front_matter_json

# A cheap look: nearly no document says any of it.
_WORDS = ("list", "search", "index", "sitemap", "robots")
# In the words of every tool: Hugo takes those of Go's ParseBool too.
FALSE = frozenset({"false", "no", "never", "off", "n", "f", "0"})
TRUE = frozenset({"true", "yes", "always", "on", "y", "t", "1"})

DRAFT = "is a draft"
UNLISTED = "is unlisted: its page is on no list and in no search"
UNSEARCHED = "is excluded from search"
# Material's attribute of a heading or a box: what it holds is on the page, and in no search.
SEARCH_EXCLUDED = "data-search-exclude"
# The same in raw HTML, with that of Pagefind, which Starlight and others search with.
UNSEARCHED_ATTRIBUTES = (SEARCH_EXCLUDED, "data-pagefind-ignore")


@dataclass(frozen=True, slots=True)
class Visibility:
    """Whether a page is on lists, can be found by search, and is offered to search engines.

    What is on no list is in no search either, and nothing but a link leads there.
    """

    listed: bool = True
    searched: bool = True
    in_sitemap: bool = True
    robots: bool = True

    @property
    def remark(self) -> str:
        """Return the remark on it in the report, empty for a page that is shown everywhere."""
        if not self.listed:
            return UNLISTED
        return "" if self.searched else UNSEARCHED


EVERYWHERE = Visibility()


def word_of(value: object) -> str:
    """Return a value as one word in lower case; a number is true unless it is zero, as Hugo reads it.

    Lists and tables are none: nothing in them is written out, such as a number of thousands of digits.
    """
    if isinstance(value, int | float):
        return str(bool(value)).lower()
    return value.strip().lower() if isinstance(value, str) else ""


def visibility_of(front_matter: str) -> Visibility:
    """Return where a document is shown whose front matter is given as JSON.

    ``unlisted`` is Docusaurus's; ``search: {exclude: true}`` Material's; ``search: false`` VitePress's,
    ``searchable``, ``excludeSearch`` and ``search_exclude`` those of themes of Hugo and Jekyll.
    """
    lowered = front_matter.lower()
    if not any(word in lowered for word in _WORDS):
        return EVERYWHERE
    values = {str(key).lower(): value for key, value in read_front_matter_json(front_matter).items()}
    listed = not (_says(values, "unlisted", TRUE) or _is_never_listed(values))
    return Visibility(
        listed,
        listed and not _is_unsearched(values),
        listed and not (_is_noindex(values) or _excludes(values, "sitemap")),
        listed and not _is_noindex(values),
    )


def _says(values: Mapping[str, object], name: str, words: frozenset[str]) -> bool:
    return word_of(values.get(name)) in words


def _excludes(values: Mapping[str, object], name: str) -> bool:
    """Return whether it is ``name: false``, ``name: {exclude: true}`` or ``name_exclude: true``."""
    inner = values.get(name)
    if isinstance(inner, Mapping) and word_of(inner.get("exclude")) in TRUE:
        return True
    flat = (f"{name}.exclude", f"{name}_exclude", f"exclude{name}", f"{name}exclude")
    return _says(values, name, FALSE) or any(_says(values, each, TRUE) for each in flat)


def _is_unsearched(values: Mapping[str, object]) -> bool:
    return _excludes(values, "search") or _says(values, "searchable", FALSE)


def _is_noindex(values: Mapping[str, object]) -> bool:
    robots = str(values.get("robots") or "").lower()
    return _says(values, "noindex", TRUE) or "noindex" in robots or robots.strip() == "none"


def _is_never_listed(values: Mapping[str, object]) -> bool:
    """Return whether Hugo makes the page and lists it nowhere."""
    build = values.get("_build") or values.get("build")
    return isinstance(build, Mapping) and word_of(build.get("list")) in FALSE
