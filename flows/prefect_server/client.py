"""What a run asks of its private Prefect API besides running flows: is it up, all written, what is stale."""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from urllib.parse import urlsplit

_OPEN_STATES = ["RUNNING", "PENDING", "SCHEDULED"]
_POLL_S = 0.25
_STILL_POLLS = 12


def ask(url: str, body: object = None, timeout_s: float = 5.0) -> object:
    """Return the API's answer to a GET, or to a POST of ``body``; no proxy is used."""
    parts = urlsplit(url)
    if parts.hostname is None:
        raise ValueError(f"no host in {url}")
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)) as connection:
        content = None if body is None else json.dumps(body)
        method = "GET" if body is None else "POST"
        connection.request(method, parts.path, content, {"content-type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status >= 400:
            raise OSError(f"{url} answered {response.status}")
    return json.loads(answer or b"null")


def is_healthy(url: str, timeout_s: float) -> bool:
    """Return whether the API says that it is well; raises ``OSError`` while nobody answers."""
    return ask(f"{url}/health", timeout_s=timeout_s) is True


def drain(url: str, limit_s: float) -> None:
    """Wait until the API has written what was sent to it, at most about ``limit_s`` seconds.

    Task runs are recorded after the fact; a server stopped too early loses them.
    """
    deadline = time.monotonic() + limit_s
    _hand_over(limit_s / 2)
    before, still = None, 0
    while time.monotonic() < deadline:
        now = _written(url, min(30.0, limit_s))
        still = still + 1 if now == before else 0
        # Runs cut off by a signal stay open for ever: when nothing moves for three seconds, that is all
        # there is.
        if (still >= 2 and now[1] == 0) or still >= _STILL_POLLS:
            return
        before = now
        time.sleep(_POLL_S)


def _hand_over(limit_s: float) -> None:
    if "prefect" not in sys.modules:
        return
    with suppress(Exception):  # Both are internals of Prefect, and a lost log line is no reason to fail.
        from prefect.events.worker import EventsWorker
        from prefect.logging.handlers import APILogWorker

        APILogWorker.drain_all(timeout=limit_s)
        EventsWorker.drain_all(timeout=limit_s)


def _written(url: str, timeout_s: float) -> tuple[int, int]:
    """Return how many task runs the API knows, and how many of them have not ended."""
    unfinished = {"task_runs": {"state": {"type": {"any_": _OPEN_STATES}}}}
    known, still_open = (ask(f"{url}/task_runs/count", each, timeout_s) for each in ({}, unfinished))
    return int(str(known)), int(str(still_open))


def crash_stale_runs() -> None:
    """Mark as crashed the runs that a killed process left open; safe only while no other run can be alive."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
    from prefect.client.schemas.objects import State, StateType
    from prefect.states import Crashed

    unfinished = FlowRunFilterStateType(any_=[StateType.RUNNING, StateType.PENDING, StateType.CANCELLING])
    with get_client(sync_client=True) as client:
        stale = client.read_flow_runs(
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=unfinished))
        )
        for run in stale:
            gone: State[None] = Crashed(message="its process is gone (seen at the start of the next run)")
            client.set_flow_run_state(run.id, gone, force=True)


@contextmanager
def without_heartbeats() -> Iterator[None]:
    """Switch off, for as long as the block runs, the heartbeats by which a flow says that it is alive.

    Nobody hears them once its server dies with it. The thread that sends them sleeps by the second, and each
    flow waits for it at its end.
    """
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    # Not by the environment, which has no word for "never"; what a user set there holds.
    with temporary_settings(set_defaults={PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield
