"""Stop signals become a normal exit, so that locks are released and no process is left behind.

Python drops an exception that a signal raises inside a finaliser or a callback of a library, and Prefect
drops one that arrives while it ends a run. So the signal is also recorded and checked between stages, and
none is lost.

A stop has a limit: a thread of its own hears of the first signal even while the main thread is inside a
library, kills the worker processes, and ends the process where it has not ended by itself within seconds.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn, Protocol, TextIO
from weakref import WeakSet

_STOPPING = (signal.SIGTERM, signal.SIGHUP)
_STOPS = frozenset({*_STOPPING, signal.SIGINT})
# Within it a run cleans up after itself; its locks go with it in any case.
STOP_LIMIT_S = 7.0
# So soon the main thread answers a second signal, unless it is stuck.
_ECHO_S = 1.0
_FROM_HANDLER = 0x80  # marks what Python's handler says of a signal, for the kernel's may have said it before
_PR_SET_PDEATHSIG = 1
_SIGACTION_BYTES = 256  # more than any system's struct sigaction has
INTERRUPTED = 128 + signal.SIGINT
BROKEN_PIPE = 128 + signal.SIGPIPE
LOST_OUTPUT = 120  # as Python ends where standard output takes no more
STOPPED = frozenset({INTERRUPTED, *(128 + number for number in _STOPPING)})


class Stopped(SystemExit):
    """The process was told to stop; its exit code is 128 plus the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


class Killable(Protocol):
    """Something with processes that a stop kills."""

    def kill(self) -> None:
        """Kill them at once; may be called from any thread, and more than once."""


_received: list[int] = []
_killed_at_stop = WeakSet[Killable]()
_wakeup: list[int] = []  # the writing end of the pipe of the watching thread


def kill_at_stop(owner: Killable) -> None:
    """Have a stop signal kill these processes, for as long as their owner is referenced."""
    _killed_at_stop.add(owner)


def stop_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise ``Stopped`` in the main thread from now on, and SIGINT
    ``KeyboardInterrupt``.

    Worker processes are killed by the first signal. A second one ends the process at once, and so does
    ``STOP_LIMIT_S`` seconds; the private Prefect API dies with it.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    _watch_signals()
    for number in _STOPPING:
        # Under nohup a hang-up is ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    # Python's own handler would give way to asyncio's, which may answer a Ctrl-C by nothing.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _stop(number: int, _frame: FrameType | None) -> None:
    _record(number)
    raise Stopped(number)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _record(number)
    raise KeyboardInterrupt


def _record(number: int) -> None:
    """Record the signal; the kernel answers the next one by ending the process."""
    for each in _STOPS:
        if signal.getsignal(each) in (_stop, _interrupt):
            signal.signal(each, signal.SIG_DFL)
    _received.append(number)
    for descriptor in _wakeup:  # an event loop may have taken the wakeup descriptor for itself
        os.write(descriptor, bytes([number | _FROM_HANDLER]))


def _watch_signals() -> None:
    """Start the thread that hears of signals while the main thread cannot: inside a library, or a lock."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    _wakeup[:] = [writing]
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_end_in_time, args=(reading,), name="noctule-stop", daemon=True).start()


def _end_in_time(pipe: int) -> None:
    """Wait for a stop signal, kill the workers, and end the process if it is still there at the limit."""
    while (number := os.read(pipe, 1)[0] & ~_FROM_HANDLER) not in _STOPS:
        pass
    if not _received:
        _received.append(number)
    _kill_workers()
    deadline = time.monotonic() + STOP_LIMIT_S
    while (byte := _read_within(pipe, deadline - time.monotonic())) is not None:
        # Prefect answers SIGTERM by a signal of its own, which then arrives twice: our handler sees that one.
        if byte in _STOPS and not ((_read_within(pipe, _ECHO_S) or 0) & _FROM_HANDLER):
            break
    _kill_workers()
    os._exit(128 + number)


def _read_within(pipe: int, limit_s: float) -> int | None:
    """Return what was written within the limit, if anything."""
    return os.read(pipe, 1)[0] if select.select([pipe], [], [], max(0.0, limit_s))[0] else None


def _kill_workers() -> None:
    for owner in list(_killed_at_stop):
        owner.kill()


@contextmanager
def restoring_handlers() -> Iterator[None]:
    """Put the handlers of stop signals back after the block, in which a library installs its own.

    In another thread than the main one only the system can: Python's own table has not changed there.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    actions = {number: ctypes.create_string_buffer(_SIGACTION_BYTES) for number in _STOPS}
    for number, action in actions.items():
        libc.sigaction(int(number), None, action)
    handlers = {number: signal.getsignal(number) for number in _STOPS}
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        for number, action in actions.items():
            if is_main and handlers[number] is not None:
                signal.signal(number, handlers[number])
            libc.sigaction(int(number), action, None)


def received() -> int | None:
    """Return the signal that told this process to stop, if any."""
    return _received[0] if _received else None


def raise_if_stopped() -> None:
    """Raise the exception of a stop signal again if one has arrived, wherever the first was dropped."""
    if _received:
        raise _answer(_received[0])


@contextmanager
def raising_stop_signals() -> Iterator[None]:
    """Let a signal that arrives during the block override its outcome, whether an error or success."""
    try:
        yield
    except Exception:
        raise_if_stopped()
        raise
    raise_if_stopped()


@contextmanager
def ending_by_itself() -> Iterator[None]:
    """Leave SIGTERM to a block that ends because of it: that is no failure, if it ends within the limit."""
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        _received[:] = [number for number in _received if number != signal.SIGTERM]


def _answer(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


def die_with_parent() -> None:
    """Have the kernel kill this process once the thread that started it is gone (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        parent = multiprocessing.parent_process()
        if parent is not None and os.getppid() != parent.pid:
            os._exit(1)  # it went before it could be watched


def shield_children() -> None:
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
        child.join(1)
    flushed = max(_flushed(stream) for stream in (sys.stdout, sys.stderr))
    os._exit(code or flushed)


def _flushed(stream: TextIO | None) -> int:
    """Write what is left of the output and return 0, or the exit code of a process that could not.

    A stream that was closed from the start accepts no output.
    """
    try:
        if stream is not None:
            stream.flush()
    except BrokenPipeError:
        return BROKEN_PIPE
    except (OSError, ValueError):
        return LOST_OUTPUT
    return 0
