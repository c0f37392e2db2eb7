"""The set itself: the tables that belong to the whole corpus, and the names of its shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...artifacts.disk.layout import FORMAT_VERSION, SET_TABLES, TOKEN_VECTORS, table_file
from ...artifacts.disk.manifest import Manifest
from ...artifacts.disk.manifest_records import ModelRecord, ShardRecord
from ...artifacts.store.query_models import file_name, link_or_copy
from ...artifacts.store.staging import describe
from ...artifacts.store.store import Store
from ...artifacts.tables.parquet import write_table
from ...artifacts.tables.schemas import report_table, token_vectors_schema
from ...artifacts.tables.vectors import flat_record
from ...pipeline.lexical import analyzer
from ...pipeline.model import ReportEntry, SnapshotId
from ..run.context import RunContext
from ..run.versions import tools
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.write import PASSAGES_PER_GROUP, StagedSnapshot
from . import statistics
from .files import PassFiles
from .merging import exported_model, statistics_of_set
from .worker import ShardTask, receipt
from .writing import highest

NAME = "set"
Record = Mapping[str, Any]


def stage_set(  # noqa: PLR0913, PLR0917  # all that a set is made of
    run: RunContext,
    store: Store,
    write: Callable[[Path], Record],
    merged: Record,
    shards: Sequence[ShardRecord],
    rejections: Sequence[ReportEntry],
    languages: Iterable[str],
    without_headings: int,
) -> StagedSnapshot:
    """Let a worker ``write`` the set's own tables to a staging folder; return its manifest with the folder.

    ``merged`` says which models there are; ``without_headings`` counts passages, as the manifest does.
    """
    staging, report = store.stage(), report_table(rejections)
    write_table(report, staging.path / table_file("report"), row_group_size=65_536)
    counts = {**write(staging.path)["values"]["counts"], "report": len(report)}
    encoder = ModelRecord(**merged["values"]["model"])
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        files=describe(staging, counts),
        counts={**_counts_of_shards(shards), **counts},
        settings_sha256=run.settings.fingerprint(),
        settings=run.settings.shaping(),
        model=encoder,
        index=flat_record(encoder.dimension),
        analyzer={"version": analyzer.VERSION, "languages": ",".join(languages)},
        tools=tools(),
        query_model=exported_model(merged),
        shards=tuple(shards),
        passages_without_headings=without_headings,
    )
    return StagedSnapshot(staging, manifest)


def shard_records(written: Mapping[str, Record]) -> list[ShardRecord]:
    """Return the shards for the set's manifest."""
    found = []
    for name, record in written.items():
        counts, snapshot = record["values"]["counts"], SnapshotId(record["values"]["snapshot"])
        sizes = (counts[each] for each in ("documents", "passages", "vectors"))
        found.append(ShardRecord(name, snapshot, *sizes))
    return found


def _counts_of_shards(records: Sequence[ShardRecord]) -> dict[str, int]:
    return {
        name: sum(getattr(each, name) for each in records) for name in ("documents", "passages", "vectors")
    }


def write_tables(folder: Path, task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Write the tables of the whole corpus to the folder; the receipt says how many rows each has."""
    begin(WorkStep(0))
    tables = _tables(task)
    tokens = task.model.files.get(TOKEN_VECTORS) if task.model is not None else None
    if tokens is None:
        dimension = tables["term_vectors"].schema.field("code").type.list_size
        tables["token_vectors"] = token_vectors_schema(dimension).empty_table()
    else:
        link_or_copy(task.store / file_name(TOKEN_VECTORS, tokens), folder / TOKEN_VECTORS)
    for name in (name for name in SET_TABLES if name in tables):
        size = PASSAGES_PER_GROUP if name == "term_vectors" else 65_536
        write_table(tables[name], folder / table_file(name), row_group_size=size)
    counts = {name: len(table) for name, table in tables.items()}
    counts["token_vectors"] = pq.read_metadata(folder / TOKEN_VECTORS).num_rows
    return receipt({"values": {"counts": counts}})


def _tables(task: ShardTask) -> dict[str, pa.Table]:
    found, shards = statistics_of_set(task), task.files_of_shards
    return {
        "terms": statistics.term_table(found.prose, _highest(shards, "terms")),
        "code_terms": statistics.term_table(found.code, _highest(shards, "code_terms")),
        "surfaces": statistics.surfaces(shards),
        "acronyms": statistics.acronyms(shards),
        "communities": task.corpus.read("communities"),
        "vocabulary": task.corpus.read("vocabulary"),
        "term_vectors": task.corpus.read("term_vectors"),
    }


def _highest(shards: Sequence[PassFiles], table: str) -> Mapping[str, float]:
    """Return the best score of a posting of each term over all shards."""
    rows = pa.concat_tables([files.read(highest(table)) for files in shards])
    best = rows.group_by("term").aggregate([("max_score", "max")])
    return dict(
        zip(best["term"].to_pylist(), pc.cast(best["max_score_max"], pa.float64()).to_pylist(), strict=True)
    )
