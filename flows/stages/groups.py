"""Files in groups, and the address of what a group says: the content, the settings and the code that decide it.

A group's borders hang on the names of its own files alone, so a file more or less changes one group, and what was
understood of all others is found again under the same address.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from ...pipeline.discover import FoundFile
from ...pipeline.identity import combined_hash, doc_id
from ...pipeline.model import Source

Group = tuple[FoundFile, ...]
# So few that a changed file costs little more than itself, so many that a row of tables a group is no burden.
_MEAN_FILES = 2
_MAX_FILES = 32


def grouped(files: Sequence[FoundFile], mean_files: int = _MEAN_FILES) -> list[Group]:
    """The files in runs of about two (or another mean) of one collection, in their order."""
    groups: list[list[FoundFile]] = [[]]
    for file in files:
        begins = zlib.crc32(doc_id(file.collection, file.path).encode()) % mean_files == 0
        last = groups[-1]
        if last and (begins or len(last) == _MAX_FILES or last[0].collection != file.collection):
            groups.append([])
        groups[-1].append(file)
    return [tuple(group) for group in groups if group]


def group_key(sources: Sequence[Source | None], deciding: Mapping[str, str]) -> str:
    """The address of what these sources say; empty where one could not be read."""
    parts: list[str] = []
    for source in sources:
        if source is None:
            return ""
        parts += (
            deciding[source.collection],
            source.path,
            source.sha256,
            source.modified or "",
            source.author,
        )
    return combined_hash(parts)[:32]
