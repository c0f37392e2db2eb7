"""The files of Jekyll's folder ``_data`` and of Hugo's ``data``, read when a page asks for them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ...errors import is_transient
from ...untrusted import NotRead, is_within, read_regular, read_settings

_ENDINGS = (".yml", ".yaml", ".json", ".csv", ".tsv", ".toml")
_MAX_BYTES = 512 * 1024
_MAX_NAMES = 1_000
_KEPT_FILES = 32
# File systems allow 255 in a name, its ending included.
MAX_NAME_BYTES = 240


class DataFiles(Mapping[str, object]):
    """The values of a folder: of each file by its name without ending, of each folder those below it."""

    def __init__(self, folder: Path, top: Path) -> None:
        self._folder, self._top = folder, top

    def __getitem__(self, name: str) -> object:
        path = self._place(name)
        if path is None:
            raise KeyError(name)
        return DataFiles(path, self._top) if path.is_dir() else _values_of(path, self._top)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._place(name) is not None

    def _place(self, name: str) -> Path | None:
        """Return the file or the folder of a name, which is not read yet."""
        is_long = len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES
        if not name or is_long or "/" in name or "\0" in name or name.startswith("."):
            return None
        files = (self._folder / f"{name}{ending}" for ending in _ENDINGS)
        places = (*(file for file in files if file.is_file()), self._folder / name)
        return next((p for p in places if is_within(p, self._top) and (p.is_dir() or p.is_file())), None)

    def __iter__(self) -> Iterator[str]:
        paths = sorted(self._folder.iterdir())[:_MAX_NAMES] if self._folder.is_dir() else []
        stems = (path.name if path.is_dir() else path.stem for path in paths)
        yield from dict.fromkeys(stem for stem in stems if stem in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _values_of(file: Path, top: Path) -> object:
    """Return the values of a file; nothing where it cannot be read, which Jekyll would not build from."""
    try:
        found = file.stat()
        return _read(str(file), str(top), found.st_mtime_ns, found.st_size)
    except (NotRead, ValueError, RecursionError):
        return None
    except OSError as error:
        if is_transient(error):
            raise
        return None


@lru_cache(_KEPT_FILES)
def _read(path: str, top: str, _modified: int, _size: int) -> object:
    text = read_regular(Path(path), _MAX_BYTES, Path(top)).decode("utf-8-sig", "replace")
    if path.endswith((".csv", ".tsv")):
        delimiter = "\t" if path.endswith(".tsv") else ","
        return [dict(row) for row in csv.DictReader(io.StringIO(text), delimiter=delimiter)]
    return read_settings(text, path)
