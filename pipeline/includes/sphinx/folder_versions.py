"""The part of a document's version that its folder decides: its tool, and settings of Sphinx above it.

Files that a document includes are not part of this: one that includes any has no version.
"""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

from ...filesystems.availability import briefly_away
from ...filesystems.opening import is_address
from ...identity import combined_hash, stable_text
from ...model import Source
from ...settings.collection import Collection
from ...source_files import is_in_folder
from ..tool_folders import tools_of
from .conf_values import NEVER_RST, SETTINGS, SphinxValues, sphinx_values

# The names of files that say something about the documents below them.
SETTINGS_OF_FOLDERS = frozenset(SETTINGS)
_DIGITS = 16


def readable_folders(collection: Collection) -> tuple[Path, ...]:
    """Return the real paths of the folders that may be included from, the collection's own first.

    At an address there are none, and no tool is known by its settings there.
    """
    if is_address(collection.root):
        return ()
    given = (collection.root, *collection.snippet_folders)
    return tuple(Path(os.path.realpath(folder)) for folder in given)


def may_be_of_a_tool(content: bytes, tools: Container[str]) -> bool:
    """Return whether one of the tools whose folder it is decides what something in a document means."""
    is_vault = "logseq" in tools or "obsidian" in tools
    return bool(tools) and (is_vault or b"{{" in content or b"[[" in content)


class FolderVersions:
    """Versions of the folders of one collection; its tools are those of the moment it is made."""

    def __init__(self, collection: Collection) -> None:
        self._folders = readable_folders(collection)
        tools = sorted(tools_of(self._folders))
        self._tools = combined_hash(tools)[:_DIGITS] if tools else ""

    def of(self, folder: Path) -> str:
        """Return what the version of a document in the folder ends with; empty where nothing is around it.

        Raise ``SourceError`` where the machine cannot say now.
        """
        try:
            values = sphinx_values(str(Path(os.path.realpath(folder)) / "document"), self._folders)
        except OSError as error:
            raise briefly_away(error, str(folder)) from error
        return f",{self._tools}:{_said(values)}" if self._tools or values is not None else ""


def _said(values: SphinxValues | None) -> str:
    return "" if values is None else combined_hash([stable_text(values)])[:_DIGITS]


def with_version(source: Source, listed: str, values: SphinxValues | None) -> Source:
    """Return a source whose version is that of a file alone with the one ``listed``, if it is still the same.

    ``values`` are those that it was read with. It has no version if what is around it is not as it was
    listed, and may concern it.
    """
    if not is_in_folder(source.version):
        return source  # nothing is around what lies at an address
    own, mark, around = listed.partition(",")
    tools, _, said = around.partition(":")
    is_of_tool = may_be_of_a_tool(source.content, (tools,) if tools else ())
    is_same = bool(own) and (said == _said(values) or source.path.lower().endswith(NEVER_RST))
    is_same = is_same and not is_of_tool
    return replace(source, version=f"{source.version}{mark}{around}" if is_same else "")
