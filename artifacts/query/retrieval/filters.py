"""Filters on documents, as SQL predicates: ``kind:value``, and any predicate that a user writes.

Every retriever applies the result before it ranks; the statistics behind the scores stay those of the whole
collection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pathspec import PathSpec

from ....pipeline.errors import QueryError
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
# The value under a key of the front matter, or one of the values of a list there.
_FRONT_MATTER = """list_contains(list_transform(
    case json_type(front_matter, {key}) when 'ARRAY' then json_extract(front_matter, {key}) ->> '$[*]'
    else [json_extract(front_matter, {key}) ->> '$'] end, lambda each: lower(each)), ?)"""


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
    known = kind in KINDS or (kind.startswith("front.") and len(kind) > len("front."))
    if not colon or not known or not value.strip():
        raise QueryError(
            "a filter is written kind:value",
            where=f"filter {text!r}",
            hint=f"Kinds: {', '.join(KINDS)}, and front.KEY for a key of the front matter.",
        )
    if kind in ("after", "before") and not _is_date(value):
        raise QueryError(
            "a date is written 2026-08-31", where=f"filter {text!r}", hint="Year, month and day."
        )
    if kind == "community" and not _COMMUNITY.fullmatch(value.strip()):
        raise QueryError("a community is a number", where=f"filter {text!r}", hint="See: noctule sql")
    if kind == "path" and not _is_pattern(value.strip()):
        raise QueryError(
            "a path is a pattern as in .gitignore", where=f"filter {text!r}", hint="As guide/*.md"
        )
    return Filter(kind, value.strip())


def documents_allowed(filters: Sequence[Filter], corpus: CorpusReader, where: str = "") -> Mask:
    """Return which documents meet the filters and the predicate ``where``.

    Raise ``QueryError`` if it cannot be.

    Filters of one kind are alternatives, those of different kinds must all hold. ``after`` and ``before`` are
    both ends of a range, the days themselves included.
    """
    allowed = np.ones(len(corpus.documents), dtype=np.bool_)
    for kind in dict.fromkeys(each.kind for each in filters):
        either = [_predicate(each) for each in filters if each.kind == kind]
        sql = " or ".join(f"({predicate})" for predicate, _ in either)
        allowed &= corpus.database.documents_where(sql, tuple(value for _, value in either))
    return allowed & corpus.database.documents_where_given(where) if where else allowed


def passages_allowed(documents: Mask, corpus: CorpusReader) -> Mask:
    """Return which passages belong to the documents that are allowed."""
    mask: Mask = documents[corpus.document_of]
    return mask


def _predicate(given: Filter) -> tuple[str, str]:
    """Return the filter as SQL with one parameter, and the parameter's value."""
    if given.kind.startswith("front."):
        key = given.kind.removeprefix("front.").replace("~", "~0").replace("/", "~1").replace("'", "''")
        return _FRONT_MATTER.format(key=f"'/{key}'"), given.value.lower()
    value = _VALUES.get(given.kind, str.lower)(given.value)
    return _PREDICATES[given.kind], value


def path_regex(pattern: str) -> str:
    """Return the regular expression of a pattern as in .gitignore.

    A pattern that excludes matches nothing.
    """
    (parsed,) = PathSpec.from_lines("gitignore", [pattern]).patterns
    return parsed.regex.pattern if parsed.include and parsed.regex else r"[^\s\S]"


def _is_date(value: str) -> bool:
    if not _DATE.fullmatch(value.strip()):
        return False
    try:
        np.datetime64(value.strip())
    except ValueError:
        return False
    return True


def _is_pattern(value: str) -> bool:
    try:
        PathSpec.from_lines("gitignore", [value])
    except ValueError:
        return False
    return True


_VALUES: Mapping[str, Callable[[str], str]] = {
    "path": path_regex,
    "tag": lambda value: value.lower().removeprefix("#"),
    "after": str,
    "before": str,
    "community": lambda value: str(int(value)),
}
