"""Files below a remote address, through fsspec: bounded reads, verified sends, and noctule's own errors."""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...pipeline.errors import NoctuleError, RemoteUnavailable
from ...pipeline.filesystems.opening import missing_packages, opened, protocol_of, said

_BLOCK = 8 << 20
# Parts between slashes that lead nowhere else, without control characters.
_PLAIN_NAME = re.compile(r"(?!(?:.*/)?\.{0,2}(?:/|$))[^\x00-\x1f\x7f\\]+")
# Protocols whose single request replaces a whole object. Elsewhere a temporary file is written and renamed.
_REPLACES_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}
# Protocols whose client asks for a file's size when it opens it, which doubles the requests for small files.
_OPENED_BY_A_REQUEST = {"s3", "s3a"}

_FULL = {errno.ENOSPC, errno.EDQUOT}


def _holds_no_more(error: OSError) -> bool:
    """Return whether no byte is at the asked place: the file is empty, or ends right before.

    The number of the error alone does not say so: it is that of most refusals.
    """
    response = getattr(error.__cause__, "response", None) or {}
    return response.get("Error", {}).get("Code") in ("InvalidRange", "416")


class NotThere(Exception):
    """The remote side has no such file. Not an ``OSError``, which would concern this machine's disk."""


class RemoteFiles:
    """Files by name below one address; methods raise ``RemoteUnavailable`` and, as they say, ``NotThere``."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._protocol = protocol_of(address)
        with self._refusals(""):
            self._files, self._root = opened(self.address)

    def where(self, name: str) -> str:
        """Return a file's address for display."""
        return f"{self.address}/{name}" if name else self.address

    def read(self, name: str, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file; raises ``NotThere``."""
        with self._refusals(name):
            if self._protocol in _OPENED_BY_A_REQUEST:
                return self._range(name, 0, limit)
            with self._files.open(self._path(name), "rb", cache_type="none") as file:
                return bytes(file.read(limit))

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield a file's bytes in blocks; raises ``NotThere``."""
        with self._refusals(name):
            if self._protocol in _OPENED_BY_A_REQUEST:
                yield from self._ranges(name)
                return
            with self._files.open(self._path(name), "rb", cache_type="none") as file:
                if hasattr(file, "prefetch"):  # SSH asks for 32 KB at a time, and would wait for each
                    file.prefetch()
                while block := file.read(_BLOCK):
                    yield bytes(block)

    def _ranges(self, name: str) -> Iterator[bytes]:
        start = 0
        while block := self._range(name, start, _BLOCK):
            yield block
            start += _BLOCK
            if len(block) < _BLOCK:
                return

    def _range(self, name: str, start: int, length: int) -> bytes:
        """Read at most so many bytes with one request."""
        try:
            found = bytes(self._files.cat_file(self._path(name), start=start, end=start + length))
        except OSError as error:
            if _holds_no_more(error):
                return b""
            raise
        if len(found) > length:
            raise OSError(f"it sent {len(found)} bytes where {length} were asked for")
        return found

    def sha256(self, name: str) -> str:
        """Return the hash of the bytes that a reader would get; raises ``NotThere``."""
        digest = hashlib.sha256()
        for block in self.blocks(name):
            digest.update(block)
        return digest.hexdigest()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the bytes of every file below a folder, by name from the address; empty if it is missing."""
        try:
            with self._refusals(folder):
                self._files.invalidate_cache()
                found = self._files.find(self._path(folder), detail=True)
                return dict(sorted(self._listed(found)))
        except NotThere:
            return {}

    def _listed(self, found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
        """Yield plain names below the address, and their sizes: a server may list anything."""
        below = f"{self._root.rstrip('/')}/"
        for path, info in found.items():
            name = path.removeprefix(below)
            if path.startswith(below) and _PLAIN_NAME.fullmatch(name):
                yield name, int(info["size"])

    def send(self, source: Path, name: str) -> None:
        """Send a local file under this name; an interruption may leave half of it."""
        with self._refusals(name, missing_is_refusal=True):
            self._make_parent(name)
            self._files.put_file(str(source), self._path(name))

    def copy(self, source: str, name: str) -> bool:
        """Copy a remote file to another name on the remote side; return whether that side could."""
        try:
            with self._refusals(name):
                self._make_parent(name)
                self._files.cp_file(self._path(source), self._path(name))
        except (NotImplementedError, NotThere, RemoteUnavailable):
            return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Replace a small file: it holds the old content or the new, never a part."""
        with self._refusals(name, missing_is_refusal=True):
            self._make_parent(name)
            if self._protocol in _REPLACES_WHOLE:
                self._files.pipe_file(self._path(name), content)
                return
            folder, _, last = name.rpartition("/")
            aside = f"{folder}/.{last}-{uuid4().hex}" if folder else f".{last}-{uuid4().hex}"
            self._files.pipe_file(self._path(aside), content)
            self._files.mv(self._path(aside), self._path(name))

    def remove(self, name: str) -> None:
        """Remove the file; a missing one is no error."""
        with suppress(NotThere), self._refusals(name):
            self._files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)

    def _make_parent(self, name: str) -> None:
        if self._protocol not in _REPLACES_WHOLE:
            self._files.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)

    @contextmanager
    def _refusals(self, name: str, *, missing_is_refusal: bool = False) -> Iterator[None]:
        try:
            with missing_packages(self.address, self.where(name)):
                yield
        except (NoctuleError, NotThere, NotImplementedError):
            raise
        except FileNotFoundError as error:
            if not missing_is_refusal:
                raise NotThere(self.where(name)) from None
            raise self._missing(name, error) from None
        # each library raises exceptions of its own, and all of them mean that it did not work
        except Exception as error:
            raise self._refusal(name, error) from None

    def _missing(self, name: str, error: FileNotFoundError) -> RemoteUnavailable:
        """Return the error for what cannot be written: a store makes folders by itself, and no buckets."""
        bucket = str(self._root).partition("/")[0]
        if self._protocol not in _REPLACES_WHOLE or not bucket:
            return self._refusal(name, error)
        hint = "Make it with the tools of the store, or correct the address; noctule makes no buckets."
        return RemoteUnavailable(f"there is no bucket {bucket!r}", where=self.where(name), hint=hint)

    def _refusal(self, name: str, error: Exception) -> RemoteUnavailable:
        if isinstance(error, OSError) and error.errno in _FULL:
            hint = "Free some space there and publish again; files already there are not sent twice."
            return RemoteUnavailable(f"the target is full: {said(error)}", where=self.where(name), hint=hint)
        what = f"it did not respond as expected: {said(error)}"
        hint = "Check the address, the credentials in the environment and the network, then try again."
        return RemoteUnavailable(what, where=self.where(name), hint=hint)
