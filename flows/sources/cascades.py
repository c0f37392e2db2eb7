"""Documents that a section above them, or the settings of the site, keep from being published.

Hugo calls that a ``cascade``, and Jekyll ``defaults``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from pathspec import GitIgnoreSpec

from ...pipeline.identity import read_front_matter_json
from ...pipeline.model import ReportEntry
from ...pipeline.parse.drafts import draft_of
from ...pipeline.settings.settings import Settings
from ...pipeline.untrusted import as_text, with_lower_keys
from ...pipeline.visibility import DRAFT
from .publication_dates import pages_of
from .publishing_rules import PublishingRules
from .tool_settings import tables_in

_SECTION = re.compile(r"(?:^|/)_index\.[^/]+$")
_TARGETS = ("target", "_target")
_PAGE, _PAGES, _PRODUCTION = "page", "pages", "production"
_OTHERS = {"home", "section", "taxonomy", "term"}
# Of the globs of Hugo.
_SPECIAL = frozenset("*?{}[]!\\")
_SECTIONS, _SITE = "the cascade of a section", "the settings of the site"


@dataclass(frozen=True, slots=True)
class _Cascade:
    """The values that a section, or the site, hands down to what is below, as far as ``target`` says."""

    giver: str
    section: PurePosixPath
    values: Mapping[str, Any]
    target: Mapping[str, Any]

    def reaches(self, path: str) -> bool:
        """Return whether it is for a document; one that is not understood is, as nothing must leak."""
        if not PurePosixPath(path).is_relative_to(self.section):
            return False
        kinds = _OTHERS if _SECTION.search(path) else {_PAGE}
        if not (self._may_be("environment", {_PRODUCTION}) and self._may_be("kind", kinds)):
            return False
        kind = as_text(self.target.get("type"))
        if kind and not _is_of_type(path, kind):
            return False
        wanted = _matcher((as_text(self.target.get("path")) or "**").lower())
        return wanted is None or any(map(wanted.match_file, _spellings(path.rpartition("content/")[2])))

    def _may_be(self, key: str, values: Set[str]) -> bool:
        """Return whether what the target says of a page is one of these, or is not understood."""
        said = (as_text(self.target.get(key)) or "").lower()
        return not said or said in values or not _SPECIAL.isdisjoint(said)


def _spellings(path: str) -> set[str]:
    """Return what Hugo may take for the path of a page: in lower case, without endings, with hyphens."""
    lower = PurePosixPath(path.lower())
    names = {str(each) for each in (lower, lower.with_suffix(""), lower.with_suffix("").with_suffix(""))}
    return names | {name.replace(" ", "-") for name in names}


def _is_of_type(path: str, kind: str) -> bool:
    """Return whether a document is of a type of Jekyll: pages, posts, drafts, or a collection's name."""
    top = next((part for part in path.split("/")[:-1] if part.startswith("_")), "")
    return top == ("" if kind == _PAGES else f"_{kind}")


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> GitIgnoreSpec | None:
    """Return what matches the paths of a target, ``None`` for one that is not understood."""
    if set(pattern) & set("{}[]\\") or pattern.startswith(("!", "#")):
        return None
    try:
        return GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return None


def held_by_cascades(
    rows: pa.Table, settings: Settings, rules: Iterable[tuple[str, PublishingRules]]
) -> Iterator[ReportEntry]:
    """Yield the documents that are drafts by what a section above them says, or their site's settings."""
    for name, rule in rules:
        if settings.collections[name].drafts or not (rule.of_hugo or rule.handed_down):
            continue
        pages = list(pages_of(rows, name))
        site = [_handed_down(_SITE, ".", each) for each in reversed(rule.handed_down)]
        given = {*pages, *rule.sections} if rule.of_hugo else ()
        found = (each for path, front in sorted(given) for each in _cascades(path, front))
        cascades = [*site, *sorted(found, key=lambda cascade: len(cascade.section.parts))]
        for path, front in pages if cascades else ():
            if reason := _reason(path, front, cascades):
                yield ReportEntry(name, path, "skipped", reason)


def _cascades(path: str, front_matter: str) -> Iterator[_Cascade]:
    """Yield what a section hands down, what is handed down first last."""
    if not _SECTION.search(path) or '"cascade"' not in front_matter.lower():
        return
    given = with_lower_keys(read_front_matter_json(front_matter)).get("cascade")
    for each in reversed(tables_in(given)):
        yield _handed_down(_SECTIONS, str(PurePosixPath(path).parent), each)


def _handed_down(giver: str, section: str, given: Mapping[str, Any]) -> _Cascade:
    values = with_lower_keys(given)
    target = next((found for key in _TARGETS if isinstance(found := values.get(key), dict)), {})
    return _Cascade(giver, PurePosixPath(section), values, with_lower_keys(target))


def _reason(path: str, front_matter: str, cascades: list[_Cascade]) -> str:
    """Return why a document is not public; what is last of the cascades counts, its own front matter most."""
    reaching = [each for each in cascades if each.reaches(path)]
    values = {key: value for each in reaching for key, value in each.values.items()}
    said = draft_of(values | with_lower_keys(read_front_matter_json(front_matter))) if values else ""
    key = re.split(r"[.:]", said)[0]
    giver = next((each.giver for each in reversed(reaching) if key in each.values), _SECTIONS)
    return f"{DRAFT} ({said}, by {giver})" if said else ""
