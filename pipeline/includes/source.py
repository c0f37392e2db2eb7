"""Reads a document's file together with the files that it includes."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..directives import NOT_INCLUDED
from ..errors import RejectedDocument
from ..filesystems.availability import briefly_away_told
from ..filesystems.object_files import objects_at
from ..filesystems.opening import is_address
from ..identity import combined_hash, sha256_hex
from ..model import Source
from ..navigation.category_pages import read_category_page
from ..settings.collection import Collection
from ..source_files import FoundFile, read_file
from .expand import IncludedFile, NotIncluded, expand, has_directives
from .mkdocs.macros import variables_of
from .project import context_of
from .python_blocks import MARKDOWN, RST
from .python_modules import module_page, with_modules
from .sphinx.conf_values import SphinxValues, in_its_format, values_for, with_other_projects
from .sphinx.folder_versions import may_be_of_a_tool, readable_folders, with_version
from .sphinx.substitutions import with_values
from .tool_folders import tools_of


def read_source(file: FoundFile, collection: Collection) -> Source:
    """Return the file's text with what it includes and describes, and the SHA-256 of all that.

    Raise ``RejectedDocument`` and ``SourceError`` as :func:`read_file` does; a file that cannot be included
    is a remark, unless the cause may be temporary.
    """
    if file.module:
        return module_page(file, collection)
    if file.category:
        return read_category_page(file, collection)
    with briefly_away_told(f"{file.collection}:{file.path}"):
        source = read_file(file, collection)
        values = values_for(source, file.location, readable_folders(collection))
        made = with_modules(_expanded(file, collection, source, values), collection, values)
        return with_other_projects(made, values) if values else made


def _expanded(file: FoundFile, collection: Collection, source: Source, values: SphinxValues | None) -> Source:
    """Return the source with what its directives name, what ends every document, and what Sphinx gives it."""
    if collection.auto_append and file.path.lower().endswith((*MARKDOWN, ".mdx")):
        source = _appended(source, collection)
    if values is None:
        return with_version(_with_included(source, file, collection), file.version, values)
    source = in_its_format(source, values)
    included = _with_included(source, file, collection, is_of_sphinx=True)  # names values, too
    filled = _filled_in(included, values, collection.max_bytes)
    if "include::" in values.prolog + values.epilog and source.path_by_format.lower().endswith(RST):
        filled = _with_included(filled, file, collection, is_of_sphinx=True)
    return with_version(filled, file.version, values)


def _with_included(
    source: Source, file: FoundFile, collection: Collection, *, is_of_sphinx: bool = False
) -> Source:
    """Return the source with the files that its directives name, and what other tools write in braces."""
    folders = readable_folders(collection)
    is_of_a_tool = may_be_of_a_tool(source.content, tools_of(folders))
    may_name_values = is_of_a_tool or bool(collection.variables)
    if not may_name_values and not has_directives(source.content, source.path_by_format):
        return source
    try:
        text = source.content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return source  # the parser says where
    is_local = not is_address(collection.root)
    path = os.path.realpath(file.location) if is_local else f"/{file.location}"
    find = (_FoundBelow if is_local else _FoundAtAddress)(file.collection, collection, folders)
    context = context_of(text, path, folders)
    is_plain = not context.project.tools
    context = replace(context, variables=variables_of(collection.variables))
    context = context.of_sphinx() if is_of_sphinx else context
    found = expand(text, path + source.read_as, find, collection.max_bytes, context)
    content, notes = found.text.encode(), (*source.notes, *found.notes)
    # Marks of directives, and no directive: nothing but the document itself was read.
    is_alone = is_plain and not found.has_read and found.text == text and not found.notes
    version = source.version if is_alone else ""
    return replace(source, content=content, sha256=sha256_hex(content), notes=notes, version=version)


def _filled_in(source: Source, values: SphinxValues, most: int) -> Source:
    """Return the source with the values that it names, of which none makes it longer than ``most``."""
    try:
        text = source.content.decode("utf-8")
    except UnicodeDecodeError:
        return source
    text, remarks = with_values(text, source.path_by_format, values, most)
    content = text.encode()
    if content == source.content and not remarks:
        return source
    sha256 = combined_hash((sha256_hex(content), *remarks)) if remarks else sha256_hex(content)
    return replace(source, content=content, sha256=sha256, notes=(*source.notes, *remarks), version="")


def _appended(source: Source, collection: Collection) -> Source:
    """Return the source followed by the files that the collection ends its markdown documents with."""
    pieces, notes = [source.content], list(source.notes)
    for name in collection.auto_append:
        path = _real(Path(name))
        find = _FoundBelow(source.collection, collection, (path.parent,))
        try:
            pieces.append(find(path.name, str(path)).text.encode())
        except NotIncluded as fault:
            notes.append(f"{path.name!r:.200} {NOT_INCLUDED}{fault}")
    content = b"\n\n".join(pieces)
    return replace(source, content=content, sha256=sha256_hex(content), notes=tuple(notes), version="")


@dataclass(frozen=True, slots=True)
class _FoundBelow:
    """Finds included files in the collection's folder and in its ``snippet_folders``, and nowhere else."""

    name: str
    collection: Collection
    folders: tuple[Path, ...]

    def __call__(self, target: str, included_by: str) -> IncludedFile:
        outside = False
        for path in self._places(target, Path(included_by).parent):
            if ".git" in path.parts:
                raise NotIncluded("it is a file of git itself, which may hold passwords")
            folder = next((each for each in self.folders if path.is_relative_to(each)), None)
            is_there = _is_file(path, f"{self.name}:{target}")
            if folder is not None and is_there:
                return self._read(path, folder, target)
            outside = outside or is_there
        raise NotIncluded(
            "it is outside the collection's folder: name its folder in snippet_folders"
            if outside
            else "there is no such file"
        )

    def _places(self, target: str, start: Path) -> Iterator[Path]:
        """Yield where a target may be, as real paths.

        It is below the folder of the file that includes it, or below one above that, up to the folder that
        holds all those that may be included from; or below any of these.
        """
        own = self.folders[0]
        if target.startswith(("@/", "/")):  # of the collection's folder, as VitePress and Sphinx mean it
            yield _real(own / target.lstrip("@/"))
            yield _real(own.parent / target.lstrip("@/"))  # VuePress begins above its own folder
        above = [start, *start.parents]
        outermost = len(Path(os.path.commonpath(self.folders)).parts)
        for folder in (*(each for each in above if len(each.parts) >= outermost), *self.folders):
            yield _real(folder / target.lstrip("/"))

    def _read(self, path: Path, folder: Path, target: str) -> IncludedFile:
        found = FoundFile(self.name, target, str(path), 0)
        own = self.collection.model_copy(update={"root": str(folder)})
        return _included(found, own, str(path))


@dataclass(frozen=True, slots=True)
class _FoundAtAddress:
    """Finds included files at the collection's address, and nowhere else; paths begin with a slash there."""

    name: str
    collection: Collection
    folders: tuple[Path, ...]

    def __call__(self, target: str, included_by: str) -> IncludedFile:
        objects = objects_at(self.collection.root)
        for key in dict.fromkeys(self._keys(target, PurePosixPath(included_by).parent)):
            if (state := objects.state(key)) is not None:
                found = FoundFile(self.name, target, key, state.size, version=state.version)
                return _included(found, self.collection, f"/{key}")
        raise NotIncluded("there is no such file at the collection's address")

    @staticmethod
    def _keys(target: str, start: PurePosixPath) -> Iterator[str]:
        """Yield the names that a target may mean, from the folder of the file that includes it upwards."""
        if target.startswith("@/"):
            start, target = PurePosixPath("/"), target.lstrip("@/")
        for folder in (start, *start.parents):
            key = posixpath.normpath(posixpath.join(str(folder).lstrip("/"), target.lstrip("/")))
            if not key.startswith("..") and key != ".":
                yield key


def _included(file: FoundFile, collection: Collection, path: str) -> IncludedFile:
    try:
        text = read_file(file, collection).content.decode("utf-8")
    except UnicodeDecodeError:
        raise NotIncluded("it is not UTF-8 text") from None
    except RejectedDocument as error:
        raise NotIncluded(error.what) from None
    if "\0" in text:
        raise NotIncluded("it is not a text file")
    return IncludedFile(path, text.replace("\r\n", "\n"))


def _is_file(path: Path, where: str) -> bool:
    with suppress(ValueError, OSError), briefly_away_told(where):
        return path.is_file()
    return False


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Path(os.sep)
