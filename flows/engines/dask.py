"""A Dask cluster: a running one by its scheduler's address, or one on this machine for the run's duration."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from pathlib import Path
from typing import Any

from ...pipeline.errors import EngineUnavailable, SettingsError
from ..run.signals import raise_if_stopped, received
from ..run.workers import WorkerFailed
from . import jobs
from .cluster import unavailable
from .jobs import EncodeJob, Outcome, ParseJob

_CONNECT_S = 30
_FIRST_WORKER_S = 60
_NO_WORKER_S = 60.0
_LOOK_S = 1.0
_GONE = (asyncio.CancelledError, concurrent.futures.CancelledError, OSError)


def run_on_worker(job: ParseJob | EncodeJob) -> Outcome:
    """Return the outcome of the job, run in a Dask worker with as many threads as it has."""
    from distributed import get_worker

    return jobs.run(job, get_worker().state.nthreads)


class DaskCluster:
    """The workers of a Dask scheduler; the jobs of a lost worker are done by another, up to three times."""

    def __init__(self, address: str, workers: int, scratch: Path) -> None:
        _require_dask()
        self._address = address
        self._own = None if address else _local_cluster(workers, scratch)
        self._client = self._connected()

    def _connected(self) -> Any:
        from distributed import Client

        target = self._own or f"tcp://{self._address}"
        try:
            client = Client(target, set_as_default=False, timeout=_CONNECT_S, name="noctule")
        except (OSError, TimeoutError, ValueError) as error:
            raise self._unavailable(f"no Dask scheduler answers: {error}") from None
        try:
            client.wait_for_workers(1, timeout=_FIRST_WORKER_S)
        except TimeoutError:
            client.close()
            raise self._unavailable(f"the scheduler has had no worker for {_FIRST_WORKER_S} s") from None
        return client

    def _unavailable(self, what: str) -> EngineUnavailable:
        return unavailable("dask", self._address, what)

    @property
    def slots(self) -> int:
        """Return two jobs for every thread of a worker."""
        return 2 * max(1, sum(self._threads().values()))

    def _threads(self) -> dict[str, int]:
        try:
            return dict(self._client.nthreads())
        except (*_GONE, TimeoutError) as error:
            raise self._unavailable(f"the scheduler is gone: {error}") from None

    def submit(self, job: ParseJob | EncodeJob) -> Outcome:
        """Return the job's outcome; raise ``WorkerFailed`` or ``EngineUnavailable``."""
        from distributed import KilledWorker

        future = self._client.submit(run_on_worker, job, pure=False)
        try:
            return self._awaited(future)
        except KilledWorker:
            raise WorkerFailed("crashed several times") from None
        except _GONE as error:
            raise self._unavailable(f"the scheduler is gone: {error}") from None
        finally:
            future.release()

    def _awaited(self, future: Any) -> Outcome:
        """Return the outcome, however long it takes, as long as there is a worker that could compute it."""
        last_seen = time.monotonic()
        while True:
            raise_if_stopped()
            try:
                outcome: Outcome = future.result(timeout=_LOOK_S)
                return outcome
            except UnboundLocalError:
                # What Dask's own code ends in where a job is cancelled while it is waited for.
                if not future.cancelled():
                    raise
                raise self._unavailable("the scheduler is gone: it cancelled a job") from None
            except TimeoutError:
                if self._threads():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > _NO_WORKER_S:
                    raise self._unavailable(f"no worker has been left for {_NO_WORKER_S:g} s") from None

    def close(self) -> None:
        """Release the workers' parsers and model; a cluster of this run ends."""
        is_stopped = received() is not None
        try:
            # After a stop parsers may still be at work: they end at their limit, and stay for the next run.
            if self._own is None and not is_stopped:
                self._client.run(jobs.release, on_error="ignore")
            self._client.close(timeout=1 if is_stopped else 10)
        except (*_GONE, TimeoutError):
            pass  # there is nobody left to tell
        if self._own is not None:
            self._own.close(timeout=2 if is_stopped else 30)


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise SettingsError(
            "Dask is not installed",
            where="engine.name",
            hint='Install it: pip install "noctule[dask]". Or use this machine: --engine processes',
        ) from None


def _local_cluster(workers: int, scratch: Path) -> Any:
    """Return a cluster of one worker process per core, on the loopback address, without a dashboard."""
    from distributed import LocalCluster

    from ..run.signals import shield_children

    shield_children()
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Without one the scheduler takes port 8787 even where it shows no dashboard: any free one, then.
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        local_directory=str(scratch),
        # A night's batches are small: the limit of Dask's guess would stop a worker for its model.
        memory_limit=0,
        silence_logs=40,
    )
