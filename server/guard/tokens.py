"""Tokens: a file of their hashes, with what each may do, and in which collections."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.errors import SettingsError
from ...pipeline.settings.settings import COLLECTION_NAME
from ...pipeline.untrusted import NotRead, read_regular

_log = logging.getLogger("noctule")
SCOPES = ("search", "documents", "metrics", "mcp", "events")
_DEFAULT_SCOPES = frozenset({"search", "documents", "mcp", "events"})
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_MAX_FILE_BYTES = 1_000_000
_MAX_TOKEN_CHARS = 512
_HINT = "Each line is NAME SHA256 [SCOPES [COLLECTIONS]]; separate several by commas; * means all."


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: ``collections`` are those that may be seen, ``None`` for all."""

    name: str
    scopes: frozenset[str]
    collections: frozenset[str] | None = None

    def sees(self, collection: str) -> bool:
        """Return whether the client may see a collection."""
        return self.collections is None or collection in self.collections


ANYBODY = Client("-", frozenset(SCOPES))


@dataclass(frozen=True, slots=True)
class _Token:
    sha256: str
    client: Client


class TokenFile:
    """The clients of a file, which is read again when it has changed; a file that is wrong keeps the old."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._seen = self._signature()
        self._tokens = _read(path)

    def client_of(self, token: str) -> Client | None:
        """Return whose token it is, after the same time whether it is known or not."""
        digest = hashlib.sha256(token[:_MAX_TOKEN_CHARS].encode("utf-8", "surrogateescape")).hexdigest()
        found = None
        for each in self._current():
            if hmac.compare_digest(each.sha256, digest) and len(token) <= _MAX_TOKEN_CHARS:
                found = each.client
        return found

    def _current(self) -> tuple[_Token, ...]:
        signature = self._signature()
        with self._lock:
            if signature != self._seen:
                self._seen = signature
                try:
                    self._tokens = _read(self._path)
                except SettingsError as error:
                    _log.error("the tokens stay as they were: %s", error)
            return self._tokens

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  # for every request
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> tuple[_Token, ...]:
    """Return the tokens of a file; raise ``SettingsError`` naming the line that is wrong."""
    try:
        content, mode = read_regular(path, _MAX_FILE_BYTES), path.stat().st_mode
    except OSError as error:
        what = f"cannot read the file of tokens: {error.strerror}"
        raise SettingsError(what, where=str(path), hint=_HINT) from None
    except NotRead as error:
        raise SettingsError(f"the file of tokens: {error}", where=str(path), hint=_HINT) from None
    if mode & stat.S_IWOTH:
        _log.warning("anyone on this machine can write the file of tokens: %s", path)
    lines = enumerate(content.decode("utf-8-sig", "replace").splitlines(), start=1)
    tokens = tuple(
        _token(line.split(), f"{path}, line {number}")
        for number, line in lines
        if line.strip() and not line.lstrip().startswith("#")
    )
    for what, given in {
        "a name stands there twice": {each.client.name for each in tokens},
        "a token stands there under two names": {each.sha256 for each in tokens},
    }.items():
        if len(given) < len(tokens):
            raise SettingsError(what, where=str(path), hint=_HINT)
    return tokens


def _token(words: list[str], where: str) -> _Token:
    name, digest, scopes, collections = (*words, *[""] * 4)[:4]
    given = frozenset(scopes.split(",")) if scopes else _DEFAULT_SCOPES
    wrong = (
        "it has more than four parts" if len(words) > 4
        else "that is not a name" if not _NAME.fullmatch(name)
        else "the second part is no SHA-256 in hexadecimal digits" if not _SHA256.fullmatch(digest)
        else f"scopes are {', '.join(SCOPES)}" if not (scopes == "*" or given <= set(SCOPES))
        else ""
    )  # fmt: skip
    named = frozenset(collections.split(",")) if collections not in ("", "*") else None
    if not wrong and named is not None and not all(map(COLLECTION_NAME.fullmatch, named)):
        wrong = "that is not a collection's name"
    if wrong:
        raise SettingsError(wrong, where=where, hint=_HINT)
    return _Token(digest, Client(name, frozenset(SCOPES) if scopes == "*" else given, named))
