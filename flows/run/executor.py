"""Carries out a table of stages: in the order of their needs, side by side where lanes allow, each made once.

    with Execution(BUILD, {"run": run, ...}, driver, background, wanted=("published", "site")) as execution:
        published = execution.make("published")
        site = execution.make("site")

A product is dropped as soon as no stage is left that needs it, so memory follows the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import copy_context
from functools import partial
from graphlib import TopologicalSorter
from threading import Thread
from typing import Any

from .background import Background
from .signals import raise_if_stopped
from .stage import Driver, Lane, Stage, makers


class Execution:
    """A run of the stages that make the ``wanted`` products from the ``given`` ones."""

    def __init__(
        self,
        stages: Sequence[Stage],
        given: Mapping[str, object],
        driver: Driver,
        background: Background,
        wanted: Iterable[str],
    ) -> None:
        self._products: dict[str, object] = dict(given)
        self._driver, self._background = driver, background
        self._wanted = frozenset(wanted)
        self._waiting = list(with_leaf_stages(needed_for(self._wanted, stages, given), stages, given))
        self._running: dict[Future[tuple[Any, object]], Stage] = {}
        self._handles: dict[str, object] = {}
        self._failed: dict[str, BaseException] = {}
        self._small = set[str]()  # stages that were found too small for the background process

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        """Return at once: threads are daemons, and the background process ends with its own block."""
        self._waiting, self._products = [], {}

    def provide(self, **products: object) -> None:
        """Provide products that no stage has to make; stages that only they needed are skipped too."""
        self._products |= products
        needed = needed_for(self._wanted, self._waiting, self._products)
        self._waiting = list(with_leaf_stages(needed, self._waiting, self._products))

    def make(self, product: str) -> Any:
        """Run stages until the product is there; raise what a stage raised.

        Stages beside the main lane begin as soon as their inputs are there, also those for other wanted
        products.
        """
        while product not in self._products:
            self._collect(block=False)
            self._start_side_stages()
            self._require_possible(product)
            if (stage := self._next(product)) is not None:
                self._keep(stage, *self._driver.call(stage, self._work(stage), self._after(stage)))
            elif product not in self._products:
                if not self._running:
                    raise RuntimeError(f"no stage makes {product!r} out of what is given")
                self._collect(block=True)
        return self._products[product]

    def finish(self) -> None:
        """Run the stages that are left: those whose products nobody needs."""
        while (stage := self._next("")) is not None:
            self._keep(stage, *self._driver.call(stage, self._work(stage), self._after(stage)))

    def _leaf_products(self) -> set[str]:
        """Return products that are wanted by nobody, neither by a stage nor by the run."""
        used = {need for stage in self._waiting for need in stage.needs} | self._wanted
        return {each for stage in self._waiting for each in stage.makes if not set(stage.makes) & used}

    def _require_possible(self, product: str) -> None:
        """Raise the error of a failed stage that the product needs; stages that do not need it go on."""
        path = needed_for({product}, self._waiting, self._products)
        for need in (product, *(need for stage in path for need in stage.needs)):
            if need in self._failed:
                raise self._failed[need]

    def _next(self, product: str) -> Stage | None:
        """Return the first ready stage of the table that the product needs or whose product nobody needs."""
        wanted = {product, *self._leaf_products()}
        path = {stage.name for stage in needed_for(wanted, self._waiting, self._products)}
        return next((each for each in self._waiting if each.name in path and self._is_ready(each)), None)

    def _is_ready(self, stage: Stage) -> bool:
        return all(need in self._products for need in stage.needs)

    def _start_side_stages(self) -> None:
        for stage in [each for each in self._waiting if each.lane is not Lane.MAIN and self._is_ready(each)]:
            given = self._given(stage)
            if stage.name in self._small:
                continue
            if stage.is_large is not None and not stage.is_large(*given):
                self._small.add(stage.name)  # left to the main lane
                continue
            work: Callable[[], Any] = partial(stage.function, *given)
            if stage.lane is Lane.PROCESS:
                work = self._background.start(_applied, (stage.function, given))
            self._waiting.remove(stage)
            self._running[_in_thread(self._driver, stage, work, self._after(stage))] = stage

    def _work(self, stage: Stage) -> partial[Any]:
        self._waiting.remove(stage)
        return partial(stage.function, *self._given(stage))

    def _given(self, stage: Stage) -> list[object]:
        return [self._products[need] for need in stage.needs]

    def _after(self, stage: Stage) -> list[object]:
        return list(dict.fromkeys(self._handles[need] for need in stage.needs if need in self._handles))

    def _collect(self, *, block: bool) -> None:
        """Store the products of stages outside the main lane, or the errors they failed with."""
        # Not for ever at a time: a signal must be heeded.
        done, _ = wait(self._running, timeout=0.2 if block else 0, return_when=FIRST_COMPLETED)
        raise_if_stopped()
        for future in done:
            stage = self._running.pop(future)
            if (error := future.exception()) is None:
                self._keep(stage, *future.result())
            else:
                self._failed |= dict.fromkeys(stage.makes, error)

    def _keep(self, stage: Stage, result: Any, handle: object) -> None:
        made = stage.products(result)
        self._products |= made
        self._handles |= dict.fromkeys(made, handle)
        left = {need for each in (*self._waiting, *self._running.values()) for need in each.needs}
        for name in [name for name in (*stage.needs, *made) if name not in left | self._wanted]:
            self._products.pop(name, None)


def _in_thread(
    driver: Driver, stage: Stage, work: Any, after: Sequence[object]
) -> Future[tuple[Any, object]]:
    """Start the stage in a daemon thread, which is abandoned once its result is no longer wanted."""
    made: Future[tuple[Any, object]] = Future()

    def run() -> None:
        try:
            made.set_result(driver.call(stage, work, after))
        except BaseException as error:
            made.set_exception(error)

    # With the context of the caller, in which Prefect finds the flow run.
    Thread(target=copy_context().run, args=(run,), name=f"noctule-{stage.name}", daemon=True).start()
    return made


def _applied(call: tuple[Any, Sequence[object]]) -> Any:
    function, given = call
    return function(*given)


def ordered(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages, each after those that it needs, otherwise in table order; raise ``CycleError``.

    Raise ``ValueError`` where two stages make the same product or have the same name.
    """
    known = makers(stages)
    for stage in stages:
        for product in stage.makes:
            if known[product] is not stage:
                raise ValueError(f"both {stage.name!r} and {known[product].name!r} make {product!r}")
    by_name = {stage.name: stage for stage in stages}
    if len(by_name) < len(stages):
        raise ValueError("two stages have the same name")
    needs = {each.name: {known[n].name for n in each.needs if n in known} for each in stages}
    return tuple(by_name[name] for name in TopologicalSorter(needs).static_order())


def with_leaf_stages(
    needed: Sequence[Stage], stages: Sequence[Stage], given: Iterable[str]
) -> tuple[Stage, ...]:
    """Return the needed stages, and the leaf stages that can run on their products alone."""
    there = {*given, *(product for stage in needed for product in stage.makes)}
    used = {need for stage in stages for need in stage.needs}
    ends = {each.name for each in stages if set(each.needs) <= there and not set(each.makes) & used}
    names = {stage.name for stage in needed} | ends
    return tuple(stage for stage in stages if stage.name in names)


def needed_for(
    products: Iterable[str], stages: Sequence[Stage], given: Iterable[str] = ()
) -> tuple[Stage, ...]:
    """Return the stages that the products need, in the order of the table; ``given`` products need none."""
    known = makers(stages)
    found, wanted = set[str](), [product for product in products if product not in set(given)]
    while wanted:
        stage = known.get(wanted.pop())
        if stage is not None and stage.name not in found:
            found.add(stage.name)
            wanted += [need for need in stage.needs if need not in set(given)]
    return tuple(stage for stage in stages if stage.name in found)
