"""Nights over an object store: only what changed is read, and no fault of the store removes a document."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from noctule.artifacts.cache.source_hashes import SourceHashes, source_key
from noctule.artifacts.disk.layout import SOURCE_HASHES
from noctule.artifacts.store.store import Store
from noctule.flows.report.dry_run import dry_run
from noctule.flows.run import retry
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.run.workers import WorkStep
from noctule.flows.sources import file_hashes
from noctule.flows.stages import sources
from noctule.flows.stages.parse_batch import FileBatch, ParseVerdict, parse_files
from noctule.flows.stages.sources import HashedSources, Listing, discover, hash_sources
from noctule.pipeline import source_files
from noctule.pipeline.errors import SourceUnavailable
from noctule.pipeline.settings import reading
from tests.faulty_store import FaultyStore, faulty_store
from tests.pictures import notebook, png

ROOT = "faulty://bucket"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FaultyStore]]:
    monkeypatch.setattr(retry, "_PAUSES_S", (0.0, 0.0))
    with faulty_store() as empty:
        yield empty


@dataclass(frozen=True)
class Night:
    """What a night read, and the keys of its groups."""

    listing: Listing
    hashed: HashedSources
    read: list[str]


def night(folder: Path, store: type[FaultyStore], start: str | None = None, **more: object) -> Night:
    given = {"collections": {"c": {"root": ROOT, **more}}, "limits": {"max_shrink_share": 1.0}}
    run = RunContext(reading.parse(given, where="a test"), folder, BuildOptions(start=start))
    store.requests.clear()
    listing = discover(run, Store(folder))
    hashed = hash_sources(run, listing, Store(folder))
    assert listing is not None and hashed is not None
    return Night(listing, hashed, store.asked("read"))


def ten(store: type[FaultyStore]) -> None:
    store.put(**{f"{number}.md": f"# Owl {number}" for number in range(10)}, **{"owl.png": png(4, 3)})


def test_a_night_reads_only_what_changed(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    first, second = night(tmp_path, store), night(tmp_path, store)
    assert (len(first.read), second.read) == (11, [])
    assert (second.hashed.keys, second.hashed.assets) == (first.hashed.keys, first.hashed.assets)
    store.put(**{"3.md": "# Another owl", "new.md": "# New", "owl.png": png(5, 3)})
    third = night(tmp_path, store)
    assert third.read == ["3.md", "new.md", "owl.png"]
    assert 0 < len(set(third.hashed.keys) - set(first.hashed.keys)) <= 3


def test_a_notebook_that_did_not_change_is_neither_read_nor_decoded(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_files, "_images_of", pytest.fail)
    store.put(**{"a.md": "# A", "b.ipynb": notebook(png(4, 3))})
    first, second = night(tmp_path, store), night(tmp_path, store)
    assert (first.read, second.read) == (["a.md", "b.ipynb"], [])
    assert list(second.hashed.inputs()) == list(first.hashed.inputs())
    store.put(**{"b.ipynb": notebook(png(5, 3))})
    third = night(tmp_path, store)
    assert third.read == ["b.ipynb"] and third.hashed.keys != first.hashed.keys


def test_keys_are_those_of_a_run_that_knows_nothing(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    night(tmp_path / "a", store)
    store.put(**{"3.md": "# Another owl"})
    known, fresh = night(tmp_path / "a", store), night(tmp_path / "b", store)
    assert (known.hashed.keys, list(known.hashed.inputs())) == (
        fresh.hashed.keys,
        list(fresh.hashed.inputs()),
    )
    assert len(known.read) < len(fresh.read)


def test_what_was_uploaded_again_with_the_same_bytes_is_read_and_no_more(
    store: type[FaultyStore], tmp_path: Path
) -> None:
    ten(store)
    first = night(tmp_path, store)
    store.versions["bucket/3.md"] = "an-upload-in-parts-2"
    again = night(tmp_path, store)
    assert (again.read, again.hashed.keys) == (["3.md"], first.hashed.keys)
    assert night(tmp_path, store).read == []


def test_an_etag_that_stays_though_bytes_change_is_overruled_by_hand(
    store: type[FaultyStore], tmp_path: Path
) -> None:
    ten(store)
    store.versions["bucket/3.md"] = "fixed"
    first = night(tmp_path, store)
    store.put(**{"3.md": "# OWL 3"})
    assert night(tmp_path, store).hashed.keys == first.hashed.keys  # it is what the store says
    anew = night(tmp_path, store, start="hash")
    assert len(anew.read) == 11 and anew.hashed.keys != first.hashed.keys
    after = night(tmp_path, store)
    assert (after.read, after.hashed.keys) == ([], anew.hashed.keys)  # and what is remembered is put right


def test_documents_that_include_others_are_read_each_night(store: type[FaultyStore], tmp_path: Path) -> None:
    store.put(**{"a.md": '# A\n\n--8<-- "b.md"\n', "b.md": "# B"})
    first = night(tmp_path, store)
    store.put(**{"b.md": "# Another"})
    second = night(tmp_path, store)
    assert "a.md" in second.read and first.hashed.keys != second.hashed.keys


def test_a_change_within_the_clocks_grain_is_not_taken_for_none(
    store: type[FaultyStore], tmp_path: Path
) -> None:
    """Two changes within a second bear one time: what changed just now is not remembered."""
    store.put(**{"a.md": "# A", "b.md": "# B"})
    for name, age_s in {"a": 0.0, "b": 3600.0}.items():
        store.more[f"bucket/{name}.md"] = {"ETag": "", "mtime": time.time() - age_s}
    night(tmp_path, store)
    store.put(**{"a.md": "# C"})
    assert night(tmp_path, store).read == ["a.md"]


def test_without_a_version_content_decides(store: type[FaultyStore], tmp_path: Path) -> None:
    store.put(**{"a.md": "# A"})
    store.more["bucket/a.md"] = {"ETag": ""}
    night(tmp_path, store)
    assert night(tmp_path, store).read == ["a.md"]


def test_other_settings_or_another_address_know_nothing(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    night(tmp_path, store)
    assert len(night(tmp_path, store, language="de").read) == 11


def test_versions_that_are_gone_are_forgotten_in_time(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    night(tmp_path, store)
    for _ in range(3):
        for key in list(store.objects):
            store.objects[key] += b" "
        night(tmp_path, store)
    assert len(SourceHashes(tmp_path)) < 3 * 11


def test_a_damaged_memory_costs_reading_everything(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    first = night(tmp_path, store)
    for segment in (tmp_path / SOURCE_HASHES).iterdir():
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 1
        segment.write_bytes(content)
    again = night(tmp_path, store)
    assert (len(again.read), again.hashed.keys) == (11, first.hashed.keys)
    assert night(tmp_path, store).read == []


def test_a_store_that_fails_on_the_way_keeps_what_was_read(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten(store)

    def fault(request: str, key: str) -> None:
        if key == "7.md" and request == "read":
            raise PermissionError("403 ExpiredToken")

    store.fault = fault
    failed = night(tmp_path, store)
    assert isinstance(failed.hashed.failures["c"], SourceUnavailable)
    assert not failed.hashed.keys and not failed.hashed.assets
    store.fault = lambda request, key: None
    assert "7.md" in night(tmp_path, store).read


def test_a_throttled_reading_is_tried_again(store: type[FaultyStore], tmp_path: Path) -> None:
    ten(store)
    left = {f"{number}.md": 2 for number in range(10)}

    def fault(request: str, key: str) -> None:
        if request == "read" and left.get(key, 0):
            left[key] -= 1
            raise OSError(16, "SlowDown")

    store.fault = fault
    assert not night(tmp_path, store).hashed.failures and not any(left.values())


def before(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    """The current snapshot has documents at these paths."""
    monkeypatch.setattr(sources, "documents_before", lambda _: {"c": dict.fromkeys(paths, "")})


def test_a_listing_that_ends_early_removes_nothing(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten(store)
    before(monkeypatch, *(f"{number}.md" for number in range(10)))
    really = FaultyStore.ls
    monkeypatch.setattr(FaultyStore, "ls", lambda self, path, **more: really(self, path, **more)[:6])
    listing = night(tmp_path, store).listing
    assert "exists but was not listed" in str(listing.failures["c"]) and not listing.files


def test_a_listing_that_lacks_an_image_is_not_complete_either(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten(store)
    monkeypatch.setattr(sources, "published_assets", lambda *_: {"c": {"owl.png", "gone.png", "no.part"}})
    assert not night(tmp_path, store).listing.failures
    really = FaultyStore.ls
    monkeypatch.setattr(FaultyStore, "ls", lambda self, path, **more: really(self, path, **more)[:10])
    assert "owl.png exists" in str(night(tmp_path, store).listing.failures["c"])


def test_what_is_really_gone_is_removed(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten(store)
    before(monkeypatch, *(f"{number}.md" for number in range(10)), "excluded.md")
    store.put(**{"excluded.md": "# X"})
    del store.objects["bucket/3.md"]
    found = night(tmp_path, store, exclude=["excluded.md"])
    assert not found.listing.failures and len(found.listing.files) == 9
    assert store.asked("info")[:2] != ["excluded.md"] and "3.md" in store.asked("info")


def test_of_very_many_that_are_gone_some_are_asked_for(
    store: type[FaultyStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten(store)
    before(monkeypatch, *(f"gone-{number}.md" for number in range(100)))
    monkeypatch.setattr(file_hashes, "_MAX_CONFIRMED", 10)
    assert not night(tmp_path, store).listing.failures
    assert len([key for key in store.asked("info") if key.startswith("gone")]) == 10


def test_a_worker_that_waits_for_a_store_rejects_no_document(
    store: type[FaultyStore], tmp_path: Path
) -> None:
    ten(store)
    found = night(tmp_path, store)
    settings = reading.parse({"collections": {"c": {"root": ROOT}}}, where="a test")
    batch = FileBatch(found.hashed.groups[:1], settings, parse_fingerprints(settings))
    late = replace(batch, verdicts={0: ParseVerdict("took longer than 60 seconds", "", False)})
    with pytest.raises(SourceUnavailable, match="took longer"):
        parse_files(late)
    steps: list[WorkStep] = []
    assert parse_files(batch, steps.append)["key"].to_pylist() == list(found.hashed.keys[:1])


def test_a_forecast_reads_what_a_night_would_and_writes_nothing(
    store: type[FaultyStore], tmp_path: Path
) -> None:
    ten(store)
    given = {"collections": {"c": {"root": ROOT}}}
    run = RunContext(reading.parse(given, where="a test"), tmp_path)
    first = dry_run(run, Store(tmp_path))
    assert (first.collections[0].files, first.bytes) == (10, 70)
    assert not (tmp_path / SOURCE_HASHES).exists()
    night(tmp_path, store)
    store.requests.clear()
    second = dry_run(run, Store(tmp_path))
    assert (second.collections[0].files, second.bytes, store.asked("read")) == (10, 0, [])


def test_a_key_is_of_one_version_of_one_file() -> None:
    given = ("d", ROOT, "a.md", "1")
    assert len({source_key(*given), source_key(*given, "b"), source_key("d", ROOT, "a.m", "d1")}) == 3
