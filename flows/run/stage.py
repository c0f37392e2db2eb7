"""A stage of a build: one row of the table in ``noctule.flows.graph``, and the driver that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar

A = TypeVar("A")
T = TypeVar("T")


class Lane(Enum):
    """The lane in which a stage runs; the value is what ``noctule graph`` prints."""

    MAIN = "main"  # in the calling thread, one after the other
    THREAD = "thread"  # beside it: the work is done in C and leaves the interpreter free
    PROCESS = "process"  # in the background process, one after the other; inputs and result can be pickled


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: its name, the products it needs, the products it makes, and the function that makes them.

    ``function`` takes the products named in ``needs`` in that order and returns the one named ``makes``, or a
    tuple where several are named. ``redo`` says what running it again costs: only the changes, where a cache
    holds the rest. ``fan_out``: it hands batches to an engine. ``is_large`` takes the same products and says
    whether the work is worth the background process; smaller work is done in the main lane. Without
    ``retries`` an I/O error is final.
    """

    name: str
    function: Callable[..., Any]
    needs: tuple[str, ...]
    makes: tuple[str, ...]
    lane: Lane = Lane.MAIN
    fan_out: bool = False
    is_large: Callable[..., bool] | None = None
    redo: str = "all"
    retries: bool = True

    def products(self, result: Any) -> Mapping[str, Any]:
        """Return the stage's products by name."""
        values = (result,) if len(self.makes) == 1 else result
        return dict(zip(self.makes, values, strict=True))


def makers(stages: Iterable[Stage]) -> Mapping[str, Stage]:
    """Return the stage that makes each product."""
    return {product: stage for stage in stages for product in stage.makes}


@dataclass(frozen=True, slots=True)
class StageTime:
    """The duration of a stage, in seconds of wall time."""

    stage: str
    seconds: float


def seconds_by_stage(times: Iterable[StageTime]) -> dict[str, float]:
    """Return the seconds of each stage, in order; those of one that ran more than once are added up."""
    found: dict[str, float] = {}
    for time in times:
        found[time.stage] = round(found.get(time.stage, 0.0) + time.seconds, 3)
    return found


class Driver(Protocol):
    """A way to call stages: plainly, or as Prefect tasks. The stages do not know which."""

    @property
    def times(self) -> tuple[StageTime, ...]:
        """Return the finished stages in order."""

    def measure(self, stage: str) -> AbstractContextManager[None]:
        """Return a context in which the time of a stage is taken; raise if a signal arrived meanwhile."""

    def call(self, stage: Stage, work: Callable[[], T], after: Sequence[object]) -> tuple[T, object]:
        """Call ``work``, which runs the stage after those of the handles; return its result and a handle."""

    def map(
        self,
        name: str,
        function: Callable[[A], T],
        batches: Sequence[A],
        slots: int,
        labels: Sequence[str] = (),
    ) -> list[T]:
        """Return the results of a function on each batch, in order, ``slots`` at a time.

        ``labels`` name the batches where they are shown; otherwise they are numbered.
        """


class Progress(Protocol):
    """A listener for the progress of a long stage: a bar on the command line, a log, or nothing."""

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Record that a stage of ``total`` units starts."""

    def advance(self, amount: int) -> None:
        """Record that ``amount`` more units are done; may be called from any thread."""

    def end(self) -> None:
        """Record that the stage is done, or given up."""


class Silent:
    """Progress that is not shown."""

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Do nothing."""

    def advance(self, amount: int) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""
