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
from noctule.artifacts.tables.schemas import schemas
from noctule.docsite.placement import placement_of
from noctule.pipeline.errors import DamagedSnapshot
from noctule.pipeline.identity import read_front_matter_json
from noctule.pipeline.visibility import visibility_of
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
        ("path", None, "a value of the column path is missing"),
        ("url", "javascript:alert(1)", "leads to no page"),
        ("url", "java\tscript:alert(1)", "leads to no page"),
        ("url", "\x01data:text/html,x", "leads to no page"),
        ("doc_id", None, "a value of the column doc_id is missing"),
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


@pytest.mark.parametrize("front", ['{"slug": "list', '["slug", "list"]', '{"slug": "list\0"}', "[" * 50_000])
def test_front_matter_that_is_no_json_object_is_refused_where_it_is_read(front: str, tmp_path: Path) -> None:
    for read in (visibility_of, placement_of) if "slug" in front else (read_front_matter_json,):
        with pytest.raises(DamagedSnapshot, match="is not a JSON object"):
            read(front)
    forged = _forged(tmp_path / "s", "documents.parquet", _cell("documents", "front_matter", front))
    with forged as snapshot, pytest.raises(DamagedSnapshot, match="is not a JSON object"):
        check_deep(snapshot.path, snapshot.id)


_MAY_MISS = {
    ("assets", "height"), ("assets", "width"), ("documents", "community"), ("documents", "modified"),
    ("links", "asset"), ("links", "target_id"), ("sections", "parent_id"),
}  # fmt: skip


def test_a_missing_value_is_refused_in_every_column_that_has_one_in_each_row(tmp_path: Path) -> None:
    manifest = build_tiny_snapshot(tmp_path)
    for table, rows in tiny_tables().items():
        path = tmp_path / table_file(table)
        for at, field in enumerate(rows.schema if rows.num_rows else ()):
            without = pa.array([None, *rows.column(at).to_pylist()[1:]], field.type)
            pq.write_table(rows.set_column(at, field, without), path)
            expected = schemas(manifest.model.dimension)[table]
            if (table, field.name) in _MAY_MISS:
                assert parquet.read_table(path, schema=expected)[field.name].null_count
                continue
            for read in (
                lambda path=path, expected=expected: parquet.read_table(path, schema=expected),
                lambda path=path, name=field.name: list(parquet.read_blocks(path, name)),
                lambda path=path: parquet.read_group(pq.ParquetFile(path), 0, path),
            ):
                with pytest.raises(DamagedSnapshot, match=f"the column {field.name} is missing"):
                    read()


def test_a_list_that_misses_one_of_its_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for kind in (pa.list_(pa.string()), pa.list_(pa.string(), 2)):
        pq.write_table(pa.table({"tags": pa.array([["a", "b"], ["a", None]], kind)}), path)
        with pytest.raises(DamagedSnapshot, match="the column tags is missing"):
            parquet.read_table(path)


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
