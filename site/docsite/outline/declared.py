"""The files of other tools that the settings name as a collection's table of contents."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...pipeline.errors import SettingsError
from ...pipeline.navigation.categories import CATEGORY_FILES
from ...pipeline.navigation.entry import REST, Contents, FolderEntry, NavEntry
from ...pipeline.navigation.myst_files import read_myst, read_toc
from ...pipeline.navigation.script_imports import Script, folder_of_imports, read_imported
from ...pipeline.navigation.sidebars import read_docusaurus, read_vitepress
from ...pipeline.navigation.site_scripts import read_mintlify, read_starlight, read_vuepress
from ...pipeline.navigation.summary import NAME as SUMMARY
from ...pipeline.navigation.summary import read_summary
from ...pipeline.navigation.yaml_files import (
    read_category,
    read_data,
    read_mkdocs,
    read_pages,
    read_zensical,
)
from ...pipeline.settings.site import Site
from ...pipeline.untrusted import NotRead, read_regular

MAX_BYTES, MAX_FOLDERS = 2_000_000, 20_000
# Of a file, and of parts within each other.
MAX_PARTS, _MAX_DEPTH = 50, 5
_SCRIPTS = frozenset({".js", ".ts", ".mjs", ".mts", ".cjs"})
_IN_FOLDERS = frozenset({".pages", SUMMARY, *CATEGORY_FILES})
_log = logging.getLogger("noctule")


@dataclass(frozen=True, slots=True)
class NavigationFile:
    """A file that orders pages: where it is, its path below the folder that was named, and its bytes.

    Those of a ``script`` are its own and of all that it imports. ``in_folder`` tells that a folder was named.
    """

    collection: str
    location: Path
    path: str
    content: bytes
    script: Script | None = None
    in_folder: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """What the files of a collection say: entries, folders by path, and remarks.

    ``summaries`` are the entries of ``SUMMARY.md`` by its folder, which stand where that folder does.
    """

    entries: tuple[NavEntry, ...] = ()
    folders: Mapping[str, FolderEntry] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    summaries: Mapping[str, tuple[NavEntry, ...]] = field(default_factory=lambda: MappingProxyType({}))


def navigation_files(settings: Site) -> Iterator[NavigationFile]:
    """Yield every file that the settings name, and in a folder that they name those that order its pages.

    Raises ``SettingsError`` for a file that cannot be read.
    """
    for collection, places in sorted(settings.navigation.items()):
        for place in map(Path, places):
            if not place.is_dir():
                yield _file(collection, place)
                continue
            for path in _in_folder(place):
                below = path.relative_to(place).as_posix()
                yield NavigationFile(collection, path, below, _read(path, place), in_folder=True)


def _in_folder(top: Path) -> Iterator[Path]:
    """Yield the files in a folder that order its pages, in order; links are not followed."""
    for number, (folder, folders, files) in enumerate(os.walk(top)):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        yield from (
            path
            for name in sorted(_IN_FOLDERS.intersection(files))
            if not (path := Path(folder) / name).is_symlink()
        )
        if number == MAX_FOLDERS:
            _log.warning("%s: more than %s folders; the rest is not looked at", top, f"{MAX_FOLDERS:,}")
            return


def _read(path: Path, folder: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES, folder)
    except (OSError, NotRead) as error:
        raise _cannot_be_read(error, path) from None


def _cannot_be_read(error: OSError | NotRead, path: Path) -> SettingsError:
    return SettingsError(
        f"cannot read a file that [site.navigation] names: {getattr(error, 'strerror', None) or error}",
        where=str(path),
        hint="Correct the setting or the file.",
    )


def _file(collection: str, place: Path) -> NavigationFile:
    """Return a file with the content of the files beside it which it names."""
    content = _read(place, place.parent)
    if b'"$ref"' in content:
        content = _with_parts(content, place.parent)
    if place.suffix not in _SCRIPTS:
        return NavigationFile(collection, place, place.name, content)
    top = folder_of_imports(place)

    def imported(name: str) -> str | None:
        try:
            return read_imported(top, name, MAX_BYTES)
        except OSError as error:
            raise _cannot_be_read(error, top / name) from None

    script = Script(content.decode("utf-8-sig", "replace"), place.relative_to(top).as_posix(), imported)
    return NavigationFile(collection, place, place.name, script.content, script)


def _with_parts(content: bytes, folder: Path) -> bytes:
    """Return JSON with the files in the place of each ``{"$ref": "./part.json"}``, as Mintlify reads it.

    A part that is not in the folder, or no JSON, stays a reference, which the reader remarks on.
    """
    left = [MAX_PARTS]

    def filled(value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [filled(each, depth) for each in value]
        if not isinstance(value, dict):
            return value
        if isinstance(name := value.get("$ref"), str) and depth < _MAX_DEPTH and left[0]:
            left[0] -= 1
            with suppress(OSError, ValueError, NotRead):
                return filled(json.loads(read_regular(folder / name, MAX_BYTES, folder)), depth + 1)
        return {key: filled(each, depth) for key, each in value.items()}

    try:
        return json.dumps(filled(json.loads(content), 0)).encode()
    except (ValueError, RecursionError):  # the reader says so
        return content


def declared_contents(settings: Site) -> dict[str, Declared]:
    """Return what the files that the settings name say, by collection; raise ``SettingsError``."""
    found: dict[str, Declared] = {}
    for file in navigation_files(settings):
        before = found.get(file.collection, Declared())
        found[file.collection] = _with(before, file)
    return found


def _with(before: Declared, file: NavigationFile) -> Declared:
    text, remarks = file.content.decode("utf-8-sig", "replace"), before.remarks
    folder = file.path.rpartition("/")[0]
    try:
        if file.location.name in _IN_FOLDERS - {SUMMARY}:
            return replace(before, folders={**before.folders, folder: _folder(file, text)})
        read = _contents(file, text)
    except NotRead as error:
        return replace(before, remarks=(*remarks, f"{file.location}: {error}"))
    remarks = (*remarks, *(f"{file.location}: {remark}" for remark in read.remarks))
    if file.in_folder:
        entries = tuple(map(_with_folders, read.entries))
        return replace(before, summaries={**before.summaries, folder: entries}, remarks=remarks)
    entries = (*before.entries, *read.entries)
    return replace(before, entries=entries, folders={**before.folders, **read.folders}, remarks=remarks)


def _with_folders(entry: NavEntry) -> NavEntry:
    """Return an entry of ``SUMMARY.md`` in which an address that ends with a slash is a folder of pages."""
    target = f"{entry.target}{REST}" if entry.target.endswith("/") else entry.target
    return NavEntry(entry.title, target, tuple(map(_with_folders, entry.children)))


def _folder(file: NavigationFile, text: str) -> FolderEntry:
    name = file.location.name
    return read_pages(text) if name == ".pages" else read_category(text, name)


def _contents(file: NavigationFile, text: str) -> Contents:
    """Return what the file says, read as the tool that it belongs to would."""
    name = file.location.name.lower()
    if name.endswith(".md"):
        return read_summary(text)
    if name == "zensical.toml":
        return read_zensical(text)
    if name.startswith("mkdocs") or name in ("properdocs.yml", "zensical.yml", "zensical.yaml"):
        return read_mkdocs(text)
    if name.endswith((".yml", ".yaml")):
        return _OF_MYST.get(name, read_data)(text)
    folders = (_OF_FOLDER.get(each.name) for each in file.location.parents[:2])
    if (reader := next(filter(None, folders), None)) is not None:
        return reader(file.script or Script(text, name))
    readers = (each for start, each in _OF_NAME.items() if name.startswith(start))
    return next(readers, read_docusaurus)(file.script or Script(text, name))


_OF_MYST = {"_toc.yml": read_toc, "_toc.yaml": read_toc, "myst.yml": read_myst}
_OF_FOLDER = {".vitepress": read_vitepress, ".vuepress": read_vuepress}
_OF_NAME = {"astro.config.": read_starlight, "docs.json": read_mintlify, "mint.json": read_mintlify}
