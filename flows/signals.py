"""A signal to stop becomes a normal exit, so that locks are freed and no process stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn

_STOPPING = (signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128 + signal.SIGINT
STOPPED = frozenset({INTERRUPTED, *(128 + number for number in _STOPPING)})


class Stopped(SystemExit):
    """The process was told to stop; its exit code is 128 and the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def stop_on_signals() -> None:
    """From now on SIGTERM and SIGHUP raise ``Stopped`` in the main thread (SIGINT is ``KeyboardInterrupt`` already).

    A second signal ends the process at once; the private Prefect API dies with it.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _STOPPING:
        # Under nohup a hang-up is ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> None:
    for each in _STOPPING:
        signal.signal(each, signal.SIG_DFL)
    raise Stopped(number)


def spare_children() -> None:
    """Processes that this thread starts from now on do not hear Ctrl-C; the main thread does, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        # The first child brings multiprocessing's tracker to life, which takes the mask off again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def leave_now(code: int) -> NoReturn:
    """End the process without waiting for its threads.

    A signal may cut a thread pool off between starting a thread and knowing of it; Python would then wait for ever.
    """
    for child in multiprocessing.active_children():
        child.kill()
        child.join()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue
    os._exit(code)
