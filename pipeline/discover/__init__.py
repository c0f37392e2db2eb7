"""Lists a collection's files, wherever they lie: a source is a listing of files and a way to read them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ..filesystems.opening import is_address
from ..includes.tool_folders import settings_folders, tools_of
from ..links.published import path_stem
from ..navigation.category_pages import folder_pages, sidebar_pages
from ..python_packages import module_files
from ..settings.collection import Collection
from ..source_files import FoundFile
from .local_folder import look_in_folder
from .object_store import look_at_address
from .selection import FileListing, Selection, escaped

__all__ = ["FileListing", "list_files"]


def list_files(name: str, collection: Collection) -> FileListing:
    """Return the collection's files that match its globs, sorted by path, and what was left out and why.

    Links out of the folder are never followed, pipes and devices never opened, and hidden names skipped
    silently. Raises ``MissingRoot`` when the collection's folder does not exist, is not a folder or
    cannot be read, or when nothing lies at its address, and ``SourceError`` when something in it is
    temporarily unavailable.
    """
    found = (look_at_address if is_address(collection.root) else look_in_folder)(name, collection)
    _add_modules(found)
    _add_categories(found)
    if not is_address(collection.root):
        _add_sections(found)
    return FileListing(
        _in_order(found.files),
        tuple(sorted(found.rejections, key=lambda rejection: (rejection.path, rejection.reason))),
        _in_order(found.found_assets),
    )


def _add_modules(found: Selection) -> None:
    """Add the pages of Python modules, except where a file of the collection has the path of one."""
    written = {file.path for file in found.files}
    for file in module_files(found.name, found.collection):
        if file.path in written:
            found.skip(file.path, f"the page of {file.module}: a file of the collection stands there")
        else:
            found.files.append(file)


def _add_sections(found: Selection) -> None:
    """Add the lists that Hugo makes of folders at the top, and Quartz of all, where documents lie.

    Hugo's settings may stand above the folder. Where a page of the collection stands, there is no list.
    """
    root = Path(found.collection.root)
    tools = tools_of(settings_folders(found.collection))
    if not tools & {"hugo", "quartz"}:
        return
    written = {path_stem(file.path) for file in found.files}
    name = "index.md" if "quartz" in tools else "_index.md"
    for file in list(found.files):
        above = [each.as_posix() for each in PurePosixPath(file.path).parents][:-1]
        for folder in above if "quartz" in tools else above[-1:]:
            if folder not in written and found.wanted(escaped(f"{folder}/{name}")):
                written.add(folder)
                found.add(FoundFile(found.name, f"{folder}/{name}", str(root / folder), 0, category=folder))


def _add_categories(found: Selection) -> None:
    """Add the generated pages of categories, except where a page of the collection stands."""
    pages = (*folder_pages(found.categories, found.collection), *sidebar_pages(found.name, found.collection))
    written = {path_stem(file.path) for file in found.files} if pages else set[str]()
    for file in pages:
        stem = path_stem(file.path)
        if stem in written:
            found.skip(file.path, "the generated page of a category: a page of the collection stands there")
        elif not found.exclude.match_file(escaped(file.path)):
            written.add(stem)
            found.add(file)


def _in_order(files: list[FoundFile]) -> tuple[FoundFile, ...]:
    return tuple(sorted(files, key=lambda found: (found.path, found.location)))
