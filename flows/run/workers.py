"""Worker processes that can be killed: a parser that hangs or crashes costs its document, never the build."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import TypeVar, cast

from ...pipeline.errors import EngineUnavailable
from .memory import collect_seldom, uncollected
from .signals import die_with_parent, spare_children

A = TypeVar("A")
T = TypeVar("T")
_START_LIMIT_S = 300


class WorkerFailed(Exception):
    """The failure of a worker that died or was killed during a call; the message says which."""


class Workers:
    """A fixed number of worker processes; a call runs in one, which is killed if the call hangs."""

    def __init__(self, count: int) -> None:
        self.count = count
        # One thread starts them all and outlives them: the kernel kills a worker when the thread that started
        # it ends.
        self._starter = ThreadPoolExecutor(1, "noctule-starter", initializer=spare_children)
        self._all = tuple(_Worker(self._starter) for _ in range(count))
        self._free: queue.Queue[_Worker] = queue.Queue()
        for worker in self._all:
            self._free.put(worker)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process, once its call is over."""
        for _ in range(self.count):
            self._free.get().stop()
        self._starter.shutdown()

    def kill(self) -> None:
        """End busy processes at once; their calls raise ``WorkerFailed``, and so do all later ones."""
        for worker in self._all:
            worker.kill()

    def call(self, stage: Callable[[A], T], batch: A, timeout_s: float) -> T:
        """Return ``stage(batch)``, computed in a worker; ``stage`` must be importable and its values
        picklable.

        Raise what the stage raised, ``WorkerFailed`` after ``timeout_s`` seconds or a crash, or
        ``EngineUnavailable`` where no process can be started.
        """
        worker = self._free.get()
        try:
            return worker.call(stage, batch, timeout_s)
        finally:
            self._free.put(worker)


class _Worker:
    """One process, started on first use and restarted after it was killed."""

    def __init__(self, starter: ThreadPoolExecutor) -> None:
        self._starter = starter
        self._is_over = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, stage: Callable[[A], T], batch: A, timeout_s: float) -> T:
        try:
            connection = self._started(stage)
            if self._is_over:
                raise WorkerFailed("was no longer wanted")
            connection.send((stage, batch))
            if not connection.poll(timeout_s):
                raise WorkerFailed(f"took over {timeout_s:g} s and was stopped")
            outcome, value = connection.recv()
        except (EOFError, OSError):
            code = self._exit_code()
            self.stop()
            raise WorkerFailed(f"crashed the parser ({code})") from None
        except BaseException:
            self.stop()
            raise
        if outcome == "raised":
            raise value
        return cast(T, value)

    def _started(self, stage: Callable[[A], T]) -> Connection:
        """Return a live process that has imported the stage, which takes none of the stage's time."""
        if self._process is None or not self._process.is_alive() or self._connection is None:
            context = multiprocessing.get_context("spawn")
            try:
                self._connection, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs,), daemon=True, name="noctule-worker")
                # There Ctrl-C is blocked: until it ignores it itself, a young worker would answer it with a
                # traceback.
                self._starter.submit(process.start).result()
            except OSError as error:  # no fault of any document
                raise EngineUnavailable(
                    f"no worker process can be started: {error.strerror or error}",
                    hint="Look at the limits of open files, processes and memory, then run it again.",
                ) from error
            self._process = process
            theirs.close()
            self._connection.send(stage)
            if not self._connection.poll(_START_LIMIT_S):
                raise WorkerFailed(f"could not be parsed: no worker process within {_START_LIMIT_S} s")
            self._connection.recv()
        return self._connection

    def _exit_code(self) -> str:
        if self._process is None:
            return "no process"
        self._process.join(1)
        code = self._process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit {code}"

    def kill(self) -> None:
        """Kill the process, if any; a thread that waits for it, or starts it, sees that it is gone."""
        self._is_over = True
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """Kill the process, and free all it holds."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None


def _serve(connection: Connection) -> None:
    """Answer calls until the parent hangs up or is gone."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a terminal's Ctrl-C ends the work
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one process a core already
    with uncollected():
        connection.recv()  # unpickling the first stage imports it
    collect_seldom()
    connection.send("ready")
    while True:
        try:
            stage, batch = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("returned", stage(batch))
        except Exception as error:  # the caller raises it on its side
            answer = ("raised", error)
        connection.send(answer)
