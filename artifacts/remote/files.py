"""The files below an address of another machine, by fsspec: bounded reads, checked sends, errors of this house."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...pipeline.errors import NoctuleError, RemoteUnavailable, SettingsError

_BLOCK = 8 << 20
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII)
# Where one request replaces an object, whole. Elsewhere a file is written aside and renamed.
_REPLACES_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs",
             "sftp": "paramiko", "ssh": "paramiko"}  # fmt: skip


class NotThere(Exception):
    """The other side has no such file. Not an ``OSError``: it says nothing of this machine's disk."""


def is_address(target: str) -> bool:
    """Whether a target is an address such as ``s3://bucket/prefix``, and not a folder."""
    return _URL.match(target) is not None


class RemoteFiles:
    """Files by name below one address; raises ``RemoteUnavailable``, and ``NotThere`` where it says so."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._protocol = address.partition("://")[0]
        with self._refusals(""):
            self._files, self._root = _opened(self.address, self._protocol)

    def where(self, name: str) -> str:
        """A file's address, to be shown."""
        return f"{self.address}/{name}" if name else self.address

    def read(self, name: str, limit: int) -> bytes:
        """At most ``limit`` bytes of a file; raises ``NotThere``."""
        with self._refusals(name), self._files.open(self._path(name), "rb", cache_type="none") as file:
            return bytes(file.read(limit))

    def blocks(self, name: str) -> Iterator[bytes]:
        """A file's bytes in blocks; raises ``NotThere``."""
        with self._refusals(name), self._files.open(self._path(name), "rb", cache_type="none") as file:
            if hasattr(file, "prefetch"):  # SSH asks for 32 KB at a time, and would wait for each
                file.prefetch()
            while block := file.read(_BLOCK):
                yield bytes(block)

    def sha256(self, name: str) -> str:
        """The hash of the bytes that a reader would get; raises ``NotThere``."""
        digest = hashlib.sha256()
        for block in self.blocks(name):
            digest.update(block)
        return digest.hexdigest()

    def sizes(self, folder: str) -> dict[str, int]:
        """Every file below a folder by its name from the address on, with its bytes; none if it is not there."""
        try:
            with self._refusals(folder):
                self._files.invalidate_cache()
                found = self._files.find(self._path(folder), detail=True)
        except NotThere:
            return {}
        start = len(self._root.rstrip("/")) + 1
        return {path[start:]: int(info["size"]) for path, info in sorted(found.items())}

    def send(self, source: Path, name: str) -> None:
        """A local file is there under this name; half of it may be there if this is interrupted."""
        with self._refusals(name, missing_is_refusal=True):
            self._make_parent(name)
            self._files.put_file(str(source), self._path(name))

    def copy(self, source: str, name: str) -> bool:
        """Whether the other side could copy one of its files to another name by itself."""
        try:
            with self._refusals(name):
                self._make_parent(name)
                self._files.cp_file(self._path(source), self._path(name))
        except (NotImplementedError, NotThere, RemoteUnavailable):
            return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """A small file holds the old content or the new, never a part."""
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
        """The file is gone; one that was not there is fine."""
        try:
            with self._refusals(name):
                self._files.rm_file(self._path(name))
        except NotThere:
            return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)

    def _make_parent(self, name: str) -> None:
        if self._protocol not in _REPLACES_WHOLE:
            self._files.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)

    @contextmanager
    def _refusals(self, name: str, *, missing_is_refusal: bool = False) -> Iterator[None]:
        try:
            yield
        except (NoctuleError, NotThere, NotImplementedError):
            raise
        except FileNotFoundError as error:
            if not missing_is_refusal:
                raise NotThere(self.where(name)) from None
            raise self._refusal(name, error) from None
        except ImportError:
            package = _PACKAGES.get(self._protocol, "the package for this protocol")
            raise SettingsError(
                f"{self._protocol}:// needs {package}, which is not installed",
                where=self.where(name),
                hint=f'Install it: pip install "noctule[remote]" (S3), "noctule[ssh]", or {package}.',
            ) from None
        except Exception as error:  # each library raises kinds of its own, and all mean that it did not work
            raise self._refusal(name, error) from None

    def _refusal(self, name: str, error: Exception) -> RemoteUnavailable:
        return RemoteUnavailable(
            f"it did not answer as it should: {_first_line(error)}",
            where=self.where(name),
            hint="Look at the address, the credentials in the environment and the network, then try again.",
        )


def _opened(address: str, protocol: str) -> tuple[Any, str]:
    if protocol in ("sftp", "ssh"):
        from .ssh import opened

        return opened(address)
    from fsspec.core import url_to_fs

    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if protocol in ("s3", "s3a"):
        # Whoever is offline shall know it soon, and read what is in the cache.
        options["config_kwargs"] = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}}
    if protocol not in {"s3", "s3a", "file", "local", "memory"}:
        options = {"skip_instance_cache": True}
    files, root = url_to_fs(address, **options)
    return files, str(root).rstrip("/")


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().split("\n")[0][:300]
