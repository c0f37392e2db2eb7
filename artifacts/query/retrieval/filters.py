"""Filters on documents, as SQL predicates: ``kind:value``, and any predicate that a user writes.

Every retriever applies the result before it ranks; the statistics behind the scores stay those of the whole
collection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from pathspec import PathSpec

from ....pipeline.errors import QueryError
from ....pipeline.patterns import pattern_fault
from ..index.corpus import CorpusReader
from ..model import Mask

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# Python makes no number of thousands of digits.
_COMMUNITY = re.compile(r"[0-9]{1,100}")
_ANY_LETTER_CASE = "lower({}) = ?"
# Each takes the filter's value, in lower case but for paths and dates.
_PREDICATES: Mapping[str, str] = {
    "collection": _ANY_LETTER_CASE.format("collection"),
    "path": "regexp_matches(path, ?)",
    "tag": "list_contains(list_transform(tags, lambda tag: lower(tag)), ?)",
    "author": _ANY_LETTER_CASE.format("author"),
    # ``en`` allows ``en-US`` too.
    "language": "starts_with(lower(language) || '-', ? || '-')",
    "after": "modified >= ?::date",
    "before": "modified <= ?::date",
    "community": "community::varchar = ?",
    "doc": _ANY_LETTER_CASE.format("doc_id"),
}
KINDS = tuple(_PREDICATES)
# The value under a key of the front matter, or one of the values of a list there, both in any letter case.
_FRONT_MATTER = """list_contains(list_transform(flatten(list_transform(
    ['/' || replace(replace(name, '~', '~0'), '/', '~1')
        for name in json_keys(front_matter) if lower(name) = ?],
    lambda key: case json_type(front_matter, key) when 'ARRAY' then json_extract(front_matter, key) ->> '$[*]'
        else [json_extract(front_matter, key) ->> '$'] end)), lambda each: lower(each)), ?)"""


@dataclass(frozen=True, slots=True, order=True)
class Filter:
    """One condition on documents: a kind of ``KINDS``, or ``front.KEY`` for a key of the front matter."""

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse_filter(text: str) -> Filter:
    """Parse ``kind:value``; raise ``QueryError`` for a filter that cannot be."""
    kind, colon, value = text.partition(":")
    value = value.strip()
    if kind.startswith("front."):
        kind = kind.lower()
    known = kind in KINDS or (kind.startswith("front.") and len(kind) > len("front."))
    if not colon or not known or not value:
        is_other = colon and kind and not known
        raise QueryError(
            f"there is no filter of the kind {kind!r}" if is_other else "a filter is written kind:value",
            where=f"filter {text!r}",
            hint=f"Kinds: {', '.join(KINDS)}, and front.KEY for a key of the front matter.",
        )
    is_sound, what, hint = _FORMS.get(kind, (bool, "", ""))
    if not is_sound(value):
        raise QueryError(what, where=f"filter {text!r}", hint=hint)
    return Filter(kind, value)


def _is_date(value: str) -> bool:
    if not _DATE.fullmatch(value):
        return False
    try:
        np.datetime64(value)
    except ValueError:
        return False
    return True


def _is_pattern(value: str) -> bool:
    return not pattern_fault(value)


_DATE_FORM = (_is_date, "a date is written 2026-08-31", "Year, month and day.")
_FORMS: Mapping[str, tuple[Callable[[str], object], str, str]] = {
    "after": _DATE_FORM,
    "before": _DATE_FORM,
    "community": (_COMMUNITY.fullmatch, "a community is a number", "See: noctule sql"),
    "path": (_is_pattern, "a path is a pattern as in .gitignore", "As guide/*.md"),
}


def documents_allowed(filters: Sequence[Filter], corpus: CorpusReader, where: str = "") -> Mask:
    """Return which documents meet the filters and the predicate ``where``; raise ``QueryError``.

    Filters of one kind are alternatives, those of different kinds must all hold. ``after`` and ``before`` are
    both ends of a range, the days themselves included.
    """
    allowed = np.ones(len(corpus.documents), dtype=np.bool_)
    for kind in dict.fromkeys(each.kind for each in filters):
        values = [_values(each) for each in filters if each.kind == kind]
        sql = " or ".join([f"({_PREDICATES.get(kind, _FRONT_MATTER)})"] * len(values))
        allowed &= corpus.database.documents_where(sql, tuple(chain.from_iterable(values)))
    return allowed & corpus.database.documents_where_given(where) if where else allowed


def _values(given: Filter) -> tuple[str, ...]:
    """Return the values that the filter's predicate takes."""
    value = given.value.lower()
    match given.kind:
        case "path":
            return (path_regex(given.value),)
        case "tag":
            return (value.removeprefix("#"),)
        case "community":
            return (str(int(value)),)
        case kind if kind.startswith("front."):
            return kind.removeprefix("front."), value
    return (value,)


def path_regex(pattern: str) -> str:
    """Return the regular expression of a pattern as in .gitignore; one that excludes matches nothing."""
    (parsed,) = PathSpec.from_lines("gitignore", [pattern]).patterns
    return parsed.regex.pattern if parsed.include and parsed.regex else r"[^\s\S]"
