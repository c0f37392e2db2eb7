"""What the killed child of test_kill_stages runs: the whole job, edition after edition, until it dies."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from noctule.artifacts.disk import durable
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.job import run_job
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import RunContext
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent, Stage
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from tests.sentence_model_builder import small_model
from tests.snapshot_builder import QuickDisk

T = TypeVar("T")
NAMES = ("index.md", "boats.md", "fruit/apples.md")


class Told(PlainDriver):
    """Says which stage begins, and when."""

    def __init__(self, ready: Connection) -> None:
        super().__init__()
        self._ready = ready

    def call(self, stage: Stage, work: Callable[[], T], after: Sequence[object]) -> tuple[T, object]:
        self._ready.send((stage.name, time.monotonic()))
        return super().call(stage, work, after)


def write_edition(vault: Path, edition: int) -> Path:
    """Three linked notes that all say which edition they are of."""
    for name in NAMES:
        path = vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# {path.stem}\n\nThis is edition {edition}. See [[boats]].\n\n## More\n\nOf {name}.\n"
        )
    return vault


def build_edition(store: Store, vault: Path, steps: PlainDriver, **embed: object) -> BuildResult:
    """One index run in this process: worker processes take seconds to start, and have tests of their own."""
    given = {
        "collections": {"vault": {"root": str(vault)}},
        "embed": {"model": small_model(), "workers": 1, **embed},
        "engine": {"name": "inline"},
    }
    return build_snapshot(parse(given, "test"), store, steps, Silent())


def build_for_ever(root: Path, first_edition: int, ready: Connection) -> None:
    """Index, site and prune of one edition after the other, from the first on; says each stage."""
    durable.disk = QuickDisk()
    store = Store(root / "store")
    for edition in itertools.count(first_edition):
        steps = Told(ready)
        build_edition(store, write_edition(root / "vaults" / str(edition), edition), steps)
        run = RunContext(Settings(), store.root, out=root / "site")
        run_job(run, steps, Silent(), index=False, publish=False)
        ready.send(("prune", time.monotonic()))
        store.prune(1)
        ready.send(("done", time.monotonic()))
