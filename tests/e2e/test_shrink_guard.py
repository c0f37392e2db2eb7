"""A collection that lost many documents is not published, unless that was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import CollectionShrank
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.settings import Settings
from tests.command_line import CommandLine

_SMALL = {
    "engine": {"name": "inline"},
    "vocabulary": {"max_terms": 0},
    "static_encoder": {"phrases": 0, "spans": 0, "passages": 0},
}


def _notes(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"note-{number}.md").write_text(
            f"# Note {number}\n\nWhat owl {number} heard in the wood.\n"
        )
    return folder


def _settings(folder: Path, **limits: float) -> Settings:
    given = {"collections": {"notes": {"root": str(folder)}}, "limits": limits, **_SMALL}
    return reading.parse(given, where="here")


def _build(settings: Settings, store: Store, options: BuildOptions | None = None) -> int:
    return build_snapshot(settings, store, PlainDriver(), Silent(), options).documents


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store whose current snapshot has ten notes."""
    store = Store(tmp_path / "store")
    assert _build(_settings(_notes(tmp_path / "notes", 10)), store) == 10
    return store


def test_a_collection_that_lost_too_much_stops_the_run_with_figures(store: Store, tmp_path: Path) -> None:
    before = store.current()
    for number in range(4):
        (tmp_path / "notes" / f"note-{number}.md").unlink()
    with pytest.raises(CollectionShrank, match="lose 4 of its 10 documents") as caught:
        _build(_settings(tmp_path / "notes"), store)
    assert caught.value.exit_code == 2
    assert "--accept-shrink" in caught.value.hint
    assert store.current() == before


def test_a_loss_within_the_limit_and_an_accepted_one_are_published(store: Store, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "notes" / f"note-{number}.md").unlink()
    assert _build(_settings(tmp_path / "notes"), store) == 7
    for number in range(3, 9):
        (tmp_path / "notes" / f"note-{number}.md").unlink()
    assert _build(_settings(tmp_path / "notes"), store, BuildOptions(accept_shrink=True)) == 1


def test_documents_that_cannot_be_used_any_more_are_lost_too(store: Store, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / "notes" / f"note-{number}.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CollectionShrank, match="4 of its 10"):
        _build(_settings(tmp_path / "notes"), store)


def test_a_renamed_folder_has_lost_nothing(store: Store, tmp_path: Path) -> None:
    inner = tmp_path / "notes" / "inner"
    inner.mkdir()
    for path in sorted((tmp_path / "notes").glob("*.md")):
        path.rename(inner / path.name)
    assert _build(_settings(tmp_path / "notes", max_shrink_share=0.0), store) == 10


def test_the_command_line_says_it_in_the_shape_of_every_error(store: Store, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / "notes" / f"note-{number}.md").unlink()
    command = CommandLine(tmp_path, store.root)
    refused = command.run("index", "notes", "--no-prefect", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "CollectionShrank")
    assert refused.out == ""
    accepted = command.run("index", "notes", "--no-prefect", "--json", "--accept-shrink")
    assert accepted.code == 0, accepted.err
    assert json.loads(accepted.out)["documents"] == 6


def _withdraw(folder: Path, numbers: range) -> None:
    for number in numbers:
        (folder / f"note-{number}.md").write_text(
            f"---\ndraft: true\n---\n# Note {number}\n\nWhat it heard.\n"
        )


def test_drafts_are_neither_lost_nor_failed(store: Store, tmp_path: Path) -> None:
    _withdraw(tmp_path / "notes", range(6))
    result = build_snapshot(_settings(tmp_path / "notes"), store, PlainDriver(), Silent())
    assert (result.documents, result.skipped, result.quarantined) == (4, 6, 0)
    assert {each.reason for each in result.rejections} == {"is a draft (draft: true)"}


def test_drafts_do_not_hide_what_is_lost_beside_them(store: Store, tmp_path: Path) -> None:
    _withdraw(tmp_path / "notes", range(3))
    _withdraw(_notes(tmp_path / "notes", 0), range(20, 30))
    for number in range(6, 10):
        (tmp_path / "notes" / f"note-{number}.md").unlink()
    with pytest.raises(CollectionShrank, match="lose 4 of its 10 documents"):
        _build(_settings(tmp_path / "notes"), store)
