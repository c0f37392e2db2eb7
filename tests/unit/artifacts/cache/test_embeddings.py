"""Embedding segments say of which model and configuration they are; others are not used."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.cache import segments
from noctule.artifacts.cache.embeddings import EmbeddingStore, folder_name
from noctule.artifacts.disk.layout import EMBEDDINGS
from noctule.artifacts.tables.schemas import vectors_schema

FP32, BF16 = ["model", "fp32"], ["model", "bf16"]


def _stored(root: Path, key: list[str], dimension: int = 2) -> Path:
    EmbeddingStore(root, key, dimension).add(["a", "b"], np.ones((2, dimension), dtype=np.float32))
    return root / EMBEDDINGS / folder_name(key)


def _missing(root: Path, key: list[str], dimension: int = 2) -> list[int]:
    return EmbeddingStore(root, key, dimension).recall(["a", "b"]).missing.tolist()


def test_segments_copied_into_the_folder_of_another_model_are_refused_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fp32, bf16 = _stored(tmp_path, FP32), tmp_path / EMBEDDINGS / folder_name(BF16)
    shutil.copytree(fp32, bf16)
    assert _missing(tmp_path, FP32) == []
    assert not caplog.records
    assert _missing(tmp_path, BF16) == [0, 1]
    [line] = caplog.messages
    assert "1 of 1 segments" in line
    assert "encoded again: 1 of another model or format" in line
    _stored(tmp_path, BF16)
    assert _missing(tmp_path, BF16) == []


def test_a_segment_that_does_not_say_what_it_holds_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _stored(tmp_path, FP32)
    [path] = folder.iterdir()
    rows = pq.read_table(path).replace_schema_metadata(None)
    path.unlink()
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    segments.write(folder, sink.getvalue(), ".parquet")
    assert _missing(tmp_path, FP32) == [0, 1]
    assert "of an older noctule" in caplog.text


def test_a_segment_of_other_dimensions_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = _stored(tmp_path, FP32, dimension=3)
    assert pq.read_schema(next(folder.iterdir())).remove_metadata() == vectors_schema(3)
    assert _missing(tmp_path, FP32) == [0, 1]
    assert "other columns or dimensions" in caplog.text
