"""The embedding store loses what nobody needs and nothing else, whatever stops it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.cache.embeddings import EmbeddingStore, folder_name
from noctule.artifacts.cache.prune import Freed, prune_embeddings
from noctule.artifacts.disk import durable
from noctule.artifacts.disk.layout import EMBEDDINGS
from noctule.artifacts.disk.system_calls import Disk
from noctule.pipeline.errors import WriteFailed

KEY = ("model", "fp32", "cpu", "1")
FOLDER = folder_name(KEY)
NEVER = float("inf")


def _filled(root: Path) -> EmbeddingStore:
    """Two segments: a, b, c and d, e."""
    store = EmbeddingStore(root, KEY, 2)
    store.add(["a", "b", "c"], np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32))
    store.add(["d", "e"], np.array([[2, 0], [0, 2]], dtype=np.float32))
    return store


def _prune(root: Path, used: str, since: float = NEVER) -> Freed:
    return prune_embeddings(root, {FOLDER: set(used)}, since)


def test_what_is_used_is_still_known_and_the_rest_is_not(tmp_path: Path) -> None:
    store = _filled(tmp_path)
    freed = _prune(tmp_path, "ace")
    recall = store.recall(["a", "b", "c", "d", "e"])
    assert recall.missing.tolist() == [1, 3]
    assert recall.vectors.tolist() == [[1, 0], [0, 0], [1, 1], [0, 0], [0, 2]]
    assert (freed.vectors, freed.kept_vectors) == (2, 3)
    assert freed.bytes > 0
    assert len(list((tmp_path / EMBEDDINGS / FOLDER).iterdir())) == 1, "small segments are put together"


def test_pruning_again_changes_no_byte(tmp_path: Path) -> None:
    _filled(tmp_path)
    _prune(tmp_path, "ace")
    before = {p.name: p.read_bytes() for p in (tmp_path / EMBEDDINGS / FOLDER).iterdir()}
    assert _prune(tmp_path, "ace").vectors == 0
    assert {p.name: p.read_bytes() for p in (tmp_path / EMBEDDINGS / FOLDER).iterdir()} == before


def test_a_vector_that_is_stored_twice_is_stored_once(tmp_path: Path) -> None:
    store = _filled(tmp_path)
    store.add(["a", "x"], np.array([[1, 0], [5, 5]], dtype=np.float32))
    assert _prune(tmp_path, "abcdex").vectors == 1
    assert store.recall(list("abcdex")).missing.size == 0


def test_the_folder_of_a_model_that_no_snapshot_has_goes(tmp_path: Path) -> None:
    _filled(tmp_path)
    assert prune_embeddings(tmp_path, {"other": {"a"}}, NEVER).kept_bytes == 0
    assert list((tmp_path / EMBEDDINGS).iterdir()) == []


def test_segments_of_the_last_runs_stay_whole(tmp_path: Path) -> None:
    store = _filled(tmp_path)
    for path in (tmp_path / EMBEDDINGS / FOLDER).iterdir():
        os.utime(path, (1000, 1000))
    assert _prune(tmp_path, "", since=1000.0).vectors == 0
    assert store.recall(list("abcde")).missing.size == 0
    assert _prune(tmp_path, "", since=1000.5).vectors == 5


def test_a_damaged_segment_and_a_half_written_one_are_swept(tmp_path: Path) -> None:
    store = _filled(tmp_path)
    folder = tmp_path / EMBEDDINGS / FOLDER
    (folder / ".half-written").write_bytes(b"PAR1")
    (folder / f"{'0' * 32}.parquet").write_bytes(b"PAR1 damaged")
    _prune(tmp_path, "abcde")
    assert all(len(path.stem) == 32 and set(path.stem) != {"0"} for path in folder.iterdir())
    assert store.recall(list("abcde")).missing.size == 0


def test_a_store_without_embeddings_is_fine(tmp_path: Path) -> None:
    assert _prune(tmp_path, "a") == Freed(0, 0, 0, 0)


class _FailsAt(Disk):
    """Refuses the n-th call that changes the disk."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(28, "No space left on device")

    def open(self, path: Path, flags: int) -> int:
        self._count()
        return super().open(path, flags)

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        self._count()
        return super().write(descriptor, content)

    def unlink(self, path: Path | str) -> None:
        self._count()
        super().unlink(path)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)


@pytest.mark.parametrize("at", range(1, 12))
def test_wherever_it_is_cut_off_no_used_vector_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    _filled(tmp_path)
    monkeypatch.setattr(durable, "disk", _FailsAt(at))
    try:
        _prune(tmp_path, "ace")
    except WriteFailed:
        pass
    else:
        assert at > 6, "the call was not refused: the count is off"
    monkeypatch.undo()
    assert EmbeddingStore(tmp_path, KEY, 2).recall(list("ace")).missing.size == 0
    _prune(tmp_path, "ace")
    assert EmbeddingStore(tmp_path, KEY, 2).recall(list("abcde")).missing.tolist() == [1, 3]
