"""Which passages may be in an answer at all: filters on their documents, and what the query's operators demand.

Every list applies the result before it ranks; the statistics behind the scores stay those of the whole corpus.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from pathspec import PathSpec

from ....pipeline.errors import QueryError
from ..index.corpus import Corpus
from ..model import Mask

KINDS = ("collection", "path", "tag", "author", "language", "after", "before", "community", "doc")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# Python makes no number of thousands of digits.
_COMMUNITY = re.compile(r"[0-9]{1,100}")


@dataclass(frozen=True, slots=True, order=True)
class Filter:
    """One condition on documents: a kind of ``KINDS``, or ``front.KEY`` for a key of the front matter."""

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse_filter(text: str) -> Filter:
    """The filter in ``kind:value``; raises ``QueryError`` for one that cannot be."""
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


def documents_allowed(filters: Sequence[Filter], corpus: Corpus) -> Mask:
    """One truth value a document: filters of one kind are alternatives, those of different kinds all hold.

    ``after`` and ``before`` are both ends of a range, the days themselves included.
    """
    allowed = np.ones(len(corpus.documents), dtype=np.bool_)
    for kind in dict.fromkeys(each.kind for each in filters):
        either = np.zeros_like(allowed)
        for each in filters:
            if each.kind == kind:
                either |= _holds(each, corpus)
        allowed &= either
    return allowed


def passages_allowed(documents: Mask, corpus: Corpus) -> Mask:
    """The passages of the documents that are allowed."""
    mask: Mask = documents[corpus.document_of]
    return mask


def _holds(each: Filter, corpus: Corpus) -> Mask:
    if each.kind.startswith("front."):
        return _front_matter(each.kind.removeprefix("front."), each.value, corpus)
    return _TESTS[each.kind](each.value, corpus)


def _equals(column: str) -> Callable[[str, Corpus], Mask]:
    def test(value: str, corpus: Corpus) -> Mask:
        return _truth(pc.equal(pc.utf8_lower(corpus.column("documents", column)), value.lower()))

    return test


def _path(value: str, corpus: Corpus) -> Mask:
    spec = PathSpec.from_lines("gitignore", [value])
    paths = corpus.column("documents", "path").to_pylist()
    return np.fromiter((spec.match_file(path) for path in paths), np.bool_, len(paths))


def _tag(value: str, corpus: Corpus) -> Mask:
    tags = corpus.column("documents", "tags").combine_chunks()
    which = pc.list_parent_indices(tags).to_numpy()
    same = _truth(pc.equal(pc.utf8_lower(pc.list_flatten(tags)), value.lower().removeprefix("#")))
    found = np.zeros(len(tags), dtype=np.bool_)
    found[which[same]] = True
    return found


def _language(value: str, corpus: Corpus) -> Mask:
    """``en`` allows ``en-US`` too."""
    column = pc.utf8_lower(corpus.column("documents", "language"))
    same = pc.equal(column, value.lower())
    return _truth(pc.or_(same, pc.starts_with(column, value.lower() + "-")))


def _after(value: str, corpus: Corpus) -> Mask:
    found: Mask = corpus.modified >= np.datetime64(value)
    return found


def _before(value: str, corpus: Corpus) -> Mask:
    found: Mask = corpus.modified <= np.datetime64(value)
    return found


def _community(value: str, corpus: Corpus) -> Mask:
    found: Mask = corpus.community_of == int(value)
    return found


def _front_matter(key: str, value: str, corpus: Corpus) -> Mask:
    """Documents whose front matter has this value under the key, or among the values of a list there."""
    column = corpus.column("documents", "front_matter")
    wanted = value.casefold()
    found = [wanted in _spellings(json.loads(each).get(key)) for each in column.to_pylist()]
    return np.array(found, dtype=np.bool_)


def _spellings(value: Any) -> set[str]:
    values = value if isinstance(value, list) else [value]
    return {str(each).casefold() for each in values if each is not None}


def _truth(values: Any) -> Mask:
    found: npt.NDArray[np.bool_] = pc.fill_null(values, False).to_numpy(zero_copy_only=False)
    return found


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


_TESTS: Mapping[str, Callable[[str, Corpus], Mask]] = {
    "collection": _equals("collection"),
    "doc": _equals("doc_id"),
    "path": _path,
    "tag": _tag,
    "author": _equals("author"),
    "language": _language,
    "after": _after,
    "before": _before,
    "community": _community,
}
