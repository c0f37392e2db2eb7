"""An object store in memory behind fsspec, ``faulty://``, which fails as it is told to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import fsspec
from fsspec import AbstractFileSystem


class FaultyStore(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Objects by key; ``fault`` is called with the name of each request and its key, and may raise."""

    protocol = "faulty"
    cachable = False
    objects: ClassVar[dict[str, bytes]] = {}
    versions: ClassVar[dict[str, str]] = {}
    more: ClassVar[dict[str, dict[str, Any]]] = {}
    requests: ClassVar[list[tuple[str, str]]] = []
    fault: ClassVar[Callable[[str, str], None]] = lambda request, key: None

    @classmethod
    def put(cls, **objects: str | bytes) -> None:
        """Put objects below the bucket, by key."""
        for key, content in objects.items():
            cls.objects[f"bucket/{key}"] = content.encode() if isinstance(content, str) else content

    @classmethod
    def asked(cls, request: str) -> list[str]:
        """The keys that a request was made for, sorted."""
        return sorted(key for name, key in cls.requests if name == request)

    def _request(self, name: str, key: str) -> None:
        type(self).requests.append((name, key.removeprefix("bucket/")))
        type(self).fault(name, key.removeprefix("bucket/"))

    def _info(self, key: str) -> dict[str, Any]:
        content = self.objects[key]
        etag = self.versions.get(key) or hashlib.md5(content).hexdigest()
        found = {"name": key, "size": len(content), "type": "file", "ETag": f'"{etag}"'}
        return found | self.more.get(key, {})

    def ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:
        """Return what lies in a folder."""
        self._request("list", path)
        below = f"{path.rstrip('/')}/"
        keys = [key for key in self.objects if key.startswith(below) and key != below]
        folders = {below + key[len(below) :].partition("/")[0] for key in keys if "/" in key[len(below) :]}
        found = [self._info(key) for key in keys if "/" not in key[len(below) :]]
        found += [{"name": each, "size": 0, "type": "directory"} for each in folders]
        if not any(key.startswith(below) for key in self.objects):
            raise FileNotFoundError(path)
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Return the state of an object."""
        self._request("info", path)
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self._info(path)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: object) -> bytes:
        """Return bytes of an object."""
        self._request("read", path)
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path][start:end]


@contextmanager
def faulty_store() -> Iterator[type[FaultyStore]]:
    """The store, empty and without a fault; its address is ``faulty://bucket``."""
    fsspec.register_implementation("faulty", FaultyStore, clobber=True)
    FaultyStore.objects, FaultyStore.versions, FaultyStore.more, FaultyStore.requests = {}, {}, {}, []
    FaultyStore.fault = lambda request, key: None
    yield FaultyStore
