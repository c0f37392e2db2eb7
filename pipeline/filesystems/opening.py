"""Addresses of files elsewhere: what is one, what one may hold, and its file system, opened with fsspec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import SettingsError

_SSH = ("sftp", "ssh")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII)
# A password may hold what no address may, a slash or another @; digits up to a slash are a port.
_SECRET = re.compile(r"://[^\s/]*:(?!\d*(?:/|$))\S*@")
_EXPOSED = "a password in an address would appear in every log"
# Of a signed address in a library's message.
_QUERY = re.compile(r"(://[^\s?'\"]+)\?[^\s'\"]+")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs",
             "sftp": "paramiko", "ssh": "paramiko"}  # fmt: skip
_WEB = ("http", "https")


def is_address(target: str) -> bool:
    """Return whether a target is an address such as ``s3://bucket/prefix`` rather than a folder."""
    return _URL.match(target) is not None


def protocol_of(address: str) -> str:
    """Return what stands before ``://``."""
    return address.partition("://")[0]


def source_fault(address: str) -> str:
    """Return why documents cannot be read from this address; empty if they may be."""
    if _SECRET.search(address):
        return f"{_EXPOSED}: leave it to the environment"
    if "?" in address:
        return "an address of documents has no query: leave credentials to the environment"
    for each in address.split("::"):
        protocol = protocol_of(each)
        if not is_address(each):
            return f"{each!r} is not an address: write file:///absolute/path"
        if protocol in _WEB:
            return "a web server does not list its files: name an object store, or a folder"
        if protocol in ("file", "local") and not each.partition("://")[2].startswith("/"):
            return f"{each!r} depends on the working directory: write file:///absolute/path"
    return ""


def opened(address: str) -> tuple[Any, str]:
    """Return the file system of an address and the path in it, with no cache of listings where it can.

    Raises ``SettingsError`` for an address with a password or of an unknown kind, ``ImportError`` for a
    protocol whose package is missing, and whatever its library raises.
    """
    _require_no_password(address)
    protocol = protocol_of(address)
    if protocol in _SSH:
        from .ssh import opened as by_ssh

        return by_ssh(address)
    from fsspec.core import url_to_fs

    _require_known(address)
    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if protocol in ("s3", "s3a"):
        # Someone who is offline should learn it soon, and read from the cache.
        options["config_kwargs"] = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}}
    if protocol not in {"s3", "s3a", "file", "local", "memory"}:
        options = {"skip_instance_cache": True}
    files, root = url_to_fs(address, **options)
    return files, str(root).rstrip("/")


def _require_no_password(address: str) -> None:
    if _SECRET.search(address):
        by_key = protocol_of(address) in _SSH
        raise SettingsError(
            _EXPOSED,
            where=_SECRET.sub("://…@", address),
            hint="Leave it out and authorize a key on the other machine instead: ssh-copy-id."
            if by_key
            else "Leave it to the environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for S3, "
            "FSSPEC_FTP_USERNAME and FSSPEC_FTP_PASSWORD for FTP.",
        )


def _require_known(address: str) -> None:
    from fsspec import available_protocols, registry

    protocol = protocol_of(address)
    if protocol not in available_protocols() and protocol not in registry:
        raise SettingsError(
            f"there is no kind of address {protocol}://",
            where=_QUERY.sub(r"\1?…", address),
            hint="Write s3://bucket/prefix, sftp://host/path, file:///path, or another that fsspec knows.",
        )


@contextmanager
def missing_packages(address: str, where: str) -> Iterator[None]:
    """Raise ``SettingsError`` where a package that the address needs is not installed."""
    try:
        yield
    except ImportError:
        protocol = protocol_of(address)
        package = _PACKAGES.get(protocol, "the package for this protocol")
        what = f"{protocol}:// needs {package}, which is not installed"
        hint = f'Install it: pip install "noctule[remote]" (S3), "noctule[ssh]", or {package}.'
        raise SettingsError(what, where=where, hint=hint) from None


def said(error: Exception) -> str:
    """Return the first line of a library's error, without the secrets of a signed address."""
    line = f"{type(error).__name__}: {error}".strip().split("\n")[0]
    return _QUERY.sub(r"\1?…", line)[:300]
