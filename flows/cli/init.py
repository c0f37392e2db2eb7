"""The command ``init``: a first settings file for a folder, written after a look around or from a preset."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...pipeline.errors import SettingsError, SourceError
from ...pipeline.printable import counted
from . import output
from .flags import Flags

if TYPE_CHECKING:
    from ..importers.imported_settings import ImportedSettings

_KINDS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "MDX",
    ".qmd": "Quarto",
    ".rst": "reStructuredText",
    ".ipynb": "notebook",
    ".canvas": "canvas",
    ".html": "HTML",
    ".htm": "HTML",
    ".txt": "text",
}
# In a folder of documents they are attachments, unless there is nothing else.
_OFFICE = {".pdf": "PDF file", ".docx": "Word file"}
_FOREIGN = {"node_modules", "venv", "__pycache__", "build", "dist", "public"}
_MAX_ENTRIES = 200_000
_PRESETS = Path(__file__).parents[2] / "presets"

_TEMPLATE = """\
# noctule: which documents are indexed, and how.
# Every key with its default: configs/default.toml in the repository of noctule.

[collections.{name}]
root = "{root}"                  # relative to this file's folder
include = [{include}]
exclude = []                   # for example ["drafts/**"]
language = "en"

[collections.{name}.address]
base_url = ""                  # the prefix of each hit's address, for example "https://docs.example.org/"
style = "path"                 # "path", "directory" or "slug"

[site]
title = "{title}"

"""


def presets() -> list[str]:
    """Return the names of the presets that come with noctule; ``default`` only explains every key."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml") if path.stem != "default")


_Preset = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help=f"The preset to begin with: {', '.join(presets())}."),
]


_From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="PATH",
        exists=True,
        help="Import the settings of another tool, in this folder or file.",
    ),
]


def init(flags: Flags, preset: _Preset = None, source: _From = None) -> None:
    """Write a noctule.toml for the documents in this folder.

    Examples: cd my-notes; noctule init; noctule index ; noctule init --preset docs ; noctule init --from .
    """
    if source is not None:
        _init_from(flags, source, preset)
        return
    written = write_settings(Path.cwd(), preset)
    if flags.as_json:
        output.emit({"config": str(written.path), "collection": written.collection, "root": written.root})
        return
    output.say(f"Wrote {written.path.name}: collection {written.collection!r}, folder {written.root!r}")
    output.say(f"Found {written.found}. Next: noctule index")
    if written.unsearched:
        output.say(
            f'Not searched: {written.unsearched}. To search in them, add "**/*.pdf" or "**/*.docx" to include'
        )


def _init_from(flags: Flags, source: Path, preset: str | None) -> None:
    """Write the settings that another tool's give, and say what has no place in them."""
    if preset is not None:
        raise SettingsError("--from and --preset cannot be combined", where="--from", hint="Choose one.")
    written, found = import_settings(Path.cwd(), source)
    if flags.as_json:
        names = {"config": str(written.path), "collection": written.collection, "root": written.root}
        output.emit({**names, "tool": found.tool, "left": found.left})
        return
    output.say(
        f"Wrote {written.path.name} from {found.config.path} ({found.tool}): "
        f"collection {written.collection!r}"
    )
    if found.left:
        output.say(f"Not imported: {'; '.join(found.left)}")
    output.say(f"Found {written.found}. Next: noctule index")


@dataclass(frozen=True, slots=True)
class Starter:
    """The file written: the collection in it, what was found in its folder, and what of it is not read."""

    path: Path
    collection: str
    root: str
    found: str
    unsearched: str = ""


def write_settings(folder: Path, preset: str | None = None) -> Starter:
    """Write a noctule.toml into the folder, from a preset if one is named.

    Raises ``SettingsError`` if there is one already and for an unknown preset, ``SourceError`` if there are
    no documents.
    """
    from ...artifacts.disk import durable
    from ..run.request import collection_name

    given = _preset_text(preset) if preset else ""
    path = _new_file(folder)
    described = next(iter(tomllib.loads(given).get("collections", {}).items()), None)
    root = described[1]["root"] if described else "docs"
    root = root if _count(folder / root) else "."
    counts, office = _count(folder / root), _count(folder / root, _OFFICE)
    counts, office = (counts, office) if counts else (office, Counter())
    if not counts:
        raise SourceError(
            "there are no documents here (markdown, HTML, plain text, PDF or Word)",
            where=str(folder),
            hint="Run noctule init in a folder that contains some, directly or in subfolders.",
        )
    if described:
        name, own = described
        content = given.replace(f'root = "{own["root"]}"', f'root = "{root}"', 1)
    else:
        name = collection_name(folder / root)
        include = ", ".join(f'"**/*{ending}"' for ending in (*_KINDS, *_OFFICE) if ending in counts)
        title = name if root == "." else collection_name(folder)
        content = _TEMPLATE.format(name=name, root=root, include=include, title=title) + given
    durable.replace_file(path, content.encode())
    return Starter(path, name, root, _described(counts), _described(office))


def import_settings(folder: Path, source: Path) -> tuple[Starter, ImportedSettings]:
    """Write a noctule.toml into the folder from another tool's settings; return what was found there too.

    Raises ``SettingsError`` if there is one already, ``SourceError`` if ``source`` is no tool's.
    """
    from ...artifacts.disk import durable
    from ...pipeline.settings.reading import parse
    from ..importers.dependencies import import_packages, snippet_folders
    from ..importers.imported_settings import collection_name, settings_text
    from ..importers.tools import read_tool

    path = _new_file(folder)
    found = read_tool(source)
    name = collection_name(found)
    top = source if source.is_dir() else source.parent
    import_packages(found, top)
    text = settings_text(found, name, folder, snippet_folders(found, found.config.project))
    parse(tomllib.loads(text), where=str(found.config.path))
    durable.replace_file(path, text.encode())
    return Starter(path, name, str(found.root), _described(_count(found.root)) or "no documents"), found


def _new_file(folder: Path) -> Path:
    """Return where the folder's settings file goes; raise ``SettingsError`` if there is one."""
    from ..run.request import SETTINGS_FILE

    path = folder / SETTINGS_FILE
    if path.exists():
        raise SettingsError(
            "a settings file already exists", where=str(path), hint="Edit it, or delete it first."
        )
    return path


def _preset_text(name: str) -> str:
    if name not in presets():
        raise SettingsError(
            f"there is no preset {name!r}", where="--preset", hint=f"There are {', '.join(presets())}."
        )
    return (_PRESETS / f"{name}.toml").read_text("utf-8")


def _count(folder: Path, kinds: Collection[str] = _KINDS.keys()) -> Counter[str]:
    """Count documents by ending, without looking into hidden folders or those of tools."""
    counts: Counter[str] = Counter()
    seen = 0
    for _, directories, files in os.walk(folder):
        directories[:] = [each for each in directories if not each.startswith(".") and each not in _FOREIGN]
        counts.update(
            ending
            for file in files
            if not file.startswith((".", "~$")) and (ending := Path(file).suffix) in kinds
        )
        seen += len(files)
        if seen > _MAX_ENTRIES:
            break
    return counts


def _described(counts: Counter[str]) -> str:
    by_kind: Counter[str] = Counter()
    for ending, count in counts.items():
        by_kind[_OFFICE.get(ending) or f"{_KINDS[ending]} file"] += count
    return ", ".join(counted(count, kind) for kind, count in sorted(by_kind.items()))
