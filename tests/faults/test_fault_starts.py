"""Each thread and process that a night starts is refused once: the run says what is missing or goes on with
less, and what readers have stays whole.
"""

from __future__ import annotations

import errno
import multiprocessing.process
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.docsite.verify import check_site
from noctule.flows.job import run_job
from noctule.flows.run.context import RunContext
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import EngineUnavailable, NoctuleError, OutOfResources
from noctule.pipeline.settings.reading import parse
from tests.crash.builder import write_edition
from tests.repetitions import ALL, LONG_S, WHOLE, Part, in_parts
from tests.sentence_model_builder import small_model

# Which starts are refused, one a night: each of them for `make torture`, else the second, which no night can
# do without, and every twelfth from there.
REFUSED = range(1, 1000) if ALL else range(2, 1000, 12)
_STARTS = (
    (threading.Thread, "start"),
    (multiprocessing.process.BaseProcess, "start"),
    (subprocess.Popen, "__init__"),
)


class Starts:
    """Counts the threads and processes that this process starts, and refuses the n-th as the system does."""

    def __init__(self, nth: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nth, self.count, self.refused = nth, 0, ""
        for kind, method in _STARTS:
            monkeypatch.setattr(kind, method, self._counted(kind, getattr(kind, method)))

    def _counted(self, kind: type, really: Callable[..., Any]) -> Callable[..., Any]:
        def start(started: Any, *given: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self.nth:
                self.refused = f"{kind.__name__} {getattr(started, 'name', given)}"
                if kind is threading.Thread:
                    raise RuntimeError("can't start new thread")
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return really(started, *given, **named)

        return start


def _night(folder: Path, engine: str, edition: int) -> None:
    """Index an edition of the documents and build the site, in this process and what it starts."""
    given = {
        "collections": {"vault": {"root": str(write_edition(folder / "vault", edition))}},
        "embed": {"model": small_model(), "workers": 1},
        "engine": {"name": engine},
    }
    run = RunContext(parse(given, "test"), folder / "store", out=folder / "site")
    run_job(run, PlainDriver(), Silent(), publish=False)


@in_parts
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize("engine", ["inline", "processes"] if ALL else ["inline"])
def test_whichever_start_is_refused_a_night_says_so_or_goes_on_with_less(
    engine: str, part: Part, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    _night(tmp_path, "inline", 0)
    old, ended = store.current(), 0
    for nth in part.of(REFUSED):
        error = None
        with pytest.MonkeyPatch.context() as patched:
            starts = Starts(nth, patched)
            try:
                _night(tmp_path, engine, nth)
            except NoctuleError as caught:
                error = caught
        if error is not None:
            ended += 1
            assert isinstance(error, OutOfResources | EngineUnavailable), starts.refused
            assert error.hint and error.where
        now = store.current()
        assert now is not None and (error is not None or now != old), starts.refused
        check_deep(store.path_of(now), now)
        assert not check_site(tmp_path / "site").faults
        old = now
        if not starts.refused:
            break
    assert not starts.refused
    # A part of the starts may be all of pools, which go on with their first thread.
    assert ended or engine == "inline" or part != WHOLE
