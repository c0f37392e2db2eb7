"""Stop signals become a normal exit, so that locks are released and no process is left behind.

Python drops an exception that a signal raises inside a finaliser or a callback of a library, and Prefect
drops one that arrives while it ends a run. So the signal is also recorded and checked between stages, and
none is lost.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn, TextIO

_STOPPING = (signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
INTERRUPTED = 128 + signal.SIGINT
LOST_OUTPUT = 120  # as Python ends where standard output takes no more
STOPPED = frozenset({INTERRUPTED, *(128 + number for number in _STOPPING)})


class Stopped(SystemExit):
    """The process was told to stop; its exit code is 128 plus the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


_received: list[int] = []


def stop_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise ``Stopped`` in the main thread from now on, and SIGINT
    ``KeyboardInterrupt``.

    A second SIGTERM or SIGHUP ends the process at once; the private Prefect API dies with it.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _STOPPING:
        # Under nohup a hang-up is ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    # Python's own handler would give way to asyncio's, which may answer a Ctrl-C by nothing.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _stop(number: int, _frame: FrameType | None) -> None:
    for each in _STOPPING:
        signal.signal(each, signal.SIG_DFL)
    _received.append(number)
    raise Stopped(number)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def received() -> int | None:
    """Return the signal that told this process to stop, if any."""
    return _received[0] if _received else None


def stop_if_told() -> None:
    """Raise the exception of a stop signal again if one has arrived, wherever the first was dropped."""
    if _received:
        raise _answer(_received[0])


@contextmanager
def heeding_signals() -> Iterator[None]:
    """Let a signal that arrives during the block override its outcome, whether an error or success."""
    try:
        yield
    except Exception:
        stop_if_told()
        raise
    stop_if_told()


def _answer(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


def die_with_parent() -> None:
    """Have the kernel kill this process once the thread that started it is gone (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        parent = multiprocessing.parent_process()
        if parent is not None and os.getppid() != parent.pid:
            os._exit(1)  # it went before it could be watched


def spare_children() -> None:
    """Shield processes that this thread starts from Ctrl-C; the main thread gets it, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        # The first child brings multiprocessing's tracker to life, which takes the mask off again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def leave_now(code: int) -> NoReturn:
    """End the process without waiting for its threads, and without shutting down any library.

    A signal may interrupt a thread pool between starting a thread and registering it; Python would then wait
    forever.
    """
    for child in multiprocessing.active_children():
        child.kill()
        child.join()
    flushed = [_is_flushed(stream) for stream in (sys.stdout, sys.stderr)]
    os._exit(code or (0 if all(flushed) else LOST_OUTPUT))


def _is_flushed(stream: TextIO | None) -> bool:
    """Return whether all output has been written; a stream that was closed from the start accepts none."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        return False
    return True
