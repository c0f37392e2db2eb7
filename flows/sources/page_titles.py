"""What tables of contents and vaults call pages: the titles of documents that give themselves none."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from ...pipeline.address import INDEX_NAMES
from ...pipeline.discover import FileListing
from ...pipeline.errors import SettingsError
from ...pipeline.includes.sphinx.folder_versions import readable_folders
from ...pipeline.includes.tool_folders import tools_of
from ...pipeline.navigation.entry import NavEntry
from ...pipeline.sanitize import is_outward
from ...pipeline.settings.settings import Settings

_log = logging.getLogger("noctule")
# Other endings of what a table of contents names are parts of names.
_ENDINGS = frozenset(
    [
        ".htm",
        ".html",
        ".ipynb",
        ".markdown",
        ".md",
        ".mdx",
        ".qmd",
        ".rest",
        ".rst",
        ".text",
        ".txt",
        ".xhtml",
    ]
)


def with_titles(listing: FileListing, name: str, settings: Settings) -> FileListing:
    """Return the listing of a collection, in which files have the titles that it gives them."""
    title_of = _titles(name, settings)
    if title_of is None:
        return listing
    files = (replace(each, title=title_of(each.path)) for each in listing.files)
    return replace(listing, files=tuple(files))


def title_in_collection(name: str, path: str, settings: Settings) -> str:
    """Return the title that a collection gives a file, empty if it gives none."""
    title_of = _titles(name, settings)
    return title_of(path) if title_of else ""


def _titles(name: str, settings: Settings) -> Callable[[str], str] | None:
    """Return what gives paths their titles: the navigation, or in Obsidian's vaults the files' names."""
    if titles := navigation_titles(name, settings):
        return lambda path: titles.get(_key(path), "")
    collection = settings.collections.get(name)
    is_vault = collection is not None and "obsidian" in tools_of(readable_folders(collection))
    return _note_name if is_vault else None


def _note_name(path: str) -> str:
    stem, ending = posixpath.splitext(posixpath.basename(path))
    return stem if ending.lower() == ".md" and stem.lower() not in INDEX_NAMES else ""


def navigation_titles(name: str, settings: Settings) -> Mapping[str, str]:
    """Return the titles of pages, by their paths without ending, in lower case; a page's first one counts."""
    if name not in settings.site.navigation:
        return {}
    from ...docsite.outline.declared import declared_contents  # reads scripts by tree-sitter

    site = settings.site.model_copy(update={"navigation": {name: settings.site.navigation[name]}})
    try:
        declared = declared_contents(site).get(name)
    except SettingsError as error:
        _log.warning("titles from the navigation are left out: %s (%s)", error.what, error.where)
        return {}
    found: dict[str, str] = {}
    for folder, entry in _entries(declared.entries, "") if declared else ():
        found.setdefault(_key_of_target(posixpath.join(folder, entry.target.strip("/"))), entry.title)
    for folder, said in declared.folders.items() if declared else ():
        for inner, entry in _entries(said.entries, folder):
            found.setdefault(_key_of_target(posixpath.join(inner, entry.target.strip("/"))), entry.title)
    return found


def _entries(entries: Iterable[NavEntry], folder: str) -> Iterator[tuple[str, NavEntry]]:
    """Yield the entries that give a page a title, with the folder that their targets begin at."""
    for entry in entries:
        if entry.title and entry.target and not is_outward(entry.target) and "#" not in entry.target:
            yield folder, entry
        yield from _entries(entry.children, folder)


def _key_of_target(target: str) -> str:
    """Return the key of what an entry names, which may have no ending: ``releases/v1.2`` has none."""
    has_ending = posixpath.splitext(target)[1].lower() in _ENDINGS
    return _key(target if has_ending else f"{target or 'index'}.md")


def _key(path: str) -> str:
    """Return what all spellings of a page's path have in common."""
    stem = posixpath.splitext(posixpath.normpath(path))[0].lower()
    folder, last = posixpath.split(stem)
    return folder if last in INDEX_NAMES else stem
