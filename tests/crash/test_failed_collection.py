"""A kill at every system call from publish to the run record, and a collection that fails on the next night.

What the collection falls back to is what the current snapshot says of it, whichever snapshot that is by then.
"""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.cache import parse_cache
from noctule.artifacts.cache.parse_cache import CollectionRecord, ParseCache
from noctule.artifacts.cache.parsed_corpus import joined
from noctule.artifacts.store.run_records import write_run
from noctule.artifacts.store.staging import Staging
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.context import RunContext
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages import publish as publishing
from noctule.flows.stages.corpus import CorpusRecord
from noctule.flows.stages.write import StagedSnapshot
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from tests.crash.failing_disk import CountingDisk
from tests.crash.power_cut import using
from tests.repetitions import ALL
from tests.sentence_model_builder import small_model
from tests.shared_folder import copied_store


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Dying(CountingDisk):
    """Dies at the n-th call: from there on nothing reaches the disk."""

    nth: int

    def _failure(self, name: str) -> Killed | None:
        return Killed() if self.calls >= self.nth else None


@dataclass(frozen=True)
class _Night:
    """A night just before it publishes: a copy of its store, what it staged, and what it would record."""

    store: Path
    staged: Path
    snapshot: StagedSnapshot
    record: CorpusRecord
    settings: Settings


def _write(root: Path, word: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "page.md").write_text(f"# Page\n\nIt is the {word} text of {root.name}.\n")
    return root


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Night]:
    """A second night, stopped before it publishes; the first one is current."""
    folder = tmp_path_factory.mktemp("night")
    roots = {name: _write(folder / name, "earlier") for name in ("notes", "papers")}
    given = {name: {"root": str(root)} for name, root in roots.items()}
    settings = parse(
        {
            "collections": given,
            "embed": {"model": small_model(), "workers": 1},
            "engine": {"name": "inline"},
            "limits": {},
        },
        "test",
    )
    store, caught = Store(folder / "store"), dict[str, Any]()
    build_snapshot(settings, store, PlainDriver(), Silent())
    for root in roots.values():
        _write(root, "later")

    def stop(staged: StagedSnapshot, record: CorpusRecord, _: ParseCache) -> None:
        shutil.copytree(staged.staging.path, folder / "staged")
        caught.update(snapshot=staged, record=record)
        raise Killed

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):
        patched.setattr(publishing, "_write_down", stop)
        build_snapshot(settings, store, PlainDriver(), Silent())
    gc.freeze()  # publishing collects garbage, of what is there by now too: most of the time of a kill
    yield _Night(store.root, folder / "staged", settings=settings, **caught)
    gc.unfreeze()


def _killed(night: _Night, folder: Path, nth: int) -> bool:
    """Publish in a copy of the store, and die at the n-th call; return whether there was one."""
    store = Store(copied_store(night.store, folder))
    cache = ParseCache(folder)
    with store.lock("index"):
        staging = store.stage()
        shutil.copytree(night.staged, staging.path, dirs_exist_ok=True)
        staged = replace(night.snapshot, staging=Staging(staging.path))
        run = RunContext(night.settings, folder)
        try:
            with using(Dying(nth)):
                publishing.publish(run, store, staged, night.record, cache, None)
                write_run(folder, {"snapshot": staged.manifest.snapshot_id()})
        except Killed:
            return True
    return False


def _said(store: Path) -> tuple[str, str]:
    """What the current snapshot says of the papers, and what a night without them falls back to."""
    with Store(store).open() as snapshot:
        rows = snapshot.table("documents", ["collection", "text"]).to_pylist()
        published = "".join(row["text"] for row in rows if row["collection"] == "papers")
        cache = ParseCache(store)
        known = cache.collections(snapshot.id)
    assert "papers" in known, "a collection that fails on the next night would fail that night"
    texts = joined(cache.rows(known["papers"].keys)).documents["text"].to_pylist()
    return published, "".join(texts)


def test_at_whatever_call_a_run_is_killed_a_failed_collection_keeps_what_is_published(
    night: _Night, tmp_path: Path
) -> None:
    windows, calls = _every_kill(night, tmp_path / "killed")
    assert set(windows) == {"earlier", "later"}
    assert calls > 60
    print(f"killed at each of {calls - 1} calls")
    for word, first in windows.items():
        _next_night_with_failing_papers(night, tmp_path / f"next-{word}", first, word)


def _every_kill(night: _Night, folder: Path) -> tuple[dict[str, int], int]:
    """Kill at each call; return the first call that left each of the two texts current, and the calls."""
    windows = dict[str, int]()
    for nth in range(1, 5_000):
        shutil.rmtree(folder, ignore_errors=True)
        killed = _killed(night, folder, nth)
        published, fallen_back = _said(folder)
        assert published == fallen_back, f"killed at call {nth}"
        windows.setdefault("later" if "later" in published else "earlier", nth)
        if not killed:
            return windows, nth
    raise AssertionError("publishing never ends")


def _newest(cache: ParseCache, _: object) -> dict[str, CollectionRecord]:
    """What the cache was told last, whichever snapshot is current."""
    last = max(cache._folder.glob("collections*.json"), key=lambda path: path.stat().st_mtime_ns)
    given = json.loads(last.read_bytes())["collections"]
    return {name: parse_cache._published(each) for name, each in given.items()}


def _record_after_publishing(patched: pytest.MonkeyPatch) -> None:
    record, written = publishing._write_down, list[Any]()
    patched.setattr(publishing, "_write_down", lambda *given: written.append(given))
    patched.setattr(publishing, "_tidy", lambda *_: record(*written.pop()))


_MUTATIONS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "what the cache was told last": lambda patched: patched.setattr(ParseCache, "collections", _newest),
    "recorded after publishing": _record_after_publishing,
}


@pytest.mark.parametrize("mutation", list(_MUTATIONS)[: None if ALL else 1])
def test_a_fallback_to_anything_but_the_current_snapshot_is_noticed(
    mutation: str, night: _Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _MUTATIONS[mutation](monkeypatch)
    with pytest.raises(AssertionError, match=r"killed at call|would fail that night"):
        _every_kill(night, tmp_path / "killed")


def _next_night_with_failing_papers(night: _Night, folder: Path, nth: int, word: str) -> None:
    """The whole night after a kill, with the folder of a collection away."""
    _killed(night, folder, nth)
    papers = Path(night.settings.collections["papers"].root)
    aside = papers.rename(papers.with_name("unmounted"))
    try:
        result = build_snapshot(night.settings, Store(folder), PlainDriver(), Silent())
    finally:
        aside.rename(papers)
    assert list(result.failed) == ["papers"]
    published, _ = _said(folder)
    assert f"the {word} text" in published
