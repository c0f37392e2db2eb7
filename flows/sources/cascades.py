"""Documents of Hugo that a section above them keeps from being published, by its ``cascade``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pathspec import GitIgnoreSpec

from ...pipeline.identity import read_front_matter_json
from ...pipeline.model import Rejection
from ...pipeline.parse.drafts import draft_of
from ...pipeline.settings.settings import Settings
from ...pipeline.visibility import DRAFT
from .publication_dates import front_matter_of, is_of_hugo

_SECTION = re.compile(r"(?:^|/)_index\.[^/]+$")
_TARGETS = ("target", "_target")
_PAGE, _PRODUCTION = "page", "production"


@dataclass(frozen=True, slots=True)
class _Cascade:
    """The values that a section hands down to itself and to what is below, as far as its ``target`` says."""

    section: PurePosixPath
    values: Mapping[str, Any]
    target: Mapping[str, Any]

    def reaches(self, path: str) -> bool:
        """Return whether it is for a document; one that is not understood is, as nothing must leak."""
        at = PurePosixPath(path)
        if not at.is_relative_to(self.section) or self.target.get("environment", _PRODUCTION) != _PRODUCTION:
            return False
        if "kind" in self.target and (self.target["kind"] == _PAGE) == bool(_SECTION.search(path)):
            return False
        wanted = _matcher(str(self.target.get("path", "**")))
        return wanted is None or wanted.match_file(path.rpartition("content/")[2])


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> GitIgnoreSpec | None:
    """Return what matches the paths of a target, ``None`` for one that is not understood."""
    if set(pattern) & set("{}[]"):
        return None
    try:
        return GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return None


def held_by_sections(rows: pa.Table, settings: Settings) -> list[Rejection]:
    """Return the documents that no draft says of itself, but a section above it in a folder of Hugo."""
    of_hugo = [name for name, each in settings.collections.items() if not each.drafts and is_of_hugo(each)]
    chunks = [front_matter_of(chunk) for chunk in rows["documents"].chunks] if of_hugo else []
    held = []
    for name in of_hugo:
        own = [chunk.filter(pc.equal(chunk["collection"].cast(pa.string()), name)) for chunk in chunks]
        pages = [(row["path"], row["front_matter"]) for chunk in own for row in chunk.to_pylist()]
        found = (each for path, front in pages for each in _cascades(path, front))
        cascades = sorted(found, key=lambda cascade: len(cascade.section.parts))
        for path, front in pages if cascades else ():
            if reason := _reason(path, front, cascades):
                held.append(Rejection(name, path, "skipped", reason))
    return held


def _cascades(path: str, front_matter: str) -> Iterator[_Cascade]:
    """Yield what a section hands down, what is handed down first last."""
    if not _SECTION.search(path) or '"cascade"' not in front_matter.lower():
        return
    given = _lowered(read_front_matter_json(front_matter)).get("cascade")
    for each in reversed(given if isinstance(given, list) else [given]):
        if isinstance(each, dict):
            values = _lowered(each)
            target = next((found for key in _TARGETS if isinstance(found := values.get(key), dict)), {})
            yield _Cascade(PurePosixPath(path).parent, values, _lowered(target))


def _reason(path: str, front_matter: str, cascades: list[_Cascade]) -> str:
    """Return why a document is not public; what is last of the cascades counts, its own front matter most."""
    values: dict[str, Any] = {}
    for each in cascades:
        if each.reaches(path):
            values |= each.values
    said = draft_of(values | _lowered(read_front_matter_json(front_matter))) if values else ""
    return f"{DRAFT} ({said}, by the cascade of a section)" if said else ""


def _lowered(values: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).lower(): value for key, value in values.items()}
