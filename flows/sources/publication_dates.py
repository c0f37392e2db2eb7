"""Documents that their tool does not publish yet, or no longer, as their dates say.

A snapshot holds what is public on the day that it is made on; the report says when that changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.identity import read_front_matter_json
from ...pipeline.model import ReportEntry
from ...pipeline.parse.dates import day_of
from ...pipeline.settings.settings import Settings
from ...pipeline.untrusted import with_lower_keys
from ...pipeline.visibility import DRAFT

_UNTIL, _EXPIRES = f"{DRAFT} until ", "expires on "
# Of Hugo, the first that there is; in any other folder a date alone says nothing.
_BEGINS, _BEGINS_IN_HUGO = ("publishdate",), ("publishdate", "pubdate", "published", "date")
_ENDS = ("expirydate", "unpublishdate")
_SAID, _SAID_IN_HUGO = "publishdate|expirydate", "date|published"
# Of Jekyll, with the day on which it is published.
_POST = re.compile(r"(?:^|/)_posts/(?:.*/)?(\d{4}-\d{2}-\d{2})-[^/]*$")


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()


def held_back(rows: pa.Table, settings: Settings, of_hugo: Sequence[str], day: str) -> list[ReportEntry]:
    """Return the documents that their tool does not publish on a day, by the dates of Hugo and Jekyll.

    ``of_hugo`` are collections. Documents that it will not publish for ever are noted.
    """
    found = []
    for chunk in rows["documents"].chunks:
        documents = front_matter_of(chunk)
        dated = documents.filter(_may_be_held(documents, of_hugo))
        for collection, path, front in zip(*(column.to_pylist() for column in dated.columns), strict=True):
            begins = _BEGINS_IN_HUGO if collection in of_hugo else _BEGINS
            takes_drafts = settings.collections[collection].drafts
            if not takes_drafts and (reason := _held_until(path, front, day, begins)):
                is_noted = reason.startswith(_EXPIRES)
                found.append(ReportEntry(collection, path, "noted" if is_noted else "skipped", reason))
    return found


def front_matter_of(documents: pa.Array) -> pa.Table:
    """Return the collection, the path and the front matter of documents, given as lists of rows."""
    return pa.Table.from_struct_array(documents.flatten()).select(["collection", "path", "front_matter"])


def rows_of(documents: pa.Table) -> pa.Table:
    """Return documents of any tables as the groups of the parse cache have them."""
    structs = pa.array(documents.to_struct_array())
    return pa.table({"documents": pa.ListArray.from_arrays([0, len(structs)], structs)})


def pages_of(rows: pa.Table, collection: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the front matter of each document of a collection."""
    for chunk in rows["documents"].chunks:
        documents = front_matter_of(chunk)
        own = documents.filter(pc.equal(documents["collection"].cast(pa.string()), collection))
        yield from zip(own["path"].to_pylist(), own["front_matter"].to_pylist(), strict=True)


def _may_be_held(documents: pa.Table, of_hugo: Sequence[str]) -> pa.Array:
    """Return which documents have a date that may say when they are public."""
    says, says_in_hugo = (
        pc.match_substring_regex(documents["front_matter"], each, ignore_case=True)
        for each in (_SAID, _SAID_IN_HUGO)
    )
    is_of_hugo = pc.is_in(documents["collection"].cast(pa.string()), value_set=pa.array(of_hugo, pa.string()))
    is_post = pc.match_substring_regex(documents["path"], _POST.pattern)
    return pc.or_(pc.or_(says, is_post), pc.and_(is_of_hugo, says_in_hugo))


def _held_until(path: str, front_matter: str, day: str, keys: Sequence[str]) -> str:
    """Return why a page is not public on a day, or when it will not be; empty if it always is."""
    given = {key: day_of(each) for key, each in with_lower_keys(read_front_matter_json(front_matter)).items()}
    post = _POST.search(path)
    said = next(filter(None, map(given.get, keys)), None)
    begins = said or (post and (given.get("date") or post[1])) or ""
    ends = next(filter(None, map(given.get, _ENDS)), None) or ""
    if begins > day:
        return f"{_UNTIL}{begins}"
    return (
        f"{DRAFT} since {ends}, when it expired" if "" < ends <= day else f"{_EXPIRES}{ends}" if ends else ""
    )


def is_due(rejections: Iterable[ReportEntry], day: str) -> bool:
    """Return whether a document that was held back is public on a day, or one that was not has expired."""
    said = (each.reason for each in rejections)
    return any(each.startswith((_UNTIL, _EXPIRES)) and each[-len(day) :] <= day for each in said)
