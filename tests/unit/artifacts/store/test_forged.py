"""Forged snapshots whose manifest fits: refused when they are read, in the house's own errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.disk.layout import FAISS_INDEX, MANIFEST, table_file
from noctule.artifacts.disk.manifest_records import FileEntry
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.snapshot import Snapshot, hash_files
from noctule.artifacts.tables import parquet
from noctule.pipeline.errors import DamagedSnapshot
from tests.snapshot_builder import build_tiny_snapshot, tiny_tables


def _forged(folder: Path, name: str, forge: Callable[[Path], None]) -> Snapshot:
    """A tiny snapshot with one file forged, opened; the manifest fits."""
    folder.mkdir()
    manifest = build_tiny_snapshot(folder)
    forge(folder / name)
    rows = manifest.files[name].rows
    entry = FileEntry((folder / name).stat().st_size, hash_files([folder / name])[name], rows)
    manifest = replace(manifest, files={**manifest.files, name: entry})
    (folder / MANIFEST).write_bytes(manifest.to_bytes())
    return Snapshot.open(folder, expected_id=manifest.snapshot_id())


def _cell(table: str, column: str, value: object) -> Callable[[Path], None]:
    rows = tiny_tables()[table]
    field = rows.schema.field(column)
    cells = [value, *rows.column(column).to_pylist()[1:]]
    at = rows.schema.get_field_index(column)
    return lambda path: pq.write_table(rows.set_column(at, field, pa.array(cells, field.type)), path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("path", "../../etc/cron.d/x", "leads out"),
        ("path", "/etc/passwd", "leads out"),
        ("path", "", "leads out"),
        ("path", None, "no path"),
        ("url", "javascript:alert(1)", "leads to no page"),
        ("url", "java\tscript:alert(1)", "leads to no page"),
        ("url", "\x01data:text/html,x", "leads to no page"),
        ("doc_id", None, "no doc_id"),
    ],
)
def test_a_document_that_would_be_a_file_or_a_link_elsewhere_is_refused(
    column: str, value: object, message: str, tmp_path: Path
) -> None:
    with _forged(tmp_path / "s", "documents.parquet", _cell("documents", column, value)) as snapshot:
        with pytest.raises(DamagedSnapshot, match=message):
            snapshot.table("documents")
        with pytest.raises(DamagedSnapshot, match=message):
            check_deep(snapshot.path, snapshot.id)


def test_a_table_of_other_columns_is_refused_by_every_reader(tmp_path: Path) -> None:
    def forge(path: Path) -> None:
        pq.write_table(pa.table({"doc_id": [1, 2, 3]}), path)

    with _forged(tmp_path / "s", "documents.parquet", forge) as snapshot:
        for read in (snapshot.require_tables, snapshot.connect, lambda: snapshot.table("documents")):
            with pytest.raises(DamagedSnapshot, match="expected the columns"):
                read()


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    def forge(path: Path) -> None:
        rows = tiny_tables()["surfaces"]
        broken = pa.array([b"\xff\xfe"] * len(rows), pa.binary()).view(pa.string())
        pq.write_table(rows.set_column(0, rows.schema.field(0), broken), path)

    forged = _forged(tmp_path / "s", "surfaces.parquet", forge)
    with forged as snapshot, pytest.raises(DamagedSnapshot, match="UTF8"):
        snapshot.table("surfaces")


def test_a_footer_that_promises_more_than_a_file_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_ALWAYS_FINE", 100_000)
    monkeypatch.setattr(parquet, "_MOST_PER_BYTE", 20)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"x": pa.array([0] * 1_000_000, pa.int8())}), path, compression="zstd")
    with pytest.raises(DamagedSnapshot, match="promises"):
        parquet.open_file(path)


@pytest.mark.parametrize(("at", "what"), [(4, "<i"), (8, "<q"), (37, "<Q")])
@pytest.mark.parametrize("value", [-1, 0, 1 << 30])
def test_a_vector_index_whose_header_does_not_fit_is_never_read_by_faiss(
    at: int, what: str, value: int, tmp_path: Path
) -> None:
    def forge(path: Path) -> None:
        content = bytearray(path.read_bytes())
        struct.pack_into(what.lower(), content, at, value)
        path.write_bytes(content)

    with _forged(tmp_path / "s", FAISS_INDEX, forge) as snapshot, pytest.raises(DamagedSnapshot):
        snapshot.index()


def test_what_check_refuses_names_the_file(tmp_path: Path) -> None:
    with _forged(tmp_path / "s", "passages.parquet", _cell("passages", "vector_row", 1 << 30)) as snapshot:
        with pytest.raises(DamagedSnapshot, match="vector_row") as caught:
            check_deep(snapshot.path, snapshot.id)
        assert caught.value.where == str(snapshot.path / table_file("passages"))
