"""Groups of files, and the key of a group's content: a hash of the files, the settings and the code behind
it.

Group boundaries depend only on the names of the group's own files, so adding or removing a file changes one
group, and the parsed content of all the others is found in the cache under the same key.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from ...pipeline.identity import combined_hash, doc_id
from ...pipeline.model import Source
from ...pipeline.source_files import FoundFile

Group = tuple[FoundFile, ...]
# So few that a changed file costs little more than itself, so many that a row of tables a group is no burden.
_MEAN_FILES = 2
_MAX_FILES = 32


def grouped(files: Sequence[FoundFile], mean_files: int = _MEAN_FILES) -> list[Group]:
    """Return the files of one collection in order, in runs of about two (or another mean)."""
    groups: list[list[FoundFile]] = [[]]
    for file in files:
        begins = zlib.crc32(doc_id(file.collection, file.path).encode()) % mean_files == 0
        last = groups[-1]
        if last and (begins or len(last) == _MAX_FILES or last[0].collection != file.collection):
            groups.append([])
        groups[-1].append(file)
    return [tuple(group) for group in groups if group]


def group_key(sources: Sequence[Source | None], fingerprints: Mapping[str, str]) -> str:
    """Return the cache key of these sources; empty if one of them could not be read."""
    parts: list[str] = []
    for source in sources:
        if source is None:
            return ""
        parts += (
            fingerprints[source.collection],
            source.path,
            source.sha256,
            source.modified or "",
            source.author,
            source.title,
        )
    return combined_hash(parts)[:32]
