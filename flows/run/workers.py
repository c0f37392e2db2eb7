"""Worker processes that can be killed: a parser that hangs or crashes costs its document, never the build."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import TypeVar, cast

from ...pipeline.errors import EngineUnavailable
from .memory import collect_seldom, release_memory, uncollected
from .signals import die_with_parent, kill_at_stop, raise_if_stopped, shield_children

A = TypeVar("A")
T = TypeVar("T")
_LOOK_AT_LIMITS = "Check the limits on open files, processes and memory, then run it again."
_START_LIMIT_S = 300
_HERE = "this machine"
# An item may take so many times its processor time, where it sleeps or the machine is busy, and never less.
_WALL_TIMES = 10
_LEAST_WALL_S = 30.0
# The same work would end so again. SIGKILL comes from outside or for want of memory, SIGABRT of a library
# that has none, SIGBUS of a disk.
_LASTING = {signal.SIGFPE, signal.SIGILL, signal.SIGPROF, signal.SIGSEGV}


@dataclass(frozen=True, slots=True)
class WorkStep:
    """Items of a batch that a stage begins: the first one, how many, and a mark that the stage gave them."""

    first: int
    count: int = 1
    mark: str = ""


# A stage calls it with the items that it begins, so that a failure has a culprit.
Begin = Callable[[WorkStep], None]


def unwatched(_step: WorkStep) -> None:
    """Watch nothing: work in this process has no time limit."""


class WorkerFailed(Exception):
    """The failure of a worker that died or was killed during a call; the message says which of it.

    ``at`` is what its stage had begun, if it said so. ``is_lasting`` means that the same work would fail
    again, ``by_chance`` that it may not: something else may have killed the process.
    """

    def __init__(
        self, reason: str, at: WorkStep | None = None, *, is_lasting: bool = False, by_chance: bool = False
    ) -> None:
        super().__init__(reason)
        self.at, self.is_lasting, self.by_chance = at, is_lasting, by_chance


class WorkersEnded(Exception):
    """The failure of a call that is no longer wanted: the block that had the workers is over."""


class Workers:
    """A fixed number of worker processes; a call runs in one, which is killed if the call hangs."""

    def __init__(self, count: int) -> None:
        self.count = count
        # One thread starts them all and outlives them: the kernel kills a worker when the thread that started
        # it ends.
        self._starter = ThreadPoolExecutor(1, "noctule-starter", initializer=shield_children)
        self._all = tuple(_Worker(self._starter) for _ in range(count))
        self._free: queue.Queue[_Worker] = queue.Queue()
        for worker in self._all:
            self._free.put(worker)
        kill_at_stop(self)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.kill()
        self.close()

    def close(self) -> None:
        """End every process, once its call is over."""
        for worker in [self._free.get() for _ in self._all]:
            worker.stop()
            worker.kill()
            self._free.put(worker)  # a thread may still ask for one, and is refused
        self._starter.shutdown()

    def kill(self) -> None:
        """End busy processes at once; their calls raise ``WorkersEnded``, and so do all later ones."""
        for worker in self._all:
            worker.kill()

    def call(self, stage: Callable[[A], T], batch: A, timeout_s: float) -> T:
        """Return ``stage(batch)``, computed in a worker; ``stage`` must be importable and its values
        picklable.

        Raise what the stage raised, ``WorkerFailed`` after ``timeout_s`` seconds or a crash, or
        ``EngineUnavailable`` where no process can be started.
        """
        return self._lent(lambda worker: worker.call(stage, batch, timeout_s))

    def watch(self, stage: Callable[[A, Begin], T], batch: A, limit_s: float) -> T:
        """Return ``stage(batch, begin)``, computed in a worker, where each item that it begins has a limit.

        The limit is in seconds of processor time; of wall time an item has several times as much. Raise as
        ``call`` does; ``WorkerFailed`` says which item it was.
        """
        wall_s = max(_LEAST_WALL_S, _WALL_TIMES * limit_s)
        return self._lent(lambda worker: worker.call(stage, batch, wall_s, limit_s))

    def _lent(self, use: Callable[[_Worker], T]) -> T:
        worker = self._free.get()
        try:
            return use(worker)
        finally:
            self._free.put(worker)


class _Worker:
    """One process, started on first use and restarted after it was killed."""

    def __init__(self, starter: ThreadPoolExecutor) -> None:
        self._starter = starter
        self._is_over = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, stage: Callable[..., T], batch: object, wall_s: float, limit_s: float = 0.0) -> T:
        """Return ``stage(batch)``; where there is a limit of processor time, ``stage(batch, begin)``."""
        at: WorkStep | None = None
        try:
            connection = self._started(stage)
            self._require_wanted()
            connection.send((stage, batch, limit_s))
            while True:
                if not connection.poll(wall_s * (at.count if at else 1)):
                    raise WorkerFailed(f"took over {wall_s:g} s and was stopped", at)
                outcome, value = connection.recv()
                if outcome != "began":
                    break
                at = value
        except (EOFError, OSError):
            failure = self._failure(at, limit_s)
            self.stop()
            self._require_wanted()
            raise failure from None
        except BaseException:
            self.stop()
            raise
        if outcome == "raised":
            raise value
        return cast(T, value)

    def _require_wanted(self) -> None:
        raise_if_stopped()
        if self._is_over:
            raise WorkersEnded("was no longer wanted")

    def _started(self, stage: Callable[..., object]) -> Connection:
        """Return a live process that has imported the stage, which takes none of the stage's time."""
        if self._process is None or not self._process.is_alive() or self._connection is None:
            self._require_wanted()
            try:
                self._start(stage)
            except EOFError:
                self._require_wanted()
                how = self._exit_code()
                self.stop()
                self._start_again(stage, how)
        assert self._connection is not None
        return self._connection

    def _start_again(self, stage: Callable[..., object], how: str) -> None:
        """Start a process once more after one that died before it could work: no document's fault."""
        try:
            self._start(stage)
        except EOFError:
            self._require_wanted()
            what = f"worker processes end before they are ready ({how}, then {self._exit_code()})"
            raise EngineUnavailable(what, where=_HERE, hint=_LOOK_AT_LIMITS) from None

    def _start(self, stage: Callable[..., object]) -> None:
        """Start the process and wait until it has imported the stage; raise ``EOFError`` if it dies."""
        connection = self._spawn()
        try:
            connection.send(stage)
            if not connection.poll(_START_LIMIT_S):
                what = f"no worker process is ready within {_START_LIMIT_S} s"
                raise EngineUnavailable(what, where=_HERE, hint="Is the machine overloaded?")
            connection.recv()
        except OSError:
            raise EOFError from None

    def _spawn(self) -> Connection:
        """Start the process and return the connection to it; raise ``EngineUnavailable`` if it is refused."""
        context = multiprocessing.get_context("spawn")
        try:
            ours, theirs = context.Pipe()
            self._connection = ours
            process = context.Process(target=_serve, args=(theirs,), daemon=True, name="noctule-worker")
            # There Ctrl-C is blocked: until it ignores it itself, a young worker would answer it with a
            # traceback.
            self._starter.submit(process.start).result()
        except (OSError, RuntimeError) as error:  # no fault of any document
            what = f"no worker process can be started: {getattr(error, 'strerror', None) or error}"
            raise EngineUnavailable(what, where=_HERE, hint=_LOOK_AT_LIMITS) from error
        self._process = process
        theirs.close()
        self._require_wanted()  # a kill before the process was known here
        return ours

    def _failure(self, at: WorkStep | None, limit_s: float) -> WorkerFailed:
        how = self._exit_code()
        number = self._signal()
        if number == signal.SIGPROF:
            limit_s *= at.count if at else 1
            how = f"took over {limit_s:g} s of processor time and was stopped"
            return WorkerFailed(how, at, is_lasting=True)
        is_lasting = number in _LASTING
        return WorkerFailed(f"crashed ({how})", at, is_lasting=is_lasting, by_chance=not is_lasting)

    def _signal(self) -> int:
        code = None if self._process is None else self._process.exitcode
        return -code if code is not None and code < 0 else 0

    def _exit_code(self) -> str:
        if self._process is None:
            return "no process"
        self._process.join(5)
        number = self._signal()
        return f"signal {number}" if number else f"exit {self._process.exitcode}"

    def kill(self) -> None:
        """Kill the process, if any; a thread that waits for it, or starts it, sees that it is gone."""
        self._is_over = True
        if (process := self._process) is not None:
            process.kill()

    def stop(self) -> None:
        """Kill the process, and free all it holds."""
        if self._process is not None:  # first: one that is hung up on while it starts would complain
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def _begin(connection: Connection, limit_s: float, step: WorkStep) -> None:
    """Say what begins; the kernel ends this process when it takes too much processor time."""
    connection.send(("began", step))
    signal.setitimer(signal.ITIMER_PROF, limit_s * step.count)


def _serve(connection: Connection) -> None:
    """Answer calls until the parent hangs up or is gone."""
    die_with_parent()
    multiprocessing.current_process().daemon = False  # that of a shard has parsers of its own
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a terminal's Ctrl-C ends the work
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one process a core already
    try:
        with uncollected():
            connection.recv()  # unpickling the first stage imports it
        collect_seldom()
        connection.send("ready")
    except (EOFError, OSError):
        return  # a stop came between
    while True:
        try:
            stage, batch, limit_s = connection.recv()
        except (EOFError, OSError):
            return
        watch = (partial(_begin, connection, limit_s),) if limit_s else ()
        try:
            answer = ("returned", stage(batch, *watch))
        except Exception as error:  # the caller raises it on its side
            answer = ("raised", error)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(answer)
        del stage, batch, watch, answer  # or they would be held until the next call
        if not limit_s:  # batches that are watched follow one another, and are alike
            release_memory()
