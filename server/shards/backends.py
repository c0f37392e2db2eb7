"""The servers that a router asks: what each holds, how long it takes, and whether it answers."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from pydantic import BaseModel, ConfigDict, ValidationError

from ...artifacts.query.shards.wire import MAX_BYTES, PROTOCOL
from ...pipeline.errors import SettingsError
from ...pipeline.untrusted import NotRead, read_regular
from .held import FIND, PATH, SHOW, FindParameters, ShowParameters

_REMEMBERED = 256
_TOKEN_BYTES = 4096
_MOST_CONNECTIONS = 64
_OUTCOMES = {
    410: "stale", 401: "refused", 403: "refused", 421: "refused", 429: "overloaded", 503: "overloaded",
}  # fmt: skip


class BackendFailed(Exception):  # an outcome, which the router goes on after
    """A server did not answer what was asked; ``outcome`` is what its metrics call that."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


class HeldEdition(BaseModel):
    """An edition of a set of which a server holds some shards, and what all its shards have in common.

    ``collections`` are the documents that each collection lists, by shard.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    snapshot: str
    shards: tuple[str, ...]
    all_shards: tuple[str, ...]
    languages: tuple[str, ...]
    addresses: dict[str, Any]
    collections: dict[str, dict[str, int]]


class _Description(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    protocol: int
    version: str
    search: str
    editions: tuple[HeldEdition, ...]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The answer of a server as it came."""

    status: int
    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BackendState:
    """What was last known of a server: editions, what is current first, or why it is not asked."""

    editions: tuple[HeldEdition, ...] = ()
    problem: str = "it has not been asked yet"

    @property
    def is_up(self) -> bool:
        """Return whether the server is asked."""
        return not self.problem

    def status(self, snapshot: str) -> str:
        """Return in a word or two whether the server is asked for an edition."""
        is_held = any(each.snapshot == snapshot for each in self.editions)
        return self.problem or ("answers" if is_held else "holds another edition")


class Backend:
    """One server; threads may share it. ``digest`` is of the settings of search that it must have."""

    def __init__(self, url: str, digest: str, token: str, timeout_s: float) -> None:
        self.url, self._digest, self._timeout_s = url, digest, timeout_s
        self.state, self._lock = BackendState(), threading.Lock()
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pool = urllib3.PoolManager(maxsize=_MOST_CONNECTIONS, retries=False)
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        self.in_flight = 0

    def probe(self) -> None:
        """Ask what the server holds, and note it, or why it cannot be asked."""
        try:
            self.state = self._described()
        except BackendFailed as error:
            self.state = BackendState(problem=error.reason)

    def fail(self, reason: str) -> None:
        """Ask the server no more until it has said again what it holds."""
        self.state = BackendState(self.state.editions, reason)

    def find(self, given: FindParameters, seconds: float) -> bytes:
        """Return what the server finds; raise ``BackendFailed``."""
        start = time.monotonic()
        found = self._asked("POST", FIND, given.model_dump_json().encode(), seconds)
        with self._lock:
            self._seconds.append(time.monotonic() - start)
        return found

    def show(self, snapshot: str, rows: Sequence[int], seconds: float) -> bytes:
        """Return what hits show of passages; raise ``BackendFailed``."""
        given = ShowParameters(snapshot=snapshot, rows=tuple(rows))
        return self._asked("POST", SHOW, given.model_dump_json().encode(), seconds)

    def get(self, path: str, headers: Mapping[str, str], seconds: float) -> HttpReply:
        """Return the server's answer to a GET as it comes; raise ``BackendFailed``."""
        return self._sent("GET", path, None, seconds, headers)

    def quantile(self, share: float) -> float | None:
        """Return the time within which this share of the last answers came, ``None`` while few have."""
        with self._lock:
            known = sorted(self._seconds)
        return known[min(len(known) - 1, int(share * len(known)))] if len(known) >= 20 else None

    def _described(self) -> BackendState:
        content = self._asked("GET", PATH, None, self._timeout_s)
        try:
            told = _Description.model_validate_json(content)
        except ValidationError:
            raise BackendFailed("refused", "it does not say what it holds as this version does") from None
        if told.protocol != PROTOCOL:
            why = f"noctule {told.version} has protocol {told.protocol}, this router {PROTOCOL}"
            raise BackendFailed("refused", why)
        if told.search != self._digest:
            raise BackendFailed("refused", f"noctule {told.version} there searches by other settings")
        return BackendState(told.editions, "" if told.editions else "no snapshot is open there yet")

    def _asked(self, method: str, path: str, body: bytes | None, seconds: float) -> bytes:
        response = self._sent(method, path, body, seconds, {})
        if response.status != 200:
            outcome, detail = _OUTCOMES.get(response.status, "failed"), _problem(response.content, "detail")
            if _problem(response.content, "code") == "query-invalid":
                raise BackendFailed("rejected", detail)
            raise BackendFailed(outcome, f"it answers {response.status}: {detail}")
        return response.content

    def _sent(
        self, method: str, path: str, body: bytes | None, seconds: float, headers: Mapping[str, str]
    ) -> HttpReply:
        with self._lock:
            self.in_flight += 1
        try:
            try:
                return self._once(method, path, body, seconds, headers)
            except urllib3.exceptions.ProtocolError:
                # Servers close connections that were idle for a while, maybe just as one is used again.
                return self._once(method, path, body, seconds, headers)
        except urllib3.exceptions.NewConnectionError:  # which is a time-out to urllib3
            raise BackendFailed("failed", "it cannot be asked: no connection") from None
        except urllib3.exceptions.TimeoutError:
            raise BackendFailed("timeout", "it does not answer in time") from None
        except urllib3.exceptions.HTTPError as error:
            raise BackendFailed("failed", f"it cannot be asked: {type(error).__name__}") from None
        finally:
            with self._lock:
                self.in_flight -= 1

    def _once(
        self, method: str, path: str, body: bytes | None, seconds: float, headers: Mapping[str, str]
    ) -> HttpReply:
        response = self._pool.request(
            method, self.url + path, body=body, headers={**headers, **self._headers},
            timeout=urllib3.Timeout(total=max(seconds, 0.001)), preload_content=False, redirect=False,
        )  # fmt: skip
        return _read(response)


def _read(response: urllib3.BaseHTTPResponse) -> HttpReply:
    """Return an answer, whose connection is free again; raise ``BackendFailed`` for one without an end."""
    content = response.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        response.close()
        raise BackendFailed("failed", f"it answers with over {MAX_BYTES:,} bytes")
    response.release_conn()
    return HttpReply(response.status, content, response.headers)


def _problem(content: bytes, key: str) -> str:
    """Return what a problem says under a key."""
    try:
        return str(json.loads(content)[key])[:200]
    except (ValueError, KeyError, TypeError):
        return "no reason is given"


def read_token(path: str) -> str:
    """Return the token in a file, empty where none is named; raise ``SettingsError``.

    An error does not repeat the path: an owner may have written the token itself there.
    """
    if not path:
        return ""
    try:
        token = read_regular(Path(path).expanduser(), _TOKEN_BYTES).decode("ascii").strip()
    except (OSError, NotRead, ValueError) as error:
        what = f"cannot read the token for the servers: {getattr(error, 'strerror', None) or error}"
        hint = "Name a file that holds one token and nothing else, not the token itself."
        raise SettingsError(what, where="serve.router.token", hint=hint) from None
    if not token or len(token.split()) > 1:
        what = "the file does not hold one token"
        raise SettingsError(what, where="serve.router.token", hint="Write it on one line.")
    return token
