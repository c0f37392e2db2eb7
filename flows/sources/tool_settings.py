"""Settings files of other tools, found and read within bounds; nothing of them is run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...pipeline.errors import is_transient
from ...pipeline.filesystems.availability import briefly_away
from ...pipeline.untrusted import NotRead, read_regular, read_settings

MAX_BYTES = 2_000_000
# How many folders above that of the documents may hold the settings of their tool.
ABOVE = 4
# Where the documents of a project, and the settings of their tool, often lie.
_BELOW = ("docs", "doc", "source", "docs/source", "doc/source", "website", "site")


class NotKnown(Exception):
    """A file of settings cannot be read; the message is its name."""


@dataclass(frozen=True, slots=True)
class SettingsText:
    """The text of a settings file, and its name below the folder that it was looked for in."""

    folder: Path
    name: str
    text: str

    def mentions(self, *keys: str) -> bool:
        """Return whether one of these words stands in its name or its text, in any letter case."""
        within = f"{self.name}\n{self.text}".lower()
        return any(key.lower() in within for key in keys)

    def has_key(self, *keys: str) -> bool:
        """Return whether a line, or a table in one, gives a value to one of these keys."""
        begins, ends = r"(?m)(?:^|[{\[,.]|^[ \t]*-)[ \t]*[\"']?", r"[\"']?[ \t]*[:=\]]"
        return any(re.search(f"{begins}{key}{ends}", self.text) for key in keys)

    def values(self) -> Any:
        """Return the values of the YAML, JSON or TOML that it is; raise ``NotKnown``."""
        try:
            return read_settings(self.text, self.name)
        except (tomllib.TOMLDecodeError, NotRead, ValueError, RecursionError):
            raise NotKnown(self.name) from None


def folders_near(root: Path) -> list[Path]:
    """Return where most tools' settings may stand: in a folder, in some below it, and above it."""
    return [root, *(root / each for each in _BELOW), *list(root.parents)[:ABOVE]]


def texts_of(folders: Sequence[Path], names: Iterable[str]) -> Iterator[SettingsText]:
    """Yield each of these files that is there, within its folder; raise ``NotKnown`` and ``SourceError``."""
    for name in names:
        for folder in folders:
            try:
                # Most are not there, which takes longer to find out with all links followed.
                (folder / name).lstat()
                content = read_regular(folder / name, MAX_BYTES, folder)
                yield SettingsText(folder, name, content.decode("utf-8-sig", "replace"))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, NotRead) as error:
                raise unread(error, name) from error


def unread(error: OSError | NotRead, name: str) -> Exception:
    """Return what to raise for a file: one that is only away for a moment makes no document private."""
    if isinstance(error, OSError) and is_transient(error):
        return briefly_away(error, name)
    return NotKnown(name)


def tables_at(
    folders: Sequence[Path], names: Iterable[str], key: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the values of each of these files that may hold something under this key."""
    for found in texts_of(folders, names):
        if found.mentions(key):
            values = found.values()
            yield found.name, values if isinstance(values, dict) else {key: values}


def tables_in(value: object) -> list[dict[str, Any]]:
    """Return the tables of a list, or the one that stands alone."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def listed(given: object) -> list[str]:
    """Return the texts of a list, or the one that stands alone; raise ``NotKnown`` for what is no name."""
    try:
        return [str(each) for each in (given if isinstance(given, list) else [given]) if each]
    except ValueError:  # a number of thousands of digits
        raise NotKnown("a list") from None
