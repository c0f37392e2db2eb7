"""A signal to stop becomes a normal exit, so that locks are freed and no process stays behind."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_STOPPING = (signal.SIGTERM, signal.SIGHUP)


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
