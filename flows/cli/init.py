"""A first settings file for a folder: what ``noctule init`` writes after a look around."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...artifacts.disk import durable
from ...pipeline.errors import SettingsError, SourceError
from ..run.request import SETTINGS_FILE, collection_name

_KINDS = {".md": "markdown", ".markdown": "markdown", ".html": "HTML", ".htm": "HTML", ".txt": "text"}
_FOREIGN = {"node_modules", "venv", "__pycache__", "build", "dist", "public"}
_MAX_ENTRIES = 200_000

_TEMPLATE = """\
# noctule: which documents are indexed, and how. Every key with its default: configs/default.toml of noctule.

[collections.{name}]
root = "{root}"                  # taken from this file's folder
include = [{include}]
exclude = []                   # for example ["drafts/**"]
language = "en"

[collections.{name}.address]
base_url = ""                  # goes before the address of each hit, for example "https://docs.example.org/"
style = "path"                 # "path", "directory" or "slug"

[site]
title = "{title}"
"""


@dataclass(frozen=True, slots=True)
class Starter:
    """The file written: the collection in it, and what was found in its folder."""

    path: Path
    collection: str
    root: str
    found: str


def write_settings(folder: Path) -> Starter:
    """Write a noctule.toml into the folder.

    Raises ``SettingsError`` if there is one already, ``SourceError`` if there are no documents.
    """
    path = folder / SETTINGS_FILE
    if path.exists():
        raise SettingsError("there is one already", where=str(path), hint="Edit it, or delete it first.")
    root = "docs" if _count(folder / "docs") else "."
    counts = _count(folder / root)
    if not counts:
        raise SourceError(
            "there are no documents here (markdown, HTML or plain text)",
            where=str(folder),
            hint="Run noctule init in a folder that holds some, or below which some lie.",
        )
    name = collection_name(folder / root)
    include = ", ".join(f'"**/*{ending}"' for ending in _KINDS if ending in counts)
    title = name if root == "." else collection_name(folder)
    content = _TEMPLATE.format(name=name, root=root, include=include, title=title)
    durable.replace_file(path, content.encode())
    return Starter(path, name, root, _described(counts))


def _count(folder: Path) -> Counter[str]:
    """Count documents by ending, without looking into hidden folders or those of tools."""
    counts: Counter[str] = Counter()
    seen = 0
    for _, directories, files in os.walk(folder):
        directories[:] = [each for each in directories if not each.startswith(".") and each not in _FOREIGN]
        counts.update(
            ending for file in files if not file.startswith(".") and (ending := Path(file).suffix) in _KINDS
        )
        seen += len(files)
        if seen > _MAX_ENTRIES:
            break
    return counts


def _described(counts: Counter[str]) -> str:
    by_kind: Counter[str] = Counter()
    for ending, count in counts.items():
        by_kind[_KINDS[ending]] += count
    return ", ".join(f"{count:,} {kind} files" for kind, count in sorted(by_kind.items()))
