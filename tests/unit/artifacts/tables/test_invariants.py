"""Broken rules that no hash can show: each must be found, or the checker is broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.disk.layout import CATALOG, FAISS_INDEX, FORMAT_VERSION, MANIFEST
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.invariants import problems
from noctule.artifacts.tables.parquet import write_table
from noctule.artifacts.tables.schemas import schemas
from noctule.pipeline.errors import DamagedSnapshot, UnsupportedFormat
from tests.snapshot_builder import (
    DIMENSION,
    build_tiny_snapshot,
    manifest_of,
    publish_tiny_snapshot,
    tiny_tables,
    unit_rows,
    write_index,
    write_tables,
)

Tables = dict[str, pa.Table]


def _set(tables: Tables, table: str, column: str, row: int, value: object) -> Tables:
    """The tables with one cell changed."""
    old = tables[table]
    values = old[column].to_pylist()
    values[row] = value
    field = old.schema.field(column)
    at = old.schema.get_field_index(column)
    return tables | {table: old.set_column(at, field, pa.array(values, type=field.type))}


CELLS: Sequence[tuple[str, str, int, object]] = [
    ("documents", "doc_id", 0, "notes:zeta.md"),
    ("documents", "community", 0, 7),
    ("documents", "passages", 1, 3),
    ("documents", "text", 0, "short"),
    ("communities", "community_id", 0, None),
    ("sections", "section_id", 1, "notes:alpha.md"),
    ("sections", "doc_id", 1, "notes:nowhere.md"),
    ("sections", "doc_id", 1, "notes:beta.md"),
    ("sections", "parent_id", 1, "notes:nowhere.md"),
    ("sections", "parent_id", 1, "notes:alpha.md#use"),
    ("sections", "parent_id", 1, "notes:beta.md"),
    ("sections", "parent_id", 1, None),
    ("sections", "depth", 0, 1),
    ("sections", "depth", 1, 0),
    ("sections", "byte_start", 1, -1),
    ("sections", "byte_end", 1, 10_000),
    ("sections", "byte_end", 0, 40),
    ("sections", "body_end", 0, 10_000),
    ("passages", "passage_id", 1, "notes:alpha.md@0"),
    ("passages", "passage_id", 1, None),
    ("passages", "doc_id", 1, "notes:nowhere.md"),
    ("passages", "doc_id", 1, "notes:beta.md"),
    ("passages", "section_id", 0, "notes:nowhere.md"),
    ("passages", "section_id", 0, "notes:beta.md"),
    ("passages", "ordinal", 1, 0),
    ("passages", "byte_end", 0, 10_000),
    ("passages", "byte_start", 1, 0),
    ("passages", "byte_start", 0, 30),
    ("passages", "vector_row", 0, None),
    ("passages", "vector_row", 0, -1),
    ("passages", "vector_row", 0, 4),
    ("passages", "content_hash", 0, "0" * 32),
    ("code_blocks", "section_id", 0, "notes:nowhere.md"),
    ("code_blocks", "doc_id", 0, "notes:beta.md"),
    ("code_blocks", "byte_start", 0, 0),
    ("vectors", "content_hash", 0, "0" * 32),
    ("vectors", "vector", 0, [0.0] * DIMENSION),
    ("vectors", "vector", 0, [float("nan")] * DIMENSION),
    ("vectors", "vector", 0, None),
    ("links", "source_id", 0, "notes:nowhere.md"),
    ("links", "target_id", 0, "notes:nowhere.md"),
    ("links", "target_id", 0, None),
    ("links", "status", 0, "fine"),
    ("links", "status", 0, None),
    ("links", "asset", 2, "gone.png"),
    ("links", "asset", 2, None),
    ("links", "asset", 0, "owl.png"),
    ("links", "status", 2, "missing-asset"),
    ("assets", "collection", 0, "other"),
    ("assets", "path", 0, "bat.png"),
    ("assets", "bytes", 0, -1),
    ("assets", "width", 0, 0),
    ("assets", "height", 0, -2),
    ("terms", "term", 0, "zeta"),
    ("terms", "passages", 0, 5),
    ("terms", "max_score", 0, 9.0),
    ("postings", "term", 0, "bod"),
    ("postings", "passage", 0, None),
    ("postings", "passage", 0, [0, 1, 2, 3, 4, 6]),
    ("postings", "passage", 0, [-1, 1, 2, 3, 4, 5]),
    ("postings", "passage", 0, [0, 2, 1, 3, 4, 5]),
    ("postings", "passage", 0, [0, 1, 1, 3, 4, 5]),
    ("postings", "passage", 1, [1, 3]),
    ("postings", "passage", 0, [0, None, 2, 3, 4, 5]),
    ("postings", "score", 0, [1.0, 2.0]),
    ("postings", "score", 0, [1.0, 2.0, 3.0, 4.0, 5.0, float("inf")]),
    ("postings", "fields", 0, None),
    ("postings", "fields", 0, [1, 1]),
    ("postings", "fields", 1, [128, 0, 128]),
    ("surfaces", "surface", 0, "zeta"),
    ("surfaces", "surface", 0, "edition0"),
    ("surfaces", "surface", 0, None),
    ("surfaces", "language", 1, None),
    ("surfaces", "terms", 0, None),
    ("surfaces", "count", 0, -1),
    ("acronyms", "acronym", 0, "ZZ"),
    ("acronyms", "documents", 0, 4),
    ("acronyms", "documents", 1, 0),
    ("acronyms", "expansion", 0, None),
    ("code_terms", "passages", 0, 1),
    ("code_postings", "passage", 0, [1, 3, 6]),
    ("vocabulary", "term", 1, "alpha"),
    ("vocabulary", "near", 0, ["omega"]),
    ("vocabulary", "near_similarity", 0, [0.5, 0.4]),
    ("vocabulary", "vector", 0, [float("inf")] * DIMENSION),
    ("centroids", "doc_id", 0, "notes:zeta.md"),
    ("centroids", "vector", 1, [0.5] + [0.0] * (DIMENSION - 1)),
    ("centroids", "vector", 1, None),
    ("term_vectors", "term", 1, "body"),
    ("term_vectors", "term", 1, "unheard"),
    ("term_vectors", "scale", 0, 0.0),
    ("term_vectors", "scale", 0, float("nan")),
    ("term_vectors", "code", 0, None),
    ("token_vectors", "token", 1, "##s"),
    ("token_vectors", "token", 0, None),
    ("token_vectors", "token", 2, None),
    ("token_vectors", "scale", 2, -1.0),
    ("token_vectors", "code", 1, None),
]


def test_a_sound_snapshot_has_no_problem() -> None:
    assert list(problems(tiny_tables())) == []


@pytest.mark.parametrize(("table", "column", "row", "value"), CELLS)
def test_one_wrong_cell_is_found(table: str, column: str, row: int, value: object) -> None:
    found = list(problems(_set(tiny_tables(), table, column, row, value)))
    assert found, "no problem found: the checker is broken"
    family = {table.replace("postings", "terms"), table.replace("terms", "postings"), table}
    if table in ("documents", "sections", "vectors"):
        family |= {"documents", "sections", "passages", "code_blocks", "links", "centroids"}
    if table == "terms":
        family |= {"term_vectors"}
    if table in ("links", "assets"):
        family |= {"links", "assets"}
    assert {problem.table for problem in found} <= family | {"documents"}


def test_empty_tables_have_no_problem() -> None:
    empty = {name: schema.empty_table() for name, schema in schemas(DIMENSION).items()}
    assert list(problems(empty)) == []


def test_a_snapshot_of_nothing_can_be_published_and_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    tables = {name: schema.empty_table() for name, schema in schemas(DIMENSION).items()}
    with store.lock("test"):
        staging = store.stage()
        write_tables(staging.path, tables)
        store.publish(staging, manifest_of(staging.path, tables))
    with store.open() as snapshot:
        assert snapshot.index().ntotal == 0
        assert snapshot.connect().execute("select count(*) from passages").fetchall() == [(0,)]


def _seal(folder: Path, manifest: Manifest) -> None:
    (folder / MANIFEST).write_bytes(manifest.to_bytes())


def test_a_build_that_fails_its_own_check_is_not_published_but_kept_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old = publish_tiny_snapshot(store).snapshot_id
    broken = _set(tiny_tables(1), "passages", "vector_row", 0, 99)
    for _ in range(2):
        with store.lock("test"):
            staging = store.stage()
            write_tables(staging.path, broken)
            with pytest.raises(DamagedSnapshot, match="passages") as caught:
                store.publish(staging, manifest_of(staging.path, broken, 1))
        rejected = Path(caught.value.where)
        assert (rejected / MANIFEST).is_file()
        assert "noctule rollback" not in caught.value.hint
        assert store.current() == old
    assert len(list(rejected.parent.glob(".rejected-*"))) == 1
    store.prune(5)
    assert not rejected.exists()


def test_the_index_must_hold_the_vectors_of_the_table(tmp_path: Path) -> None:
    build_tiny_snapshot(tmp_path)
    (tmp_path / FAISS_INDEX).unlink()
    write_index(unit_rows(4, seed=7), tmp_path / FAISS_INDEX)
    _seal(tmp_path, manifest_of(tmp_path, tiny_tables()))
    with pytest.raises(DamagedSnapshot, match="row 0") as caught:
        check_deep(tmp_path)
    assert caught.value.where.endswith(FAISS_INDEX)


def test_row_groups_must_be_those_of_the_postings(tmp_path: Path) -> None:
    build_tiny_snapshot(tmp_path)
    (tmp_path / "postings.parquet").unlink()
    write_table(tiny_tables()["postings"], tmp_path / "postings.parquet", row_group_size=1)
    _seal(tmp_path, manifest_of(tmp_path, tiny_tables()))
    with pytest.raises(DamagedSnapshot, match="row 1: expected row_group 1") as caught:
        check_deep(tmp_path)
    assert caught.value.where.endswith("terms.parquet")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("content", b"other bytes", "not what its hash and size say"),
        ("asset_id", "0" * 64, "not what its hash and size say"),
        ("asset_id", "../../x", "no SHA-256"),
        ("media_type", "text/html", "none that a site carries"),
        ("media_type", None, "media_type is missing"),
        ("path", "../owl.png", "leads out of its collection"),
    ],
)
def test_an_asset_must_be_what_it_is_said_to_be(
    tmp_path: Path, column: str, value: object, message: str
) -> None:
    tables = _set(tiny_tables(), "assets", column, 0, value)
    if column == "path":
        tables = _set(tables, "links", "asset", 2, value)
    write_tables(tmp_path, tables)
    _seal(tmp_path, manifest_of(tmp_path, tables))
    with pytest.raises(DamagedSnapshot, match=message):
        check_deep(tmp_path)


def test_a_table_with_other_columns_or_rows_is_refused(tmp_path: Path) -> None:
    tables = tiny_tables()
    build_tiny_snapshot(tmp_path)
    path = tmp_path / "report.parquet"
    for wrong, message in ((tables["report"].drop(["reason"]), "columns"), (tables["report"][:0], "rows")):
        path.unlink()
        write_table(wrong, path)
        _seal(tmp_path, manifest_of(tmp_path, tables))
        with pytest.raises(DamagedSnapshot, match=message) as caught:
            check_deep(tmp_path)
        assert caught.value.where.endswith("report.parquet")


@pytest.mark.parametrize(
    "text",
    [
        "copy (select 1) to 'stolen.csv'", "install httpfs", "create or replace table kept as select 1",
        "set variable snapshot = '/'", "create or replace view hosts as from read_text('/etc/hosts')",
        ".shell true", "create or replace view half as select", "create or replace secret key (type s3)",
    ],
)  # fmt: skip
def test_a_catalog_that_does_more_than_describe_the_snapshot_is_refused(tmp_path: Path, text: str) -> None:
    build_tiny_snapshot(tmp_path)
    path = tmp_path / CATALOG
    older = path.read_text("utf-8").replace("one row a document", "a document a row")
    for content, is_sound in ((f"-- older\n{older}", True), (f"{older};\n{text};\n", False)):
        path.unlink()
        path.write_text(content, "utf-8")
        _seal(tmp_path, manifest_of(tmp_path, tiny_tables()))
        if is_sound:
            check_deep(tmp_path)
            continue
        with pytest.raises(DamagedSnapshot, match=r"views and macros|on the snapshot alone") as caught:
            check_deep(tmp_path)
        assert caught.value.where == str(path)


def test_a_snapshot_of_an_older_noctule_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    manifest = build_tiny_snapshot(tmp_path)
    content = manifest.to_bytes().replace(b'"format_version":%d' % FORMAT_VERSION, b'"format_version":1')
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(UnsupportedFormat, match="noctule index"):
        check_deep(tmp_path)


def test_an_older_format_than_the_first_is_no_format(tmp_path: Path) -> None:
    manifest = build_tiny_snapshot(tmp_path)
    content = manifest.to_bytes().replace(b'"format_version":%d' % FORMAT_VERSION, b'"format_version":0')
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(DamagedSnapshot, match="format_version"):
        check_deep(tmp_path)
