"""Prefect for the length of one run: quiet, local, without telemetry, and gone when the run is.

    with prefect_api(Path(".noctule")):
        from noctule.flows.index import index
        index(store=".noctule", sources=["docs"])

``PREFECT_API_URL`` names a server to use. Without it a private one is started on a free loopback port, with
its own ``PREFECT_HOME`` in the store: it dies with its parent and writes what is queued before it stops.
Prefect's own temporary server does neither. What Prefect keeps is a log: ``<store>/prefect`` may be deleted
at any time.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from ...artifacts.disk import durable, folders, locks
from ...pipeline.errors import PrefectUnavailable, SettingsError, WriteFailed
from ..run.signals import received
from . import client as api_client

START_LIMIT_S = 120.0
DRAIN_LIMIT_S = 60.0
_STOPPED_DRAIN_S = 1.5
MAX_HOME_BYTES = 200_000_000
_LOOPBACK = "127.0.0.1"
_LOOPBACK_LIMIT_S = 3.0
_NO_PREFECT = "Or do the same work without Prefect: --no-prefect"

# No connection leaves this machine, whatever the shell's environment says.
TELEMETRY_OFF = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
# Never a temporary server, never a pickle.
PINNED = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_TASKS_DEFAULT_PERSIST_RESULT": "false",
    "PREFECT_TASKS_DEFAULT_NO_CACHE": "true",
    # Nothing forks here; worker processes switch it off for themselves.
    "TOKENIZERS_PARALLELISM": "true",
}
# What a user may set otherwise. A recorder batch of 1 (Prefect's default) loses task runs; a flush interval
# under 1 s is cut to 0 by the recorder, which then spins: it took two thirds of a core.
PREFERRED = {
    "PREFECT_SERVER_UI_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "noctule",
    "PREFECT_CLIENT_MAX_RETRIES": "2",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1.0",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
}
# A server that lives for one run schedules nothing.
_PRIVATE_SERVER = {
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
}


@dataclass(frozen=True, slots=True)
class _Server:
    process: subprocess.Popen[bytes]
    url: str
    log: Path


def configure(home: Path) -> None:
    """Put Prefect's settings into this process's environment; only a later import of Prefect heeds them."""
    os.environ.update(TELEMETRY_OFF | PINNED)
    for name, value in PREFERRED.items():
        os.environ.setdefault(name, value)
    os.environ["PREFECT_HOME"] = str(home)
    for name in ("NO_PROXY", "no_proxy"):
        # Else Prefect would ask a proxy for its own loopback address.
        known = [part for part in os.environ.get(name, "").split(",") if part]
        os.environ[name] = ",".join(dict.fromkeys([*known, _LOOPBACK, "localhost"]))


@contextmanager
def prefect_api(
    state_dir: Path,
    start_limit_s: float = START_LIMIT_S,
    drain_limit_s: float = DRAIN_LIMIT_S,
    import_flow: Callable[[], object] = lambda: None,
) -> Iterator[str]:
    """Yield the address of a Prefect API that answers while the block runs; enter before importing Prefect.

    ``import_flow`` is called while a private server starts: both take seconds.

    Raises ``StoreBusy`` when another run uses the store's private API, ``PrefectUnavailable`` when that does
    not start within ``start_limit_s`` seconds, and ``SettingsError`` when the server that the user named, or
    this machine's own address, does not answer.
    """
    home = state_dir.absolute() / "prefect"
    given = os.environ.get("PREFECT_API_URL", "")
    if "prefect" in sys.modules and not given:
        raise RuntimeError("enter prefect_api() before Prefect is imported: its settings are read then")
    configure(home)
    if given:
        _require_answer(given)
        yield given
        return
    durable.make_directory(state_dir)
    only_run = locks.exclusive(state_dir / "prefect.lock", "flow")
    with only_run, _private_server(home, start_limit_s, import_flow) as url:
        try:
            # Nobody else uses this home while the lock is ours: what is still open there has no process.
            with suppress(Exception):
                api_client.crash_stale_runs()
            with api_client.without_heartbeats():
                yield url
        finally:
            with suppress(Exception):
                api_client.drain(url, drain_limit_s if received() is None else _STOPPED_DRAIN_S)


def _require_answer(url: str) -> None:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=10).close()
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"the Prefect server does not answer: {error}",
            where=f"PREFECT_API_URL={url}",
            hint=f"Start it, or unset PREFECT_API_URL for a private one. {_NO_PREFECT}",
        ) from None


@contextmanager
def _private_server(home: Path, start_limit_s: float, import_flow: Callable[[], object]) -> Iterator[str]:
    """Yield the address of a server that is up until the block ends; its socket is ours before it starts."""
    if _size(home) > MAX_HOME_BYTES:
        folders.remove_tree(home)
    _require_loopback()
    with socket.socket() as listener:
        listener.bind((_LOOPBACK, 0))
        listener.listen(128)
        os.environ["PREFECT_API_URL"] = f"http://{_LOOPBACK}:{listener.getsockname()[1]}/api"
        try:
            server = _started(home, listener, start_limit_s, import_flow)
            try:
                listener.close()
                yield server.url
            finally:
                _stop(server.process)
        finally:
            os.environ.pop("PREFECT_API_URL", None)


def _require_loopback() -> None:
    """Raise ``SettingsError`` where this machine does not reach itself and would wait in vain."""
    try:
        with socket.create_server((_LOOPBACK, 0)) as probe:
            socket.create_connection(probe.getsockname(), timeout=_LOOPBACK_LIMIT_S).close()
    except OSError as error:
        raise SettingsError(
            f"this machine cannot reach its own address: {error.strerror or error}",
            where=_LOOPBACK,
            hint=f"Turn the loopback interface on: ip link set lo up. {_NO_PREFECT}",
        ) from None


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _started(
    home: Path, listener: socket.socket, start_limit_s: float, import_flow: Callable[[], object]
) -> _Server:
    """Return a server that answers; if one ends on what an earlier Prefect left, one with an empty home.

    The history is lost only if a server starts without it, and never for one that is slow: on a busy machine
    a start can take minutes.
    """
    had_history = (home / "prefect.db").exists()
    server = _start(home, listener)
    if _answers(server, start_limit_s, import_flow):
        return server
    if had_history and (other := _without_history(home, listener, start_limit_s)):
        return other
    raise _start_failed(server, f"it exited with {server.process.returncode}")


def _without_history(home: Path, listener: socket.socket, start_limit_s: float) -> _Server | None:
    """Return a server that answers with an empty home; if none does, the home is as it was."""
    aside = home.with_name(f"{home.name}.aside")
    folders.remove_tree(aside)
    durable.rename(home, aside)
    is_up = False
    try:
        server = _start(home, listener)
        is_up = _answers(server, start_limit_s)
        return server if is_up else None
    finally:
        folders.remove_tree(aside if is_up else home)
        if not is_up:
            durable.rename(aside, home)


def _start(home: Path, listener: socket.socket) -> _Server:
    log = home / "api.log"
    script = str(Path(__file__).with_name("server.py"))
    with _log_of_server(log) as output:
        process = subprocess.Popen(
            # -P: else this folder would be searched first, and its site.py is not Python's.
            [sys.executable, "-P", script, str(listener.fileno()), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_PRIVATE_SERVER},
            pass_fds=(listener.fileno(),),
            # Ctrl-C in a terminal reaches the flow and not the server, which must still take its report.
            start_new_session=True,
        )
    return _Server(process, os.environ["PREFECT_API_URL"], log)


def _log_of_server(log: Path) -> BinaryIO:
    """Open the server's log; raise ``PrefectUnavailable`` if its folder cannot be used."""
    try:
        durable.make_directory(log.parent)
        return log.open("wb")
    except (WriteFailed, OSError) as error:
        raise PrefectUnavailable(
            f"the private Prefect API cannot use its folder: {error}", where=str(log.parent), hint=_NO_PREFECT
        ) from None


def _answers(server: _Server, limit_s: float, meanwhile: Callable[[], object] = lambda: None) -> bool:
    """Return true once the server answers, and false once it has ended; ``meanwhile`` is called first.

    Raises ``PrefectUnavailable`` if it does neither within ``limit_s`` seconds. A server that does not answer
    is stopped.
    """
    try:
        # Where Prefect cannot be imported, its server fails too, and says why.
        with suppress(ImportError):
            meanwhile()
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if server.process.poll() is not None:
                _stop(server.process)
                return False
            with suppress(OSError, http.client.HTTPException):
                timeout_s = min(2.0, max(0.1, deadline - time.monotonic()))
                if api_client.is_healthy(server.url, timeout_s):
                    return True
            time.sleep(0.05)
        raise _start_failed(server, f"it did not answer within {limit_s:.0f} s")
    except BaseException:
        _stop(server.process)
        raise


def _start_failed(server: _Server, reason: str) -> PrefectUnavailable:
    return PrefectUnavailable(
        f"the private Prefect API did not start: {reason}{_last_line(server.log)}",
        where=str(server.log),
        hint=f"If its database is damaged, delete {server.log.parent}. {_NO_PREFECT}",
    )


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.is_file() else []
    said = [line.strip() for line in lines if line.strip()]
    return f" ({said[-1][:200]})" if said else ""


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10 if received() is None else 2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        if process.stdin is not None:
            process.stdin.close()
