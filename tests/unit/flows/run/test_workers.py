"""A worker that hangs or dies costs its call, and the next call works."""

from __future__ import annotations

import errno
import os
import signal
import time

import pytest

from noctule.flows.run.workers import Begin, WorkerFailed, Workers, WorkStep
from noctule.pipeline.errors import EngineUnavailable


def double(number: int) -> int:
    return 2 * number


def hang(_: int) -> int:
    time.sleep(60)
    return 0


def die(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def burn(seconds: float) -> float:
    """Take processor time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return seconds


def begin_and_burn(given: tuple[WorkStep, float], begin: Begin) -> float:
    step, seconds = given
    begin(step)
    return burn(seconds)


def refuse(number: int) -> int:
    raise ValueError(f"not {number}")


def test_calls_are_answered_and_errors_come_back() -> None:
    with Workers(2) as workers:
        assert [workers.call(double, n, 30) for n in range(4)] == [0, 2, 4, 6]
        with pytest.raises(ValueError, match="not 3"):
            workers.call(refuse, 3, 30)


def test_a_worker_that_cannot_be_started_costs_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with Workers(1) as workers:
        with monkeypatch.context() as patched:
            patched.setattr("multiprocessing.connection.Pipe", refusing)
            with pytest.raises(EngineUnavailable, match="Too many open files"):
                workers.call(double, 1, 30)
        assert workers.call(double, 1, 30) == 2


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE])
def test_a_process_or_thread_that_the_machine_refuses_costs_no_document(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    def threadless(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with Workers(1) as workers, monkeypatch.context() as patched:
        patched.setattr("multiprocessing.util.spawnv_passfds", refusing)
        with pytest.raises(EngineUnavailable, match=os.strerror(code)):
            workers.call(double, 1, 30)
    with Workers(1) as workers:
        with monkeypatch.context() as patched:
            patched.setattr("threading.Thread.start", threadless)
            with pytest.raises(EngineUnavailable, match="start new thread"):
                workers.call(double, 1, 30)
        assert workers.call(double, 1, 30) == 2


def test_a_worker_that_hangs_or_dies_is_replaced() -> None:
    with Workers(1) as workers:
        assert workers.call(double, 1, 30) == 2
        start = time.monotonic()
        with pytest.raises(WorkerFailed, match="took over"):
            workers.call(hang, 1, 0.5)
        assert time.monotonic() - start < 10
        with pytest.raises(WorkerFailed, match="signal 9"):
            workers.call(die, 1, 30)
        assert workers.call(double, 2, 30) == 4


def test_the_limit_of_an_item_ends_with_its_batch_and_holds_for_each_of_several_items() -> None:
    with Workers(1) as workers:
        assert workers.watch(begin_and_burn, (WorkStep(0), 0.0), 0.2) == 0.0
        assert workers.call(burn, 0.5, 60) == 0.5
        assert workers.watch(begin_and_burn, (WorkStep(0, count=4), 0.5), 0.2) == 0.5
        with pytest.raises(WorkerFailed, match=r"took over 0\.4 s of processor time"):
            workers.watch(begin_and_burn, (WorkStep(0, count=2), 5.0), 0.2)
