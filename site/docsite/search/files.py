"""The files of a search index while it is made: each gets its name at once, and a thread packs it.

A file that the site had before is neither packed nor read again. A page that was opened from a disk may load
scripts but fetch nothing, so every file is a classic script, on a server too (FORMAT.md).
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from enum import Enum
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import TracebackType

import numpy as np

from ...artifacts.disk import durable
from ...pipeline.thread_pool import ThreadPool
from ..fingerprints.shared import program_digest
from ..incremental.columns import digest
from ..incremental.previous import PreviousSite
from ..outline.plan import SitePage
from .format import ESCAPE, ESCAPE_ITSELF, FORMAT, NAME_CHARS, OTHERS, SURROGATES, Numbers, varints

_OWN_BLOCK_BYTES = 512
_PACKERS, _MOST_WAITING = 2, 256


class Half(Enum):
    """Names for the files of an index that are made together.

    The value has the first digits of their names, so that two halves made apart never share one.
    """

    LOOKUP = "01234567"
    SHOWN = "89abcdef"


class Files:
    """The files below ``folder``, named by their content, so that a browser may keep them for ever.

    A name has 32 bits, one of which tells its half; if two different files would get the same name, the later
    one takes other bits of its hash. Until they are asked for, packed files lie in one without a name in the
    folder ``spill``, or in memory.
    """

    def __init__(self, folder: str, previous: PreviousSite, half: Half, spill: Path | None = None) -> None:
        self._folder, self._previous, self._half = folder, previous, half
        self._packed_by = digest(program_digest(("py",)), zlib.ZLIB_RUNTIME_VERSION.encode()).hex()
        self._digests: dict[str, str] = {}
        self._packed: dict[str, tuple[int, int] | None] = {}
        self._waiting: deque[tuple[str, Future[bytes]]] = deque()
        self._spool = _Spool(spill)
        self._pool = ThreadPool(_PACKERS, "noctule-packer")

    def __enter__(self) -> Files:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._spool.close()

    def add(self, columns: Sequence[bytes]) -> str:
        """Return the name of the file that holds these columns; equal files have the same."""
        name = self._name(_content_of(columns))
        self._put(name, columns)
        return name

    def add_group(self, files: Mapping[str, Sequence[bytes]]) -> str:
        """Return what the names of some files begin with; each goes on with its key here.

        So one name tells all of theirs; and any change of one gives all of them other names.
        """
        made = sha256()
        for suffix, columns in files.items():
            made.update(f"{suffix}:{_content_of(columns)},".encode())
        stamp = self._name(made.hexdigest())
        for suffix, columns in files.items():
            self._digests[stamp + suffix] = _content_of(columns)
            self._put(stamp + suffix, columns)
        return stamp

    def _put(self, name: str, columns: Sequence[bytes]) -> None:
        if name not in self._packed:
            self._packed[name] = None
            if not self._previous.has(self._path(name), self._fingerprint(name)):
                self._begin(name, columns)

    def add_all(self, files: Iterable[Sequence[bytes]]) -> tuple[str, ...]:
        """Return the names of these files in order; one is packed while the next columns are made."""
        return tuple(map(self.add, files))

    def pages(self) -> Iterator[SitePage]:
        """Yield every file, by name; raises ``WriteFailed``."""
        while self._waiting:
            self._keep_first()
        for name in sorted(self._packed):
            path, fingerprint, place = self._path(name), self._fingerprint(name), self._packed.pop(name)
            content = b"" if place is None else script(name, self._spool.read(place))
            yield SitePage(path, content, fingerprint=fingerprint, kept=place is None)

    def _begin(self, name: str, columns: Sequence[bytes]) -> None:
        self._waiting.append((name, self._pool.submit(compressed, columns)))
        if len(self._waiting) > _MOST_WAITING:
            self._keep_first()

    def _keep_first(self) -> None:
        name, begun = self._waiting.popleft()
        self._packed[name] = self._spool.add(begun.result())

    def _name(self, content: str) -> str:
        for at in range(0, len(content), NAME_CHARS):
            first = self._half.value[int(content[at], 16) % len(self._half.value)]
            name = first + content[at + 1 : at + NAME_CHARS]
            if self._digests.setdefault(name, content) == content:
                return name
        raise AssertionError(f"no free name for {content}")

    def _path(self, name: str) -> str:
        return f"{self._folder}{name}.js"

    def _fingerprint(self, name: str) -> str:
        return self._packed_by + self._digests[name]


class _Spool:
    """Packed files one after the other, each with its place."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder or Path()
        with durable.refusals(self._folder):
            # Unbuffered: what a full disk refused would be written once more by closing the file.
            self._file = BytesIO() if folder is None else tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115

    def add(self, content: bytes) -> tuple[int, int]:
        """Return where the content begins and how long it is; raises ``WriteFailed``."""
        with durable.refusals(self._folder):
            start, left = self._file.seek(0, os.SEEK_END), memoryview(content)
            while left:
                left = left[self._file.write(left) :]
            return start, len(content)

    def read(self, place: tuple[int, int]) -> bytes:
        """Return what was added at this place."""
        start, size = place
        with durable.refusals(self._folder, "read"):
            self._file.seek(start)
            return self._file.read(size)

    def close(self) -> None:
        """Forget all of them."""
        self._file.close()


def _content_of(columns: Sequence[bytes]) -> str:
    """Return a hash of the columns, each preceded by its length, so that borders cannot move."""
    made = sha256(FORMAT.to_bytes(2, "little"))
    for column in columns:
        made.update(len(column).to_bytes(8, "little"))
        made.update(column)
    return made.hexdigest()


def script(name: str, packed: bytes) -> bytes:
    """Return a classic script that hands over ``packed`` under a name.

    It is UTF-16 with a byte order mark, which no header of a server overrides: a string then holds 16 bits a
    character, and what it cannot hold (quotes, line ends, halves of surrogate pairs) is escaped, which adds 3
    %.
    """
    head = f'noctule.part("{name}",{len(packed)},"'.encode("utf-16-le")
    return b"\xff\xfe" + head + _units(packed).astype("<u2").tobytes() + '")'.encode("utf-16-le")


def _units(packed: bytes) -> Numbers:
    plain = np.frombuffer(packed + b"\0" * (len(packed) % 2), dtype="<u2")
    written = _WRITTEN[plain]
    escaped = np.flatnonzero(written != plain)
    return np.insert(written, escaped, np.uint16(ESCAPE))


def _written() -> Numbers:
    """Return how every 16-bit unit is written; where it changes, the escape stands before it."""
    found = np.arange(1 << 16, dtype=np.uint16)
    found[0xD800:0xE000] += np.uint16(SURROGATES - 0xD800)
    found[[0x22, 0x5C, 0x0A, 0x0D]] += np.uint16(OTHERS)
    found[ESCAPE] = ESCAPE_ITSELF
    return found


_WRITTEN = _written()


def compressed(columns: Sequence[bytes]) -> bytes:
    """Compress columns, one after the other, with gzip: a browser checks its sum, so that damage is noticed.

    Large columns get a block of their own, because what is common in one is rare in the next. Several columns
    are mostly numbers, in which only long repetitions are looked for: 3 % smaller than with short ones, in
    half the time. A single column is text.
    """
    level, strategy = (9, zlib.Z_DEFAULT_STRATEGY) if len(columns) == 1 else (6, zlib.Z_FILTERED)
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, 9, strategy)
    head = np.array([len(columns), *map(len, columns)], dtype=np.int64)
    pieces = [packer.compress(varints(head))]
    for column in columns:
        pieces.append(packer.compress(column))
        if len(column) >= _OWN_BLOCK_BYTES:
            pieces.append(packer.flush(zlib.Z_BLOCK))
    return b"".join([*pieces, packer.flush()])
