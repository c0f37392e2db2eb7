"""The exported model beside the snapshots: it goes with them, and is found damaged, mended and removed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from noctule.artifacts.disk.layout import MODELS, ONNX_MODEL, TOKEN_VECTORS, TOKENIZER
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.disk.manifest_records import FileEntry, QueryModel
from noctule.artifacts.remote.mirror import mirror_folder
from noctule.artifacts.remote.send import send
from noctule.artifacts.store.query_models import (
    ExportedModels,
    entry_of,
    file_name,
    is_sound,
    keep,
    model_files,
    require_sound,
    verify_file,
)
from noctule.artifacts.store.store import Published, Store
from noctule.pipeline.errors import DamagedModel, DamagedSnapshot
from noctule.pipeline.identity import canonical_json
from tests.command_line import CommandLine
from tests.snapshot_builder import build_tiny_snapshot

ONE, OTHER = b"one model" * 100, b"another model" * 100
TOKENS, VECTORS = b'{"tokenizer": 1}', b"vectors of tokens"


def record_of(model: bytes) -> QueryModel:
    contents = contents_of(model)
    return QueryModel("onnx=1", 256, "query:\n", {name: entry_of(each) for name, each in contents.items()})


def contents_of(model: bytes) -> dict[str, bytes]:
    return {ONNX_MODEL: model, TOKENIZER: TOKENS, TOKEN_VECTORS: VECTORS}


def publish(store: Store, edition: int, model: bytes = ONE) -> Published:
    record = record_of(model)
    with store.lock("test"):
        contents = contents_of(model)
        keep(store.root, {file_name(name, each): contents[name] for name, each in record.files.items()})
        staging = store.stage()
        manifest = replace(build_tiny_snapshot(staging.path, edition), query_model=record)
        return store.publish(staging, manifest)


def path_of(store: Store, model: bytes = ONE) -> Path:
    return store.root / file_name(ONNX_MODEL, entry_of(model))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / "store")
    publish(found, 0)
    return found


def test_the_manifest_keeps_the_record_or_has_none(store: Store) -> None:
    with store.open() as snapshot:
        manifest = snapshot.manifest
    assert manifest.query_model == record_of(ONE)
    assert Manifest.from_bytes(manifest.to_bytes(), "here") == manifest
    without = replace(manifest, query_model=None)
    assert b"query_model" not in without.to_bytes()
    assert Manifest.from_bytes(without.to_bytes(), "here").query_model is None


@pytest.mark.parametrize(
    "files",
    [
        {ONNX_MODEL: {"bytes": 1, "sha256": "0" * 64}, TOKENIZER: {"bytes": 1, "sha256": "0" * 64}},
        {"../model.onnx": {"bytes": 1, "sha256": "0" * 64}, TOKENIZER: {"bytes": 1, "sha256": "0" * 64}},
        {ONNX_MODEL: {"bytes": 1, "sha256": "../" * 10}, TOKENIZER: {"bytes": 1, "sha256": "0" * 64}},
    ],
    ids=["too few", "another name", "no hash"],
)
def test_a_forged_record_is_refused(store: Store, files: dict[str, object]) -> None:
    with store.open() as snapshot:
        value = {**vars_of(snapshot.manifest)}
    value["query_model"]["files"] = files
    with pytest.raises(DamagedSnapshot):
        Manifest.from_bytes(canonical_json(value).encode() + b"\n", "here")


def vars_of(manifest: Manifest) -> dict[str, dict[str, object]]:
    import json

    found: dict[str, dict[str, object]] = json.loads(manifest.to_bytes())
    return found


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[7] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1])


def exchange(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(OTHER)


@pytest.mark.parametrize("harm", [flip, cut, exchange, Path.unlink])
@pytest.mark.parametrize("name", [ONNX_MODEL, TOKENIZER, TOKEN_VECTORS])
def test_a_file_that_is_not_the_published_one_is_named(
    store: Store, harm: Callable[[Path], None], name: str
) -> None:
    record = record_of(ONE)
    path = store.root / file_name(name, record.files[name])
    assert is_sound(store.root, record)
    harm(path)
    with pytest.raises(DamagedModel, match="damaged") as error:
        require_sound(store.root, record)
    assert error.value.where == str(path) and "noctule index" in error.value.hint
    assert "--encoder static" in error.value.hint and error.value.exit_code == 3
    assert not is_sound(store.root, record)
    store.open().close()  # the snapshot itself is sound: term vectors still answer
    if harm is not flip:
        with pytest.raises(DamagedModel):
            require_sound(store.root, record, quick=True)


def test_check_names_it(store: Store, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, store.root)
    path_of(store).unlink()
    for quick in ([], ["--quick"]):
        done = command.run_in_new_interpreter("check", "--json", *quick)
        assert (done.code, done.error["kind"], done.error["where"]) == (
            3,
            "DamagedModel",
            str(path_of(store)),
        )


def test_nothing_is_published_without_its_model(store: Store) -> None:
    with store.lock("test"):
        staging = store.stage()
        manifest = replace(build_tiny_snapshot(staging.path, 1), query_model=record_of(OTHER))
        with pytest.raises(DamagedModel):
            store.publish(staging, manifest)
    with store.open() as snapshot:
        assert snapshot.manifest.query_model == record_of(ONE)


def test_prune_removes_a_model_that_no_snapshot_needs(store: Store) -> None:
    for edition in range(1, 4):
        publish(store, edition, OTHER)
    (store.root / MODELS / ".left-by-a-kill").write_bytes(b"half")
    assert path_of(store, ONE).is_file()
    store.prune(0)
    assert sorted(path.name for path in (store.root / MODELS).iterdir()) == sorted(
        Path(path).name for path in model_files(record_of(OTHER))
    )


def test_a_reader_keeps_its_model_from_being_removed(store: Store) -> None:
    with store.open():
        for edition in range(1, 4):
            publish(store, edition, OTHER)
        store.prune(0)
        assert verify_file(path_of(store), record_of(ONE).files[ONNX_MODEL]).read_bytes() == ONE
    store.prune(0)
    assert not path_of(store).exists()


@pytest.mark.parametrize("kind", ["folder", "address"])
def test_it_goes_with_the_snapshot_once(
    store: Store, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "target"
    target = str(folder) if kind == "folder" else f"file://{folder}"
    with store.open() as snapshot:
        files = len(snapshot.manifest.files)
    assert send(store, target, 0).sent == files + 3
    read = Store(target)
    with read.open() as snapshot:
        assert snapshot.store == read.root
        require_sound(read.root, snapshot.manifest.query_model)
    publish(store, 1)
    again = send(store, target, 0)
    assert again.kept >= 2  # the model is there
    require_sound(folder, record_of(ONE))


def test_a_target_loses_what_none_of_its_snapshots_needs_and_mends_what_is_damaged(
    store: Store, tmp_path: Path
) -> None:
    for kind in ("folder", "address"):
        folder = tmp_path / kind
        target = str(folder) if kind == "folder" else f"file://{folder}"
        publish(store, 0)
        send(store, target, 0)
        there = folder / file_name(ONNX_MODEL, entry_of(ONE))
        cut(there)
        send(store, target, 0)
        assert there.read_bytes() == ONE
        flip(there)
        send(store, target, 0, deep=True)
        assert there.read_bytes() == ONE
        for edition in (1, 2, 3):
            publish(store, edition, OTHER)
            send(store, target, 0)
        assert not there.exists()
        require_sound(folder, record_of(OTHER))


@pytest.fixture
def mirrored(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a target that has the store's snapshot, and that was read through a mirror."""
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    target = f"file://{tmp_path}/target"
    send(store, target, 0)
    Store(target).open().close()
    return target


def test_a_mirror_fetches_a_removed_model_again(mirrored: str) -> None:
    kept = mirror_folder(mirrored) / file_name(ONNX_MODEL, entry_of(ONE))
    flip(kept)
    with pytest.raises(DamagedModel):
        require_sound(mirror_folder(mirrored), record_of(ONE))
    kept.unlink()
    Store(mirrored).open().close()
    require_sound(mirror_folder(mirrored), record_of(ONE))


def test_a_mirror_forgets_models_with_their_snapshots(store: Store, mirrored: str) -> None:
    for edition in (1, 2, 3):
        publish(store, edition, OTHER)
        send(store, mirrored, 0)
        Store(mirrored).open().close()
    cached = mirror_folder(mirrored)
    assert {path.name for path in (cached / MODELS).iterdir()} == {
        Path(path).name for path in model_files(record_of(OTHER))
    }
    assert not (cached / "objects" / entry_of(ONE).sha256).exists()


def test_stores_share_exports_in_a_folder_and_trust_no_damaged_one(store: Store, tmp_path: Path) -> None:
    shared = ExportedModels(tmp_path / "shared", "a" * 64, "onnx=1")
    files: dict[str, FileEntry] = dict(record_of(ONE).files)
    assert shared.give(tmp_path / "b") is None
    shared.take(store.root, files)
    assert shared.give(tmp_path / "b") == files and is_sound(tmp_path / "b", record_of(ONE))
    assert ExportedModels(tmp_path / "shared", "a" * 64, "onnx=2").give(tmp_path / "c") is None
    exchange(tmp_path / "shared" / file_name(ONNX_MODEL, entry_of(ONE)))
    assert shared.give(tmp_path / "c") is None
    entry = next((tmp_path / "shared").glob("*.json"))
    entry.write_bytes(b"[]")
    assert shared.give(tmp_path / "c") is None


def test_one_store_exports_while_the_others_say_that_they_wait(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "noctule")
    shared = ExportedModels(tmp_path / "shared", "a" * 64, "onnx=1")
    order = list[str]()

    def export(name: str) -> None:
        with ExportedModels(tmp_path / "shared", "a" * 64, "onnx=1").alone():
            order.append(name)

    with shared.alone(), ExportedModels(tmp_path / "shared", "b" * 64, "onnx=1").alone():
        other = Thread(target=export, args=("the other",))
        other.start()
        other.join(0.3)
        order.append("the first")
    other.join(30)
    assert order == ["the first", "the other"]
    assert [each.getMessage() for each in caplog.records] == [
        "another run exports the model for searching: waiting ten minutes at most"
    ]


def test_nobody_is_waited_for_too_long_or_where_there_can_be_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noctule.artifacts.store.query_models._WAIT_S", 0.0)
    (tmp_path / "file").write_bytes(b"")
    with ExportedModels(tmp_path / "file", "a" * 64, "onnx=1").alone():
        pass
    shared = ExportedModels(tmp_path / "shared", "a" * 64, "onnx=1")
    with shared.alone(), shared.alone():
        assert next((tmp_path / "shared").glob("*.lock"))
