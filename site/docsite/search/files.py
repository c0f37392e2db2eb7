"""The files of a search index while it is made: each gets its name at once, and is packed by one of a few threads.

A file that the site had before is neither packed nor read again.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from hashlib import sha256
from types import TracebackType

from ..incremental.fingerprints.columns import digest
from ..incremental.fingerprints.shared import program_digest
from ..incremental.previous import PreviousSite
from ..plan import SitePage
from .packing import FORMAT, compressed, script

NAME_CHARS = 8
_PACKERS, _MOST_WAITING = 2, 256


class Half(Enum):
    """Which files of an index are made together; the value has the first digits of their names, so that two halves
    made apart never share one."""

    LOOKUP = "01234567"
    SHOWN = "89abcdef"


class Files:
    """Files below ``folder``, named by what they hold, so that a browser may keep them forever.

    A name has 32 bits, one of which tells its half; where two different files would have the same, the later takes other
    bits of its hash.
    """

    def __init__(self, folder: str, previous: PreviousSite, half: Half) -> None:
        self._folder, self._previous, self._half = folder, previous, half
        self._packed_by = digest(program_digest(("py",)), zlib.ZLIB_RUNTIME_VERSION.encode()).hex()
        self._digests: dict[str, str] = {}
        self._packed: dict[str, Future[bytes] | None] = {}
        self._waiting: deque[Future[bytes]] = deque()
        self._pool = ThreadPoolExecutor(_PACKERS, "noctule-packer")

    def __enter__(self) -> Files:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, columns: Sequence[bytes]) -> str:
        """The name of the file that holds these columns; equal files have the same."""
        name = self._name(_content_of(columns))
        if name not in self._packed:
            is_kept = self._previous.has(self._path(name), self._fingerprint(name))
            self._packed[name] = None if is_kept else self._begin(columns)
        return name

    def add_all(self, files: Iterable[Sequence[bytes]]) -> tuple[str, ...]:
        """The names of the files that hold these columns, in order: they are packed while the next columns are made."""
        return tuple(map(self.add, files))

    def pages(self) -> Iterator[SitePage]:
        """Every file, by name."""
        for name in sorted(self._packed):
            path, fingerprint, packed = self._path(name), self._fingerprint(name), self._packed.pop(name)
            content = b"" if packed is None else script(name, packed.result())
            yield SitePage(path, content, fingerprint=fingerprint, kept=packed is None)

    def _begin(self, columns: Sequence[bytes]) -> Future[bytes]:
        begun = self._pool.submit(compressed, columns)
        self._waiting.append(begun)
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popleft().result()
        return begun

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


def _content_of(columns: Sequence[bytes]) -> str:
    """What stands for the columns: each is fenced by its length, so that borders cannot move."""
    made = sha256(FORMAT.to_bytes(2, "little"))
    for column in columns:
        made.update(len(column).to_bytes(8, "little"))
        made.update(column)
    return made.hexdigest()
