"""The settings file of another tool, the project that it may lead into, and values of the kinds asked for.

A folder may be anybody's: what its settings name is imported only where it lies in the project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...pipeline.navigation.script_imports import Script, folder_of_imports
from ...pipeline.untrusted import NotRead, is_within, read_regular

MAX_BYTES = 2_000_000
_PROJECT_FILES = (
    "pyproject.toml",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "composer.json",
    "pom.xml",
)
# What folders of documents are called in any project.
ANY_PROJECT = {
    "book", "content", "doc", "docs", "documentation", "pages", "site", "source", "src", "website", "www",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolFile:
    """A settings file, and the folder around it that nothing it names may lie outside of."""

    path: Path
    project: Path

    @property
    def name(self) -> str:
        """Return the file's name."""
        return self.path.name

    @property
    def folder(self) -> Path:
        """Return the folder that the file's paths begin at."""
        parts = self.path.parts
        if parts[-3:-1] == (".vitepress", "config"):
            return self.path.parents[1]
        return self.path.parents[2] if parts[-3:-1] == ("config", "_default") else self.path.parent  # Hugo's

    def text(self, path: Path | None = None) -> str:
        """Return the text of the file, or of another of the project; raise ``NotRead`` and ``OSError``."""
        return read_regular(path or self.path, MAX_BYTES, self.project).decode("utf-8-sig", "replace")

    def script(self) -> Script:
        """Return the file, a script, with what it imports; raise ``NotRead`` and ``OSError``."""
        folder = folder_of_imports(self.path)
        return Script(self.text(), self.path.relative_to(folder).as_posix(), self._imported)

    def _imported(self, name: str) -> str | None:
        folder = folder_of_imports(self.path)
        try:
            return self.text(folder / name) if is_within(folder / name, folder) else None
        except (OSError, ValueError, NotRead):
            return None

    def beside(self, given: object, default: str = ".") -> Path:
        """Return the path that the file names; raise ``NotRead`` if it leads out of the project."""
        name = as_text(given) or default
        path = Path(os.path.normpath(self.folder / name.replace("\0", "\ufffd")))
        if not self.holds(path):
            raise NotRead(
                f"{name!r:.200} is outside the project {self.project}: "
                "if that is intended, give the folder that contains both as --from"
            )
        return path

    def holds(self, path: Path) -> bool:
        """Return whether a path lies in the project, all links followed."""
        return is_within(path, self.project)


def project_of(source: Path) -> Path:
    """Return the folder that the settings found at ``source`` may lead into.

    That is the working tree of the repository around it, else the working directory if it is around it, else
    the nearest folder around it with the file of a project, as an unpacked archive has it, else the folder
    itself. A folder such as ``docs`` that is a package of its own belongs to the project right above it.
    """
    folder = Path(os.path.realpath(source if source.is_dir() else source.parent))
    # A home folder under version control is no project, nor is the root of a container.
    too_much = {Path(os.path.realpath(Path.home())), Path(folder.anchor)}
    for around in (folder, *folder.parents):
        if (around / ".git").exists() and around not in too_much:
            return around
    here = Path(os.path.realpath(Path.cwd()))
    if folder.is_relative_to(here):
        return here
    candidates = (each for each in (folder, *folder.parents) if each not in too_much)
    nearest = next(filter(_is_project, candidates), folder)
    above = nearest.parent
    belongs = nearest.name.lower() in ANY_PROJECT and above not in too_much and _is_project(above)
    return above if belongs else nearest


def _is_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _PROJECT_FILES)


def as_table(value: object) -> dict[str, Any]:
    """Return the values of a table under texts; nothing if it is none."""
    return (
        {key: each for key, each in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}
    )


def texts_of(value: object) -> dict[str, str]:
    """Return the entries of a table whose values are text."""
    return {key: each for key, each in as_table(value).items() if isinstance(each, str)}


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_texts(value: object) -> list[str]:
    """Return the texts of a list; none if it is no list."""
    return [each for each in as_list(value) if isinstance(each, str)]
