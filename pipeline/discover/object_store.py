"""Lists what lies at an address: names are checked as those of a folder are, though a store takes any."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..assets.media import DOCUMENT_ENDINGS
from ..errors import MissingRoot
from ..filesystems.object_files import ObjectState, reopened
from ..patterns import globs
from ..settings.collection import Collection
from ..source_files import FoundFile, day_of
from .selection import PARTS_OF_PAGES, Selection, escaped, name_fault, normal

# Of one part between slashes: a page has the name of its document, and an ending of its own.
_MAX_PART_BYTES = 240
_NOWHERE = ("", ".", "..")


def look_at_address(name: str, collection: Collection) -> Selection:
    """Return what a collection's address holds; raises as ``noctule.pipeline.discover.list_files`` does."""
    include, exclude, assets = map(globs, (collection.include, collection.exclude, collection.assets))
    walk = Selection(name, collection, include, exclude, assets, globs(PARTS_OF_PAGES))
    folders, is_there = _Folders(walk), False
    try:
        for state in reopened(collection.root).listed(folders.enters):
            is_there = True
            _look(walk, folders, state)
    except FileNotFoundError:
        is_there = False
    if not is_there:
        raise MissingRoot(
            "nothing is listed at the collection's address",
            where=f"{collection.root} (collection {name})",
            hint=f"Check collections.{name}.root in the settings file. A store does not tell an empty folder "
            "from a wrong address.",
        )
    _leave_out_below_files(walk)
    return walk


@dataclass(slots=True)
class _Folders:
    """The folders of a listing, and whether to look into each."""

    walk: Selection
    _known: dict[str, bool] = field(default_factory=lambda: {"": True})

    def enters(self, folder: str) -> bool:
        """Return whether to look into a folder; into one that leads elsewhere, to say so of what is in it."""
        known = self._known.get(folder)
        if known is None:
            above, _, name = folder.rpartition("/")
            known = self.enters(above) and (
                name in _NOWHERE or (not name.startswith(".") and self.walk.enters(normal(folder)))
            )
            self._known[folder] = known
        return known


def _look(walk: Selection, folders: _Folders, state: ObjectState) -> None:
    """Record an object, or the reason for leaving it out."""
    parts = state.key.split("/")
    if any(part in _NOWHERE for part in parts):
        if walk.wanted(escaped(parts[-1])):
            walk.quarantine(escaped(state.key), "its name leads elsewhere as the path of a file: rename it")
        return
    folder, _, name = state.key.rpartition("/")
    if name.startswith((".", "~$")) or not folders.enters(folder):
        return
    path = normal(state.key)
    # Equal strings are one: there may be millions.
    file = FoundFile(
        walk.name, path, path if path == state.key else state.key, state.size,
        _day(walk.collection, state), version=state.version,
    )  # fmt: skip
    is_document = walk.wanted(escaped(path))
    if is_document and not walk.is_part(path):
        _record(walk, file, state)
    if is_document and not path.lower().endswith(DOCUMENT_ENDINGS):
        return
    if not (state.fault or _fault(path)) and walk.is_asset(path):
        # As a folder has it: the date is that of a document.
        walk.found_assets.append(replace(file, modified=None))


def _record(walk: Selection, file: FoundFile, state: ObjectState) -> None:
    if state.fault:
        walk.skip(escaped(file.path), state.fault)
    elif _is_long(file.path):
        walk.quarantine(escaped(file.path), f"a part of its name has over {_MAX_PART_BYTES} bytes: rename it")
    else:
        walk.add(file)


def _fault(path: str) -> bool:
    return bool(name_fault(path)) or _is_long(path)


def _is_long(path: str) -> bool:
    return len(path) > _MAX_PART_BYTES // 4 and any(
        len(part.encode("utf-8", "surrogateescape")) > _MAX_PART_BYTES for part in path.split("/")
    )


def _day(collection: Collection, state: ObjectState) -> str | None:
    if collection.modified_from != "file-time" or state.modified_s is None:
        return None
    return day_of(state.modified_s)


def _leave_out_below_files(walk: Selection) -> None:
    """Leave out what lies below a file, as nothing does in a folder: pages are written to one."""
    paths = {file.path for file in (*walk.files, *walk.found_assets)}
    folders = {path.rpartition("/")[0] for path in paths}
    folders |= {above for folder in folders for above in _above(folder)}
    if not (both := folders & paths):
        return
    for file in walk.files:
        if found := both.intersection(_above(file.path)):
            walk.quarantine(escaped(file.path), f"it lies below {min(found)}, which is a file: rename one")
    walk.files = [file for file in walk.files if both.isdisjoint(_above(file.path))]
    walk.found_assets = [file for file in walk.found_assets if both.isdisjoint(_above(file.path))]


def _above(path: str) -> list[str]:
    """Return the folders above a path."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
