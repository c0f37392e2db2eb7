"""Documents that their tool does not publish yet, or no longer, as their dates say.

A snapshot holds what is public on the day that it is made on; the report says when that changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.identity import read_front_matter_json
from ...pipeline.model import Rejection
from ...pipeline.parse.dates import day_of
from ...pipeline.settings.settings import Settings
from ...pipeline.visibility import DRAFT

_UNTIL, _EXPIRES = f"{DRAFT} until ", "expires on "
# Of Jekyll, with the day on which it is published.
_POST = re.compile(r"(?:^|/)_posts/(?:.*/)?(\d{4}-\d{2}-\d{2})-[^/]*$")


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()


def held_back(rows: pa.Table, settings: Settings, day: str) -> list[Rejection]:
    """Return the documents that their tool does not publish on a day, by the dates of Hugo and Jekyll.

    Those that it will not publish for ever are noted.
    """
    found = []
    for chunk in rows["documents"].chunks:
        documents = pa.Table.from_struct_array(chunk.flatten()).select(["collection", "path", "front_matter"])
        may = pc.or_(
            pc.match_substring_regex(documents["front_matter"], "publishdate|expirydate", ignore_case=True),
            pc.match_substring_regex(documents["path"], _POST.pattern),
        )
        dated = documents.filter(may)
        for collection, path, front in zip(*(column.to_pylist() for column in dated.columns), strict=True):
            if not settings.collections[collection].drafts and (reason := _held_until(path, front, day)):
                is_noted = reason.startswith(_EXPIRES)
                found.append(Rejection(collection, path, "noted" if is_noted else "skipped", reason))
    return found


def _held_until(path: str, front_matter: str, day: str) -> str:
    """Return why a page is not public on a day, or when it will not be; empty if it always is."""
    given = {key.lower(): day_of(each) for key, each in read_front_matter_json(front_matter).items()}
    post = _POST.search(path)
    begins = given.get("publishdate") or (post and (given.get("date") or post[1])) or ""
    ends = given.get("expirydate") or ""
    if begins > day:
        return f"{_UNTIL}{begins}"
    return (
        f"{DRAFT} since {ends}, when it expired" if "" < ends <= day else f"{_EXPIRES}{ends}" if ends else ""
    )


def is_due(rejections: Iterable[Rejection], day: str) -> bool:
    """Return whether a document that was held back is public on a day, or one that was not has expired."""
    said = (each.reason for each in rejections)
    return any(each.startswith((_UNTIL, _EXPIRES)) and each[-len(day) :] <= day for each in said)
