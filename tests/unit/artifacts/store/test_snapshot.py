"""An opened snapshot: tables, index, and a DuckDB that reads its tables and nothing else."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from noctule.artifacts.disk.layout import CURRENT, FAISS_INDEX, MANIFEST, TABLES
from noctule.artifacts.disk.manifest import snapshot_id
from noctule.artifacts.sql import catalog
from noctule.artifacts.sql.catalog import require_queries
from noctule.artifacts.store.check import check_deep, check_structure
from noctule.artifacts.store.pointer import Pointer
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, QueryError
from noctule.pipeline.identity import canonical_json
from noctule.pipeline.model import SnapshotId
from tests.command_line import CommandLine
from tests.snapshot_builder import (
    DIMENSION,
    publish_tiny_snapshot,
    tiny_tables,
    unit_rows,
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    store = Store(tmp_path_factory.mktemp("it's a store"))
    publish_tiny_snapshot(store)
    with store.open() as opened:
        yield opened


@pytest.mark.parametrize("name", TABLES)
def test_tables_come_back_as_they_were(name: str, snapshot: Snapshot) -> None:
    assert snapshot.table(name).equals(tiny_tables()[name])


def test_columns_can_be_chosen(snapshot: Snapshot) -> None:
    assert snapshot.table("documents", ["title", "doc_id"]).column_names == ["title", "doc_id"]


def test_files_are_given_by_table_or_by_name(snapshot: Snapshot) -> None:
    assert snapshot.file("terms") == snapshot.file("terms.parquet") == snapshot.path / "terms.parquet"
    assert snapshot.file(FAISS_INDEX).is_absolute()
    for name in ("nonsense", "../../CURRENT", "manifest.json"):
        with pytest.raises(ArtifactError, match="a snapshot has no"):
            snapshot.file(name)


def test_the_index_finds_each_vector(snapshot: Snapshot) -> None:
    _, rows = snapshot.index().search(unit_rows(4), 1)
    assert np.array_equal(rows.ravel(), np.arange(4))
    assert snapshot.index() is snapshot.index()


def test_every_table_is_a_view(snapshot: Snapshot) -> None:
    connection = snapshot.connect()
    for name in TABLES:
        (count,) = connection.execute(f"select count(*) from {name}").fetchone() or ()
        assert count == snapshot.table(name).num_rows
    (flat,) = connection.execute("select count(*) from term_passages").fetchone() or ()
    assert flat == 9


def test_an_analyst_can_search_with_sql_alone(snapshot: Snapshot) -> None:
    connection = snapshot.connect()
    found = connection.execute("select passage_id, score from keyword_search('edition0', 9)").fetchall()
    assert found == [("notes:gamma.md@1", 3.0), ("notes:beta.md@1", 2.0), ("notes:alpha.md@1", 1.0)]
    rows = unit_rows(4)
    of = snapshot.table("passages")["vector_row"].to_pylist()
    near = connection.execute(
        "select passage, score from semantic_search($1, 9)", [rows[0].tolist()]
    ).fetchall()
    expected = {passage: float(rows[row] @ rows[0]) for passage, row in enumerate(of)}
    assert dict(near) == pytest.approx({p: score for p, score in expected.items() if score > 0}, abs=1e-6)
    assert [score for _, score in near] == sorted((score for _, score in near), reverse=True)


HOSTILE = [
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('{folder}/manifest.json')",
    "select * from read_parquet('{folder}/../../CURRENT')",
    "select * from glob('/etc/*')",
    "copy documents to '{folder}/new.parquet'",
    "copy documents to '{folder}/terms.parquet'",
    "copy documents to '/tmp/stolen.csv'",
    "attach '{folder}/new.db'",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set enable_progress_bar = true",
    "set temp_directory = '/tmp'",
    "export database '/tmp/stolen'",
    "select * from snapshot",
    # DuckDB 1 lets a locked connection print more or less; what a stranger wrote is refused before that.
    *(["pragma enable_progress_bar"] if duckdb.__version__ >= "2" else []),
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_nothing_but_the_tables_is_in_reach(sql: str, snapshot: Snapshot) -> None:
    before = sorted((path.name, path.stat().st_size) for path in snapshot.path.iterdir())
    folder = str(snapshot.path).replace("'", "''")
    with pytest.raises(duckdb.Error):
        snapshot.connect().execute(sql.replace("{folder}", folder)).fetchall()
    assert sorted((path.name, path.stat().st_size) for path in snapshot.path.iterdir()) == before


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "from passages",
        "with a as (select 1) select * from a",
        "show tables",
        "describe passages",
        "summarize passages",
        "explain select 1",
        " EXPLAIN  ANALYZE select 1",
        "select 1; select 2",
        "",
    ],
)
def test_queries_pass(sql: str) -> None:
    require_queries(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "copy (select 1) to 'x' (use_tmp_file false)",
        "explain analyze copy (select 1) to 'x'",
        "/* quiet */ explain analyze copy (select 1) to 'x'",
        "select 1; create table a (b int)",
        "attach 'x'",
        "set threads = 1",
        "pragma enable_progress_bar",
        "pragma disable_verification",
        "call pragma_version()",
        "selec",
        "select 1; drop view passages",
    ],
)
def test_what_is_no_query_is_refused(sql: str) -> None:
    with pytest.raises(QueryError):
        require_queries(sql)


def test_no_progress_bar_gets_into_the_output(snapshot: Snapshot) -> None:
    setting = "select value from duckdb_settings() where name = 'enable_progress_bar'"
    assert snapshot.connect().execute(setting).fetchall() == [("false",)]


def _hostile(target: Path) -> str:
    """What ends the list of languages in the catalog's text, and then writes a file."""
    return f"en'])); COPY (SELECT 1) TO '{target}' --"


def _forged(store: Store, languages: str) -> SnapshotId:
    """The current snapshot of the store, sound but for the languages that its manifest names."""
    old = store.path_of(publish_tiny_snapshot(store).snapshot_id)
    manifest = json.loads((old / MANIFEST).read_bytes()) | {"analyzer": {"languages": languages}}
    content = canonical_json(manifest).encode() + b"\n"
    new = old.with_name(snapshot_id(content))
    old.chmod(0o755)
    (old / MANIFEST).chmod(0o644)
    (old / MANIFEST).write_bytes(content)
    old.rename(new)
    (store.root / CURRENT).write_bytes(Pointer(SnapshotId(new.name), 2).to_bytes())
    return SnapshotId(new.name)


@pytest.mark.parametrize("reader", [Snapshot.open, check_deep, check_structure])
def test_a_sound_snapshot_under_the_name_of_another_is_refused(reader: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    first, second = (publish_tiny_snapshot(store, edition).snapshot_id for edition in (0, 1))
    store.path_of(second).rename(tmp_path / "put away")
    store.path_of(first).rename(store.path_of(second))
    with pytest.raises(DamagedSnapshot, match=f"expected the manifest of {second}, found that of {first}"):
        reader(store.path_of(second), expected_id=second)
    with pytest.raises(DamagedSnapshot, match="expected the manifest"):
        store.open()


@pytest.mark.parametrize("reader", [Snapshot.open, check_deep, check_structure])
def test_a_forged_list_of_languages_is_refused(reader: Any, tmp_path: Path) -> None:
    store, target = Store(tmp_path / "store"), tmp_path / "written.csv"
    forged = _forged(store, _hostile(target))
    with pytest.raises(DamagedSnapshot, match=r"analyzer\.languages"):
        reader(store.path_of(forged), expected_id=forged)
    with pytest.raises(DamagedSnapshot, match=r"analyzer\.languages"):
        store.open()
    assert not target.exists()


@pytest.mark.parametrize("arguments", [("sql", "select 1"), ("check", "--deep"), ("check",)])
def test_commands_refuse_a_forged_list_of_languages(arguments: tuple[str, ...], tmp_path: Path) -> None:
    store, target = Store(tmp_path / "store"), tmp_path / "written.csv"
    _forged(store, _hostile(target))
    found = CommandLine(tmp_path, store.root).run(*arguments)
    assert (found.code, "analyzer.languages" in found.err) == (3, True)
    assert not target.exists()


def test_a_language_is_a_string_in_the_catalog_whatever_it_holds(snapshot: Snapshot, tmp_path: Path) -> None:
    target = tmp_path / "written.csv"
    snapshot.locked_connection().execute(catalog.catalog(DIMENSION, [_hostile(target)]))
    assert not target.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "copy (select 1) to '{target}'",
        "select * from read_text('/etc/hostname')",
        "attach '{target}'",
    ],
)
def test_the_catalog_itself_runs_behind_the_locks(
    statement: str, snapshot: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "written.csv"
    monkeypatch.setattr(catalog, "catalog", lambda *_, **__: statement.format(target=target))
    with pytest.raises(duckdb.Error):
        snapshot.connect()
    assert not target.exists()


def test_a_snapshot_that_is_dropped_lets_go_of_its_pin_and_warns(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    old = publish_tiny_snapshot(store, 0).snapshot_id
    opened = store.open()
    for edition in (1, 2, 3):
        publish_tiny_snapshot(store, edition)
    assert old not in store.prune(0)
    with pytest.warns(ResourceWarning, match="dropped without being closed"):
        del opened
        gc.collect()
    assert old in store.prune(0)


def test_a_missing_or_damaged_table_of_tokens_is_named_by_check(tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    publish_tiny_snapshot(Store(tmp_path / "store"))
    (path,) = (tmp_path / "store" / "snapshots").glob("*/token_vectors.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    done = command.run_in_new_interpreter("check", "--json")
    assert (done.code, done.error["kind"], done.error["where"]) == (3, "DamagedSnapshot", str(path))
    path.parent.chmod(0o755)
    path.unlink()
    done = command.run_in_new_interpreter("check", "--quick", "--json")
    assert (done.code, done.error["where"]) == (3, str(path))
