"""What the killed child of test_kill_stages runs: the whole job, edition after edition, until it dies."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import sentence_transformers  # noqa: F401  # slow to import: the server that children are forked from has done it

from noctule.artifacts.store import durable
from noctule.artifacts.store.store import Store
from noctule.flows.run.build import build_snapshot
from noctule.flows.run.result import BuildResult
from noctule.flows.run.steps import PlainSteps, Silent
from noctule.flows.run.work import build_site
from noctule.pipeline.settings.settings import parse
from noctule.pipeline.settings.site import Site
from tests.snapshot_builder import QuickDisk

A = TypeVar("A")
T = TypeVar("T")
NAMES = ("index.md", "boats.md", "fruit/apples.md")


class Told(PlainSteps):
    """Says which stage begins, and when."""

    def __init__(self, ready: Connection) -> None:
        super().__init__()
        self._ready = ready

    def run(self, name: str, stage: Callable[[], T], *, once: bool = False) -> T:
        self._ready.send((name, time.monotonic()))
        return super().run(name, stage, once=once)

    def map(self, name: str, stage: Callable[[A], T], batches: Sequence[A], slots: int) -> list[T]:
        self._ready.send((name, time.monotonic()))
        return super().map(name, stage, batches, slots)


def write_edition(vault: Path, edition: int) -> Path:
    """Three linked notes that all say which edition they are of."""
    for name in NAMES:
        path = vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# {path.stem}\n\nThis is edition {edition}. See [[boats]].\n\n## More\n\nOf {name}.\n"
        )
    return vault


def build_edition(store: Store, vault: Path, steps: PlainSteps, **embed: object) -> BuildResult:
    """One index run in this process: worker processes take seconds to start, and have tests of their own."""
    given = {
        "collections": {"vault": {"root": str(vault)}},
        "embed": {"workers": 1, **embed},
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
        build_site(store.root, root / "site", Site(), steps)
        ready.send(("prune", time.monotonic()))
        store.prune(1)
        ready.send(("done", time.monotonic()))
