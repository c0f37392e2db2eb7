"""The objects below an address: listed as a stream, each with a version, and read whole.

A version is what the store calls the content (an ETag, a generation, a checksum), or the time of the last
change where it has no such name. Whatever goes wrong means that nothing is known: only a store that is there,
and says that an object is not, has lost it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from threading import RLock
from typing import Any

from ..errors import NoctuleError, RemoteUnavailable, SettingsError, SourceUnavailable
from .opening import missing_packages, opened, protocol_of, said

# Requests at once: a store answers in 10 to 100 ms, whatever else it does meanwhile.
REQUESTS = 16
_PAGE = 1_000
# Besides what is asynchronous. paramiko drops the answer that another thread waits for.
_BY_MANY = ("file", "local", "memory", "zip")
# What names the content, the best first, and what says when it was written.
_NAMES = ("generation", "ETag", "etag", "md5Hash", "content_md5", "sha", "hex", "CRC")
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "date_time", "created")
# With the time, these tell more of the changes to a local file.
_BESIDES = ("created", "ino")
_ARCHIVED = ("GLACIER", "DEEP_ARCHIVE", "Archive")
_HINT = (
    "Check the address, the credentials in the environment and the network, then run again. "
    "Until then the collection keeps the documents of the snapshot before."
)


class ObjectGone(Exception):
    """The store is there, and holds no such object any more."""


class ObjectChanging(Exception):
    """The object was changed each time that it was read."""


@dataclass(frozen=True, slots=True)
class ObjectState:
    """What a store says of an object: its key below the address, its bytes, its version, and when it changed.

    An object without a ``version`` is read to know its content. ``fault`` says why it cannot be read.
    """

    key: str
    size: int
    version: str
    modified_s: float | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ObjectContent:
    """The bytes of an object, and its state when they were read."""

    content: bytes
    state: ObjectState


class Objects:
    """The objects below one address; methods raise ``SourceUnavailable``, or ``SettingsError`` for a package
    that is missing.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._turn: AbstractContextManager[object] = nullcontext()
        with self._refusals("", missing_is_refusal=True):
            self._files, self._root = opened(address)
        if not (self._files.async_impl or protocol_of(address) in _BY_MANY):
            self._turn = RLock()

    def where(self, key: str) -> str:
        """Return an object's address for display."""
        return f"{self.address.rstrip('/')}/{key}" if key else self.address

    def listed(self, enters: Callable[[str], bool] = bool) -> Iterator[ObjectState]:
        """Yield the objects in the store's order, a page at a time, without folders that ``enters`` refuses.

        An address that is not there yields nothing, or raises ``FileNotFoundError``.
        """
        with self._refusals(""):
            self._files.invalidate_cache()
        pages = self._flat_pages() if hasattr(self._files, "_iterdir") else self._pages_by_folder(enters)
        for page in pages:
            yield from (state for each in page if (state := self._state(each)) is not None)

    def state(self, key: str) -> ObjectState | None:
        """Return what the store says of an object; nothing if it holds none of this name."""
        with self._refusals(key):
            try:
                info = self._files.info(self._path(key))
            except (FileNotFoundError, NotADirectoryError):
                info = None
            if info is not None:
                return self._state(info)
        self._require_there(key)
        return None

    def read(self, listed: ObjectState, most: int) -> ObjectContent:
        """Return the object's bytes, one more than ``most`` if there are more, and its state at that time.

        Raises ``ObjectGone`` and ``ObjectChanging``.
        """
        before = listed
        for _ in range(3):
            content = self._content(before, most)
            after = self.state(listed.key)
            if after is None:
                raise ObjectGone
            is_same = (before.size, before.version) == (after.size, after.version)
            if is_same and content is not None and len(content) == min(after.size, most + 1):
                return ObjectContent(content, after)
            before = after
        raise ObjectChanging

    def _content(self, state: ObjectState, most: int) -> bytes | None:
        """Return the bytes, nothing if the object is gone; a range of an empty object is refused by S3."""
        if not state.size:
            return b""
        with self._refusals(state.key):
            try:
                return bytes(self._files.cat_file(self._path(state.key), start=0, end=most + 1))
            except (FileNotFoundError, KeyError):
                return None

    def _require_there(self, key: str) -> None:
        """Raise ``SourceUnavailable`` unless the store still lists something below the address."""
        try:
            if next(self.listed(), None) is not None:
                return
        except FileNotFoundError:
            pass
        what = "nothing is listed at this address any more, so that it cannot tell what is gone"
        raise SourceUnavailable(what, where=self.where(key), hint=_HINT)

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}" if self._root else key

    def _state(self, info: Mapping[str, Any]) -> ObjectState | None:
        """Return the state of an object; nothing for a folder, one that is itself an object included."""
        name, below = str(info["name"]), f"{self._root}/" if self._root else ""
        if _is_folder(info) or not name.startswith(below) or name.endswith("/"):
            return None
        size = int(info["size"])
        times = (_seconds(info[each]) for each in _TIMES if each in info)
        modified_s = next((each for each in times if each is not None), None)
        return ObjectState(name[len(below) :], size, _version(info, size), modified_s, _fault(info))

    def _flat_pages(self) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Yield pages of all objects, by s3fs's own iterator: ``find`` would hold 2 KB for each of them."""
        from fsspec.asyn import sync

        bucket, _, prefix = self._root.partition("/")
        found = self._files._iterdir(bucket, delimiter="", prefix=f"{prefix}/" if prefix else "")

        async def page() -> list[Mapping[str, Any]]:
            some: list[Mapping[str, Any]] = []
            async for each in found:
                some.append({**each, "type": "file"})
                if len(some) == _PAGE:
                    break
            return some

        while True:
            with self._refusals(""):
                some = sync(self._files.loop, page)
            yield some
            if len(some) < _PAGE:
                return

    def _pages_by_folder(self, enters: Callable[[str], bool]) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Yield the content of each folder, a few folders at once; links are listed and not followed."""
        pending, seen = [self._root], {self._root}
        with ThreadPoolExecutor(REQUESTS) as pool:
            while pending:
                # An archive reads its directory for the first folder, which is the only one of its level.
                some, pending = pending[:REQUESTS], pending[REQUESTS:]
                for page in pool.map(self._folder, some):
                    yield page
                    found = {str(each["name"]).rstrip("/") for each in page if _is_folder(each)} - seen
                    seen |= found
                    pending += [n for n in sorted(found) if enters(n[len(self._root) :].strip("/"))]

    def _folder(self, path: str) -> Sequence[Mapping[str, Any]]:
        with self._refusals(path[len(self._root) :].strip("/"), missing_is_refusal=path != self._root):
            return list(self._files.ls(path, detail=True))

    @contextmanager
    def _refusals(self, key: str, *, missing_is_refusal: bool = False) -> Iterator[None]:
        try:
            with missing_packages(self.address, self.where(key)), self._turn:
                yield
        except (SettingsError, SourceUnavailable):
            raise
        except FileNotFoundError as error:
            if not missing_is_refusal:
                raise
            raise self._refusal(key, said(error)) from error
        except RemoteUnavailable as error:
            raise SourceUnavailable(error.what, where=error.where, hint=error.hint) from error
        except NoctuleError:
            raise
        # each library raises exceptions of its own, and none of them says that a document is gone
        except Exception as error:
            raise self._refusal(key, said(error)) from error

    def _refusal(self, key: str, reason: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"it did not respond as expected: {reason}", where=self.where(key), hint=_HINT
        )


def objects_at(address: str) -> Objects:
    """Return the objects of an address, which stays open in this process until it is listed anew."""
    return _kept(address, os.getpid())


def reopened(address: str) -> Objects:
    """Return the objects of an address, opened now: an archive is read as it is on disk."""
    _kept.cache_clear()
    return objects_at(address)


# By process: a connection does not outlive a fork.
@lru_cache(maxsize=8)
def _kept(address: str, _process: int) -> Objects:
    return Objects(address)


def _version(info: Mapping[str, Any], size: int) -> str:
    for name in _NAMES:
        found = str(info.get(name) or "").strip('"')
        if found and not found.startswith("W/"):  # a weak one may stay when bytes change
            return f"{name.lower()}={found},size={size}"
    for name in _TIMES:
        if (time_s := _seconds(info.get(name))) is not None:
            besides = "".join(f",{each}={_seconds(info[each])}" for each in _BESIDES if each in info)
            return f"time={time_s!r}{besides},size={size}"
    return ""


def changed_at(version: str) -> float | None:
    """Return the time, in seconds since the epoch, that stands for a version without a better name."""
    begin, _, rest = version.partition("=")
    return float(rest.partition(",")[0]) if begin == "time" else None


def _seconds(given: object) -> float | None:
    """Return a time as any library gives it: seconds, a date, or the numbers of one."""
    try:
        if isinstance(given, tuple):
            given = datetime(*given[:6])
        if isinstance(given, str):
            given = datetime.fromisoformat(given)
        if isinstance(given, datetime):
            given = (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
        return round(float(given), 6) if isinstance(given, int | float) else None
    except (ValueError, TypeError, OverflowError):
        return None


def _is_folder(info: Mapping[str, Any]) -> bool:
    return bool(info["type"] == "directory") and not _is_link(info)


def _is_link(info: Mapping[str, Any]) -> bool:
    return bool(info.get("islink")) or info["type"] == "link"


def _fault(info: Mapping[str, Any]) -> str:
    if _is_link(info):
        return "a symbolic link: links are not followed"
    if info["type"] != "file":
        return "not a regular file: only these are read"
    if info.get("StorageClass") in _ARCHIVED:
        return f"in the storage class {info['StorageClass']}: restore it, or exclude it"
    return ""
