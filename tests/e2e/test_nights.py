"""Night after night: what is unchanged is not done again, and the result is that of a run from nothing."""

from __future__ import annotations

import random
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import pytest

from noctule.artifacts.disk import locks
from noctule.artifacts.disk.layout import EMBEDDINGS, NIGHT_LOCK, PARSE_CACHE, collections_file
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.store.night_reports import read_night
from noctule.artifacts.store.staging import Staging
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.graph import context_of
from noctule.flows.job import run_job
from noctule.flows.report import sheets
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import MissingRoot, SourceError
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.settings import EngineSettings, Settings
from tests.command_line import CommandLine
from tests.sentence_model_builder import small_model, small_model_table

_SMALL = {
    "engine": {"name": "inline"},
    "static_encoder": {"phrases": 20, "spans": 20, "passages": 50},
    "limits": {"max_shrink_share": 1.0},
}


def _settings(**collections: Path) -> Settings:
    given = {name: {"root": str(root)} for name, root in collections.items()}
    embed = {"model": small_model()}
    return reading.parse({"collections": given, "embed": embed, **_SMALL}, where="a test")


def _with_processes(settings: Settings) -> Settings:
    """The settings with the engine that a user gets, whose processes take seconds to start."""
    return settings.model_copy(update={"engine": EngineSettings()})


def _build(settings: Settings, store: Path, options: BuildOptions | None = None) -> BuildResult:
    return build_snapshot(settings, Store(store), PlainDriver(), Silent(), options)


def _note(folder: Path, number: int, more: str = "") -> None:
    folder.mkdir(exist_ok=True)
    text = f"# Note {number}\n\nOwl {number} hunts near [[note-{(number * 7) % 40}]]. {more}\n"
    (folder / f"note-{number}.md").write_text(text, "utf-8")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for number in range(40):
        _note(tmp_path / "notes", number)
    return tmp_path / "notes"


def _from_nothing(settings: Settings, store: Path, fresh: Path) -> BuildResult:
    """A run in a store that has the same vectors and nothing else."""
    shutil.copytree(store / EMBEDDINGS, fresh / EMBEDDINGS)
    return _build(settings, fresh)


def test_nights_of_changes_end_as_a_run_from_nothing(notes: Path, tmp_path: Path) -> None:
    for number in range(40, 160):
        _note(notes, number)
    settings, store = _settings(notes=notes), tmp_path / "store"
    _build(settings, store)
    chance = random.Random(7)
    for night in range(3):
        for number in chance.sample(range(160), 3):
            _note(notes, number, f"Changed in night {night}: SQL injection (SQLi) {chance.random()}.")
        _note(notes, 160 + night, "A new one.")
        (notes / f"note-{chance.randrange(160)}.md").unlink(missing_ok=True)
        moved = sorted(notes.glob("*.md"))[chance.randrange(20)]
        moved.rename(notes / f"moved-{night}.md")
        changed = _build(settings if night else _with_processes(settings), store)
        assert changed.changed
        assert 0 < changed.parsed < 100
        anew = _from_nothing(settings, store, tmp_path / f"fresh-{night}")
        assert anew.snapshot == changed.snapshot
        assert anew.parsed == len(list(notes.glob("*.md")))


def test_a_moved_text_is_not_encoded_again(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    _build(settings, store)
    (notes / "note-3.md").rename(notes / "elsewhere.md")
    shutil.copy(notes / "note-4.md", notes / "copied.md")
    assert _build(settings, store).encoded == 0


def test_nothing_changed_is_no_new_snapshot_and_no_work(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    first = _build(settings, store)
    again = _build(settings, store)
    assert (again.snapshot, again.changed, again.generation) == (first.snapshot, False, first.generation)
    assert (again.documents, again.passages) == (first.documents, first.passages)
    assert {time.stage for time in again.times} <= {"judged queries", "discover", "hash"}
    other = settings.model_copy(update={"lexical": settings.lexical.model_copy(update={"k1": 0.7})})
    assert _build(other, store).snapshot != first.snapshot


def test_a_damaged_snapshot_is_made_again_though_nothing_changed(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    first = _build(settings, store)
    table = Store(store).path_of(first.snapshot) / "documents.parquet"
    table.chmod(0o644)
    table.write_bytes(b"not what it was")
    again = _build(settings, store)
    assert again.snapshot == first.snapshot
    assert again.parsed == 0
    Store(store).open().close()


def test_a_collection_that_fails_keeps_its_documents_and_the_others_go_on(
    notes: Path, tmp_path: Path
) -> None:
    _note(tmp_path / "papers", 1)
    settings, store = _settings(notes=notes, papers=tmp_path / "papers"), tmp_path / "store"
    first = _build(settings, store)
    (tmp_path / "papers").rename(tmp_path / "unmounted")
    _note(notes, 1, "Changed while the papers were away.")
    result = _build(settings, store)
    assert list(result.failed) == ["papers"]
    assert "does not exist" in result.failed["papers"]
    assert result.changed and result.documents == first.documents
    assert [(r.collection, r.kind) for r in result.rejections] == [("papers", "noted")]
    with Store(store).open() as snapshot:
        assert snapshot.table("documents").column("collection").to_pylist().count("papers") == 1
    assert "papers" in _build(settings, store).failed  # it is tried again every night
    (tmp_path / "unmounted").rename(tmp_path / "papers")
    whole = _build(settings, store)
    assert not whole.failed and not whole.rejections
    assert whole.snapshot == _from_nothing(settings, store, tmp_path / "fresh").snapshot


def test_documents_that_nothing_remembers_are_not_lost_with_their_collection(
    notes: Path, tmp_path: Path
) -> None:
    _note(tmp_path / "papers", 1)
    settings, store = _settings(notes=notes, papers=tmp_path / "papers"), tmp_path / "store"
    first = _build(settings, store)
    shutil.rmtree(store / PARSE_CACHE)
    shutil.rmtree(tmp_path / "papers")
    with pytest.raises(MissingRoot, match="current snapshot are not in the parse cache"):
        _build(settings, store)
    assert Store(store).current() == first.snapshot


def _texts(store: Path, collection: str) -> str:
    """All that the current snapshot says of a collection."""
    with Store(store).open() as snapshot:
        rows = snapshot.table("passages", ["doc_id", "text"]).to_pylist()
        return " ".join(row["text"] for row in rows if row["doc_id"].startswith(f"{collection}:"))


def _two_publications(notes: Path, tmp_path: Path) -> tuple[Settings, Path]:
    """Two snapshots whose papers say one thing and another; then the papers are gone."""
    settings, store = _settings(notes=notes, papers=tmp_path / "papers"), tmp_path / "store"
    for word in ("earlier", "later"):
        _note(tmp_path / "papers", 1, f"It is the {word} text.")
        _build(settings, store)
    shutil.rmtree(tmp_path / "papers")
    return settings, store


@pytest.mark.parametrize("start", [None, "links"])
def test_after_a_rollback_a_failed_collection_keeps_what_readers_see(
    notes: Path, tmp_path: Path, start: Literal["links"] | None
) -> None:
    settings, store = _two_publications(notes, tmp_path)
    Store(store).rollback()
    _note(notes, 1, "Changed after the rollback.")
    _build(settings, store, BuildOptions(start=start))
    assert "earlier" in _texts(store, "papers") and "later" not in _texts(store, "papers")


def test_what_another_snapshot_said_is_never_published_in_place_of_the_current(
    notes: Path, tmp_path: Path
) -> None:
    settings, store = _two_publications(notes, tmp_path)
    later = Store(store).current()
    earlier = Store(store).rollback()
    Store(store).rollback()
    records = store / PARSE_CACHE
    shutil.copy(records / collections_file(earlier), records / collections_file(str(later)))
    shutil.copy(records / collections_file(earlier), records / "collections.json")
    _note(notes, 1, "Changed.")
    with pytest.raises(MissingRoot, match="current snapshot are not in the parse cache"):
        _build(settings, store)
    with pytest.raises(SourceError, match="notes, papers: not in the parse cache"):
        _build(settings, store, BuildOptions(start="links"))
    assert Store(store).current() == later


def test_a_kill_right_after_publishing_loses_nothing_that_was_published(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, store = _settings(notes=notes, papers=tmp_path / "papers"), tmp_path / "store"
    _note(tmp_path / "papers", 1, "It is the earlier text.")
    _build(settings, store)
    _note(tmp_path / "papers", 1, "It is the later text.")
    really = Store.publish

    def killed(self: Store, staging: Staging, manifest: Manifest) -> None:
        really(self, staging, manifest)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            _build(settings, store)
    shutil.rmtree(tmp_path / "papers")
    _note(notes, 1, "Changed.")
    assert list(_build(settings, store).failed) == ["papers"]
    assert "later" in _texts(store, "papers") and "earlier" not in _texts(store, "papers")


def test_all_collections_failing_fail_the_run(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    _build(settings, store)
    shutil.rmtree(notes)
    with pytest.raises(MissingRoot):
        _build(settings, store)


def test_a_run_may_begin_at_a_stage(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    with pytest.raises(SourceError, match="not in the parse cache"):
        _build(settings, tmp_path / "empty", BuildOptions(start="embed"))
    first = _build(settings, store)
    _note(notes, 1, "Seen by no stage from embed on.")
    embedded = _build(settings, store, BuildOptions(start="embed"))
    assert (embedded.snapshot, embedded.parsed) == (first.snapshot, 0)
    assert embedded.encoded == first.encoded
    linked = _build(settings, store, BuildOptions(start="links"))
    assert (linked.snapshot, linked.parsed, linked.encoded) == (first.snapshot, 0, 0)
    parsed = _build(settings, store, BuildOptions(start="parse"))
    assert parsed.parsed == 40
    assert parsed.snapshot != first.snapshot


def test_a_run_that_begins_later_leaves_out_what_the_whole_run_left_out(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("# Elsewhere")
    (notes / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (notes / "large.md").write_bytes(b"owl " * 2_000_000)
    (tmp_path / "none").mkdir()
    settings, store = _settings(notes=notes, none=tmp_path / "none"), tmp_path / "store"
    first = _build(settings, store, BuildOptions(allow_empty=True))
    assert sorted(r.path for r in first.rejections) == ["large.md", "link.md"]
    linked = _build(settings, store, BuildOptions(start="links"))
    assert (linked.snapshot, linked.rejections) == (first.snapshot, first.rejections)


def test_what_other_settings_understood_is_no_beginning(notes: Path, tmp_path: Path) -> None:
    settings, store = _settings(notes=notes), tmp_path / "store"
    first = _build(settings, store)
    chunk = settings.chunk.model_copy(update={"max_tokens": 64})
    with pytest.raises(SourceError, match="parsed with other settings") as caught:
        _build(settings.model_copy(update={"chunk": chunk}), store, BuildOptions(start="embed"))
    assert "--from parse" in caught.value.hint
    assert Store(store).current() == first.snapshot


def test_a_collection_that_fails_is_in_the_report_of_every_night(notes: Path, tmp_path: Path) -> None:
    _note(tmp_path / "papers", 1)
    (tmp_path / "noctule.toml").write_text(
        f'[collections.notes]\nroot = "{notes}"\n[collections.papers]\nroot = "{tmp_path / "papers"}"\n'
        '[engine]\nname = "inline"\n[static_encoder]\nphrases = 0\nspans = 0\npassages = 0\n'
        + small_model_table()
    )
    request, store = IndexRequest(tmp_path / "store", tmp_path / "noctule.toml"), tmp_path / "store"
    run_job(context_of(request), PlainDriver(), Silent())
    shutil.rmtree(tmp_path / "papers")
    for night in (1, 2):
        _note(notes, 1, f"Changed in night {night}.")
        built = run_job(context_of(request), PlainDriver(), Silent()).build
        assert built is not None
        report = read_night(store, built.snapshot)
        assert report is not None and "does not exist" in report["failed"]["papers"]
        assert report["refused"]["count"] == 0  # the note on the collection is not a file that was left out
        assert "failed: papers" in sheets.markdown(report)


def test_two_nights_at_once_are_one(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "noctule.toml").write_text(
        f'[collections.notes]\nroot = "{notes}"\n[static_encoder]\nphrases = 0\nspans = 0\npassages = 0\n'
        + small_model_table()
    )
    command = CommandLine(tmp_path, tmp_path / "store")
    for expected in (True, False):
        with locks.exclusive(tmp_path / "store" / NIGHT_LOCK, "nightly") if not expected else nullcontext():
            done = command.run("nightly", "--no-prefect", "--json", "--out", str(tmp_path / "public"))
        assert done.code == (0 if expected else 4), done.err
    assert done.error["kind"] == "StoreBusy"


def test_a_night_without_changes_loads_little(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "noctule.toml").write_text(
        f'[collections.notes]\nroot = "{notes}"\n[static_encoder]\nphrases = 0\nspans = 0\npassages = 0\n'
        + small_model_table()
    )
    command = CommandLine(tmp_path, tmp_path / "store")
    night = ("nightly", "--no-prefect", "--json", "--out", str(tmp_path / "public"))
    assert command.run(*night).code == 0
    done, modules = command.run_and_list_modules(*night)
    assert done.code == 0
    assert not done.json["changed"]
    slow = {"prefect", "torch", "transformers", "sentence_transformers", "docutils"}
    assert "noctule.flows.cli.main" in modules
    assert not slow & modules


def test_a_failed_collection_is_exit_code_5_and_named(notes: Path, tmp_path: Path) -> None:
    _note(tmp_path / "papers", 1)
    (tmp_path / "noctule.toml").write_text(
        f'[collections.notes]\nroot = "{notes}"\n[collections.papers]\nroot = "{tmp_path / "papers"}"\n'
        "[static_encoder]\nphrases = 0\nspans = 0\npassages = 0\n" + small_model_table()
    )
    command = CommandLine(tmp_path, tmp_path / "store")
    assert command.run("index", "--no-prefect", "--json").code == 0
    shutil.rmtree(tmp_path / "papers")
    done = command.run("index", "--no-prefect", "--json")
    assert done.code == 5
    assert done.error["kind"] == "PartialFailure"
    assert done.error["where"] == "papers"
    assert done.json["documents"] == 41
    assert "papers" in command.run("report").out
    wrong = command.run("index", "--no-prefect", "--json", "--from", "somewhere")
    assert (wrong.code, wrong.error["kind"]) == (2, "SettingsError")
    shutil.rmtree(notes)
    recalled = command.run("index", "--no-prefect", "--json", "--from", "links")
    assert (recalled.code, recalled.json["documents"]) == (0, 41)  # no file is needed
