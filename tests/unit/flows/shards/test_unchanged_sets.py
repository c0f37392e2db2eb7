"""A night on which nothing changed only lists the files; any other looks at the shards that have changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.engines.local import InlineCaller
from noctule.flows.incremental import unchanged
from noctule.flows.report.result import BuildResult
from noctule.flows.shards import survey
from noctule.flows.shards.files import of_shard
from noctule.flows.sources import publication_dates
from noctule.flows.stages import parse, sources
from noctule.pipeline import source_files
from noctule.pipeline.errors import DamagedSnapshot
from noctule.pipeline.filesystems import mounts
from noctule.pipeline.model import Source
from noctule.pipeline.source_files import FoundFile
from tests.unit.flows.shards.test_shards import Built, built, copy, settings_for  # noqa: F401  # fixtures

pytestmark = pytest.mark.skipif(
    not mounts.has_change_times(Path("/tmp")), reason="the file system has no times of change"
)
BOOK = "shelf0/book04.md"


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as written long ago: no program can set the time of a change."""
    monkeypatch.setattr(source_files, "_UNSETTLED_S", -3600.0)


class Nights:
    """Builds of one set, each with the passes that it called and the files that it read."""

    def __init__(self, built: Built, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
        self.root, self.store = built.root, built.sharded
        self.passes, self.read = list[str](), list[str]()
        watch, really = InlineCaller.watch, sources.read_source

        def watched(caller: InlineCaller, stage: Any, batch: Any, limit_s: float) -> Any:
            work = getattr(stage, "args", (stage,))[0]
            self.passes.append(getattr(work, "__name__", "set"))
            return watch(caller, stage, batch, limit_s)

        def reading(file: FoundFile, *given: Any) -> Source:
            self.read.append(file.path)
            return really(file, *given)

        monkeypatch.setattr(InlineCaller, "watch", watched)
        monkeypatch.setattr(sources, "read_source", reading)

    def build(self, **shards: object) -> BuildResult:
        self.passes.clear()
        self.read.clear()
        return build_snapshot(settings_for(self.root, **{"count": 3, "drift": 0, **shards}), self.store)

    def anew(self, folder: Path) -> str:
        """The name of the set that a build from nothing makes."""
        return build_snapshot(settings_for(self.root, count=3, drift=0), Store(folder)).snapshot


@pytest.fixture
def nights(copy: Built, monkeypatch: pytest.MonkeyPatch) -> Nights:  # noqa: F811
    found = Nights(copy, monkeypatch)
    found.build()  # the folder was copied: its files are others
    return found


def test_nothing_changed_is_one_listing(nights: Nights) -> None:
    before, generation = nights.store.current(), nights.store.generation()
    same = nights.build()
    assert nights.passes == ["list_set"] and nights.read == []
    assert (same.snapshot, same.changed, same.parsed, same.encoded) == (before, False, 0, 0)
    assert (same.generation, same.documents) == (generation, 39)
    assert {"survey", "set"}.isdisjoint(time.stage for time in same.times)
    assert nights.store.current() == before


def test_a_touched_file_is_read_and_the_set_stays(nights: Nights) -> None:
    before = nights.store.current()
    (nights.root / BOOK).touch()
    assert nights.build().snapshot == before and nights.read == [BOOK]
    assert nights.build().snapshot == before and nights.passes == ["list_set"]


def test_changes_are_found_in_the_shards_that_have_them(nights: Nights, tmp_path: Path) -> None:
    """An edit that keeps size and time of modification, a file more and one less, in turn."""
    path = nights.root / BOOK
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"dusk", b"dawn"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    edited = nights.build()
    assert edited.changed and set(nights.read) == {BOOK} and nights.passes.count("survey_shard") == 3
    assert edited.snapshot == nights.anew(tmp_path / "edited")
    (nights.root / "shelf1/new.md").write_text("# New\n\nOf herons.\n")
    assert nights.build().documents == 40 and set(nights.read) == {"shelf1/new.md"}
    (nights.root / "shelf1/new.md").unlink()
    gone = nights.build()
    assert (gone.documents, gone.snapshot, nights.read) == (39, edited.snapshot, [])


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda given: given.replace(b'"documents":1', b'"documents":2')]
)
def test_a_damaged_record_of_a_shard_is_made_again(
    damage: Callable[[bytes], bytes], nights: Nights, tmp_path: Path
) -> None:
    for name in ("0000", "0001", "0002"):
        record = of_shard(nights.store.root, name).folder / "survey.json"
        whole = record.read_bytes()
        record.write_bytes(damage(whole))
        assert record.read_bytes() != whole
    path = nights.root / BOOK
    path.write_text(path.read_text() + "\nOf wrens.\n")
    assert nights.build().snapshot == nights.anew(tmp_path / "anew")
    assert set(nights.read) >= {BOOK}


def test_damage_of_what_a_survey_left_is_found_before_it_is_used(nights: Nights, tmp_path: Path) -> None:
    for name in ("0000", "0001", "0002"):
        table = of_shard(nights.store.root, name).folder / "linking.arrow"
        content = bytearray(table.read_bytes())
        content[len(content) // 2] ^= 1
        table.write_bytes(content)
    (nights.root / "shelf1/new.md").write_text("# New\n\nOf herons.\n")
    assert nights.build().snapshot == nights.anew(tmp_path / "anew")


def test_a_damaged_shard_is_found_though_nothing_changed(nights: Nights) -> None:
    with nights.store.open() as opened:
        table = opened.parts[1].file("passages")
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    with pytest.raises(DamagedSnapshot) as caught:
        nights.build()
    assert str(table) in str(caught.value.where)


def test_a_damaged_table_of_the_set_is_made_again(nights: Nights) -> None:
    before = nights.store.current()
    with nights.store.open() as opened:
        table = opened.file("terms")
    table.write_bytes(table.read_bytes()[:-1])
    assert nights.build().snapshot == before and "survey_shard" in nights.passes
    nights.store.open().close()


def test_other_settings_code_or_stages_are_other_inputs(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights.build(drift=0.5)
    assert "survey_shard" in nights.passes and nights.read == []
    nights.build(drift=0.5)
    assert nights.passes == ["list_set"]
    nights.build(drift=0.5, count=2)
    assert nights.read  # shards know nothing of what others have read
    nights.build(drift=0.5, count=2)
    assert nights.passes == ["list_set"]
    monkeypatch.setattr(unchanged, "sources_hash", lambda _: "another version")
    nights.build(drift=0.5, count=2)
    assert nights.passes.count("survey_shard") == 2 and nights.read == []


def test_a_document_that_includes_another_is_looked_at_every_night(nights: Nights, tmp_path: Path) -> None:
    (nights.root / "part.txt").write_text("Of herons.\n")
    path = nights.root / BOOK
    path.write_text(path.read_text() + "\n{{#include ../part.txt}}\n")
    nights.build()
    nights.build()
    assert "survey_shard" in nights.passes and nights.read == [BOOK]
    (nights.root / "part.txt").write_text("Of wrens.\n")
    changed = nights.build()
    assert changed.changed and changed.snapshot == nights.anew(tmp_path / "anew")


def test_a_document_that_is_held_back_comes_on_its_day(
    nights: Nights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nights.root / "later.md").write_text("---\npublishDate: 2998-01-01\n---\n# Later\n\nOf wrens.\n")
    assert nights.build().documents == 39
    nights.build()
    assert nights.passes == ["list_set"]
    for module in (parse, unchanged, publication_dates, survey):
        monkeypatch.setattr(module, "today", lambda: "2998-01-01")
    due = nights.build()
    assert due.documents == 40 and due.snapshot == nights.anew(tmp_path / "anew")
