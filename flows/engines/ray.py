"""A Ray cluster: a running one by the address of its client server, or one on this machine for the run."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

from ...artifacts.disk import folders
from ...pipeline.errors import EngineUnavailable, SettingsError
from ..run.signals import raise_if_stopped, restoring_handlers
from ..run.workers import WorkerFailed
from . import jobs
from .cluster import unavailable
from .jobs import EncodeJob, Outcome, ParseJob

_RETRIES = 3
_NO_WORKER_S = 60.0
_LOOK_S = 1.0
_LEAVE_S = 3.0
_LOOPBACK = "127.0.0.1"


class RayCluster:
    """The workers of a Ray cluster, one core per job; a lost worker's job is repeated up to three times."""

    def __init__(self, address: str, workers: int) -> None:
        self._address, self._scratch = address, None if address else _own_scratch()
        with restoring_handlers():  # Ray's would end this process at once, with a stack trace
            self._ray = _ray(self._scratch)
            self._start(workers)
        remote = self._ray.remote(jobs.run)
        self._awaiting = set[Any]()
        self._run = remote.options(num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)

    def _start(self, workers: int) -> None:
        try:
            if self._address:
                self._ray.init(address=f"ray://{self._address}", log_to_driver=False)
            else:
                self._ray.init(
                    num_cpus=workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    _node_ip_address=_LOOPBACK,
                    _temp_dir=str(self._scratch),
                )
        except Exception as error:  # Ray raises many kinds, and each means the same here
            self._remove_scratch()
            raise self._unavailable(f"no Ray cluster answers: {_gist(error)}") from None

    def _unavailable(self, what: str) -> EngineUnavailable:
        return unavailable("ray", self._address, what)

    @property
    def slots(self) -> int:
        """Return two jobs for every core of the cluster."""
        return 2 * max(1, self._cores())

    def _cores(self) -> int:
        try:
            return int(self._ray.cluster_resources().get("CPU", 0))
        except Exception as error:  # as above
            raise self._unavailable(f"the cluster is gone: {_gist(error)}") from None

    def submit(self, job: ParseJob | EncodeJob) -> Outcome:
        """Return the job's outcome; raise ``WorkerFailed`` or ``EngineUnavailable``."""
        failures = self._ray.exceptions
        lost = (failures.WorkerCrashedError, failures.NodeDiedError, failures.OutOfMemoryError)
        reference = self._run.remote(job)
        self._awaiting.add(reference)
        try:
            return self._awaited(reference)
        except lost:
            raise WorkerFailed("crashed several times") from None
        except (failures.RayError, OSError, ConnectionError) as error:
            raise self._unavailable(f"the cluster is gone: {_gist(error)}") from None
        finally:
            self._awaiting.discard(reference)

    def _awaited(self, reference: Any) -> Outcome:
        """Return the outcome, however long it takes, as long as there is a core that could compute it."""
        last_seen = time.monotonic()
        while True:
            raise_if_stopped()
            try:
                outcome: Outcome = self._ray.get(reference, timeout=_LOOK_S)
                return outcome
            except self._ray.exceptions.GetTimeoutError:
                if self._cores():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > _NO_WORKER_S:
                    raise self._unavailable(f"no worker has been left for {_NO_WORKER_S:g} s") from None

    def close(self) -> None:
        """Close the connection, and with it a cluster of this run; Ray ends idle workers by itself."""
        deadline = time.monotonic() + _LEAVE_S
        while self._awaiting and time.monotonic() < deadline:
            time.sleep(_LOOK_S / 20)  # whoever asks a library that is shut down ends the process
        self._ray.shutdown()
        self._remove_scratch()

    def _remove_scratch(self) -> None:
        if self._scratch is not None:
            folders.remove_tree(self._scratch)


def _own_scratch() -> Path:
    # Not in the store: the paths of Ray's sockets may have no more than about a hundred letters.
    return Path(tempfile.mkdtemp(prefix="noctule-ray-"))


def _ray(scratch: Path | None) -> Any:
    """Import and return the library; its settings are read on first import."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if scratch is not None:
        # Else Ray rewrites the loopback address to that of the machine and listens everywhere.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        if "RAY_AUTH_TOKEN_PATH" not in os.environ:
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
    except ImportError:
        raise SettingsError(
            "Ray is not installed",
            where="engine.name",
            hint='Install it: pip install "noctule[ray]". Or use this machine: --engine processes',
        ) from None
    return ray


def _gist(error: BaseException) -> str:
    """Return the first line of what Ray says, and the last, which of a server's traceback is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))[:300] or type(error).__name__
