"""Files in groups, and the address of what a group says: the content, the settings and the code that decide it.

A group's borders hang on the names of its own files alone, so a file more or less changes one group, and what was
understood of all others is found again under the same address.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from ... import artifacts, pipeline
from ...pipeline.discover import FoundFile
from ...pipeline.embedding.model_files import find
from ...pipeline.identity import combined_hash, doc_id, sha256_hex
from ...pipeline.model import Source
from ...pipeline.settings.settings import Settings

Group = tuple[FoundFile, ...]
# So few that a changed file costs little more than itself, so many that a row of tables a group is no burden.
_MEAN_FILES = 2
_MAX_FILES = 32
# Libraries that decide what a document is understood to say.
_PARSERS = (
    "beautifulsoup4", "docutils", "markdown-it-py", "mdit-py-plugins", "nh3", "PyStemmer", "pyyaml", "tokenizers",
)  # fmt: skip


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


def decides(settings: Settings) -> dict[str, str]:
    """Of each collection a hash of all that decides, besides its files, what they are understood to say."""
    shared = (
        sources_hash(Path(pipeline.__file__).parent),
        sources_hash(Path(artifacts.__file__).parent),
        python_version(),  # its html.parser and its tables of Unicode
        *(version(name) for name in _PARSERS),
        settings.chunk.model_dump_json(),
        find(settings.embed).sha256,
    )
    return {
        name: combined_hash([name, collection.model_dump_json(exclude={"root"}), *shared])
        for name, collection in settings.collections.items()
    }


@lru_cache(maxsize=4)
def sources_hash(folder: Path) -> str:
    """A hash of a package's own code."""
    return combined_hash(sha256_hex(path.read_bytes()) for path in sorted(folder.rglob("*.py")))
