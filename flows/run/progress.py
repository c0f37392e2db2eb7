"""Progress display: bars with rate and remaining time in a terminal, plain log lines elsewhere."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID

    from .stage import Progress

LOGGER = "noctule"
_LINE_EVERY_S = 15.0


def size(count: int) -> str:
    """Return bytes for a person to read: ``1.2 MB``."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


class LogProgress:
    """Progress as log lines: one when a stage begins, one every 15 seconds, and one when it ends."""

    def __init__(self, logger: str = LOGGER) -> None:
        self._log = logging.getLogger(logger)
        self._stage, self._unit, self._total, self._done = "", "", 0, 0
        self._begun = self._said = 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Begin a stage of ``total`` units."""
        self._stage, self._total, self._unit, self._done = stage, total, unit, 0
        self._begun = self._said = time.monotonic()
        if total:
            self._log.info("%s: %s %s", stage, f"{total:,}", unit)

    def advance(self, amount: int) -> None:
        """Record that so many more units are done."""
        self._done += amount
        now = time.monotonic()
        if now - self._said >= _LINE_EVERY_S and self._done:
            self._said = now
            self._log.info("%s", self._line(now - self._begun))

    def _line(self, seconds: float) -> str:
        left = seconds / self._done * max(0, self._total - self._done)
        done = f"{self._stage}: {self._done:,} of {self._total:,} {self._unit}"
        return f"{done}, {self._done / seconds:,.0f}/s, {left:,.0f} s left"

    def end(self) -> None:
        """Log the end of the stage."""
        if self._total:
            self._log.info("%s: %.1f s", self._stage, time.monotonic() - self._begun)


class BarProgress:
    """Progress as a bar for the current stage; finished stages stay above it as lines."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._stage, self._begun = "", 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Show a bar of ``total`` units, or a moving one when the total is not known (0)."""
        self._stage, self._begun = stage, time.monotonic()
        self._task = self._bars.add_task(stage, total=total or None, unit=unit)

    def advance(self, amount: int) -> None:
        """Record that so many more units are done."""
        if self._task is not None:
            self._bars.advance(self._task, amount)

    def end(self) -> None:
        """Replace the bar with a line."""
        if self._task is None:
            return
        done = self._bars.tasks[self._bars.task_ids.index(self._task)].completed
        self._bars.remove_task(self._task)
        self._task = None
        seconds = time.monotonic() - self._begun
        amount = f"  {done:,.0f}" if done else ""
        self._bars.console.print(f"  {self._stage}{amount}  {seconds:.1f} s", style="dim", highlight=False)
        # Not shown beside the bars, but kept in Prefect's log of the run.
        logging.getLogger(LOGGER).info("%s: %.1f s", self._stage, seconds)


@contextmanager
def shown(console: Console | None) -> Iterator[Progress]:
    """Show bars on a console, or log lines without one, for the block."""
    if console is None:
        yield LogProgress()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="dim")

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[unit]}"))
    with RichProgress(*columns, Rate(), TimeRemainingColumn(), console=console, transient=True) as bars:
        yield BarProgress(bars)
