"""Finds the categories of a collection that have generated pages, and reads such a page as a document."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..errors import MissingRoot, RejectedDocument, is_transient
from ..filesystems.availability import briefly_away, strerror
from ..identity import sha256_hex
from ..model import Source
from ..settings.collection import Collection
from ..source_files import FoundFile, read_file
from ..untrusted import NotRead
from .categories import CATEGORY_FILES, Category, section_of
from .entry import NavEntry
from .script_imports import Script
from .sidebars import read_docusaurus
from .yaml_files import read_generated


def folder_pages(files: Iterable[FoundFile], collection: Collection) -> Iterator[FoundFile]:
    """Yield the pages of folders that these files (``_category_.json``) ask for, each as its folder's index.

    One that cannot be read asks for none; where it orders a site, that says so.
    """
    for file in files:
        folder = posixpath.dirname(file.path)
        page = replace(file, path=f"{folder}/index.md", category=folder)
        try:
            if folder and _category(page, read_file(page, collection)) is not None:
                yield page
        except RejectedDocument:
            continue


def sidebar_pages(name: str, collection: Collection) -> Iterator[FoundFile]:
    """Yield the pages of categories in the sidebars that the collection names, each at its address.

    Raise ``MissingRoot`` if a file is not there, ``SourceError`` if it is briefly away.
    """
    for path in collection.sidebars:
        where = f"{path} (collection {name})"
        try:
            file = FoundFile(name, "", os.path.realpath(path), Path(path).stat().st_size)
            source = read_file(file, _beside(file, collection))
        except (OSError, RejectedDocument) as error:
            if isinstance(error, OSError) and is_transient(error):
                raise briefly_away(error, where) from error
            raise MissingRoot(
                f"the sidebars cannot be read: "
                f"{strerror(error) if isinstance(error, OSError) else error.what}",
                where=where,
                hint=f"Check collections.{name}.sidebars in the settings file.",
            ) from error
        for slug, category in _of_sidebars(source.content, posixpath.basename(file.location)).items():
            yield replace(file, path=category.path, category=slug)


def read_category_page(file: FoundFile, collection: Collection) -> Source:
    """Return the page of a category, made of the file that describes it; raises as ``read_file`` does."""
    if is_of_folder(file) and posixpath.basename(file.location) not in CATEGORY_FILES:
        content = section_of(file.category).markdown.encode("utf-8", "replace")
        return Source(file.collection, file.path, content, sha256_hex(content))
    source = read_file(file, collection if is_of_folder(file) else _beside(file, collection))
    category = _category(file, source)
    if category is None:
        where = f"{file.collection}:{file.path}"
        raise RejectedDocument("its category has no generated page any more", where=where)
    content = category.markdown.encode("utf-8", "replace")
    return replace(source, content=content, sha256=sha256_hex(content), version="")


def is_of_folder(page: FoundFile) -> bool:
    """Return whether the category is that of a folder, and not one of sidebars."""
    return not page.category.startswith("/")


def items_of(page: FoundFile, collection: Collection) -> tuple[str, ...]:
    """Return what a category of sidebars lists, at any depth; raises as ``read_file`` does."""
    source = read_file(page, _beside(page, collection))
    name = posixpath.basename(page.location)
    entries = read_docusaurus(Script(source.content.decode("utf-8", "replace"), name)).entries
    found = [each for entry in entries for each in _within(entry) if each.target == page.path]
    return tuple(each.target for entry in found for below in entry.children for each in _within(below))


def _within(entry: NavEntry) -> Iterator[NavEntry]:
    yield entry
    for child in entry.children:
        yield from _within(child)


def _category(file: FoundFile, source: Source) -> Category | None:
    name = posixpath.basename(file.location)
    if name not in CATEGORY_FILES:
        return _of_sidebars(source.content, name).get(file.category)
    try:
        return read_generated(source.content.decode("utf-8", "replace"), name, file.category)
    except NotRead:
        return None


@lru_cache(maxsize=4)
def _of_sidebars(content: bytes, name: str) -> Mapping[str, Category]:
    """Return the categories by their addresses; a file has many, each of which is a document."""
    found = read_docusaurus(Script(content.decode("utf-8", "replace"), name)).categories
    return {category.slug: category for category in found}


def _beside(file: FoundFile, collection: Collection) -> Collection:
    """Return the collection as if its folder were the one in which the file lies."""
    return collection.model_copy(update={"root": posixpath.dirname(file.location)})
