"""The set itself: the tables that belong to the whole corpus, and the names of its shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...artifacts.disk.layout import FORMAT_VERSION, SET_TABLES, TOKEN_VECTORS, table_file
from ...artifacts.disk.manifest import Manifest
from ...artifacts.disk.manifest_records import ModelRecord, QueryModel, ShardRecord
from ...artifacts.store.query_models import file_name, link_or_copy
from ...artifacts.store.staging import Staging, describe
from ...artifacts.store.store import Store
from ...artifacts.tables.parquet import write_table
from ...artifacts.tables.schemas import report_table, token_vectors_schema
from ...artifacts.tables.vectors import flat_record
from ...pipeline.lexical import analyzer
from ...pipeline.model import Rejection
from ..run.context import RunContext
from ..run.versions import tools
from ..stages.encode import Encoding
from ..stages.write import PASSAGES_PER_GROUP, StagedSnapshot
from . import statistics
from .files import PassFiles
from .merging import CorpusTables
from .writing import highest


def stage_set(  # noqa: PLR0913, PLR0917  # all that a set is made of
    run: RunContext,
    store: Store,
    corpus: CorpusTables,
    records: Sequence[ShardRecord],
    shards: Sequence[PassFiles],
    encoding: Encoding,
    model: QueryModel,
    rejections: Sequence[Rejection],
    languages: Sequence[str],
) -> StagedSnapshot:
    """Write the set's own tables to a staging folder, and return its manifest with the folder."""
    staging, tables = store.stage(), _tables(corpus, shards, rejections)
    _write(run, staging, tables, encoding, model)
    counts = {name: len(table) for name, table in tables.items()}
    counts["token_vectors"] = pq.read_metadata(staging.path / TOKEN_VECTORS).num_rows
    encoder = encoding.encoder
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        files=describe(staging, counts),
        counts={**_counts_of_shards(records), **counts},
        settings_sha256=run.settings.fingerprint(),
        settings=run.settings.shaping(),
        model=ModelRecord(encoder.model.name, encoder.model.sha256, encoder.dimension, encoder.precision),
        index=flat_record(encoder.dimension),
        analyzer={"version": analyzer.VERSION, "languages": ",".join(languages)},
        tools=tools(),
        query_model=model,
        shards=tuple(records),
    )
    return StagedSnapshot(staging, manifest)


def _counts_of_shards(records: Sequence[ShardRecord]) -> dict[str, int]:
    return {
        name: sum(getattr(each, name) for each in records) for name in ("documents", "passages", "vectors")
    }


def _tables(
    corpus: CorpusTables, shards: Sequence[PassFiles], rejections: Sequence[Rejection]
) -> dict[str, pa.Table]:
    found = corpus.statistics
    return {
        "terms": statistics.term_table(found.prose, _highest(shards, "terms")),
        "code_terms": statistics.term_table(found.code, _highest(shards, "code_terms")),
        "surfaces": statistics.surfaces(shards),
        "acronyms": statistics.acronyms(shards),
        "communities": corpus.files.read("communities"),
        "vocabulary": corpus.files.read("vocabulary"),
        "term_vectors": corpus.files.read("term_vectors"),
        "report": report_table(rejections),
    }


def _highest(shards: Sequence[PassFiles], table: str) -> Mapping[str, float]:
    """Return the best score of a posting of each term over all shards."""
    rows = pa.concat_tables([files.read(highest(table)) for files in shards])
    best = rows.group_by("term").aggregate([("max_score", "max")])
    return dict(
        zip(best["term"].to_pylist(), pc.cast(best["max_score_max"], pa.float64()).to_pylist(), strict=True)
    )


def _write(
    run: RunContext, staging: Staging, tables: Mapping[str, pa.Table], encoding: Encoding, model: QueryModel
) -> None:
    tokens, every = model.files.get(TOKEN_VECTORS), dict(tables)
    if tokens is None:
        every["token_vectors"] = token_vectors_schema(encoding.encoder.dimension).empty_table()
    else:
        link_or_copy(run.store / file_name(TOKEN_VECTORS, tokens), staging.path / TOKEN_VECTORS)
    for name in (name for name in SET_TABLES if name in every):
        size = PASSAGES_PER_GROUP if name == "term_vectors" else 65_536
        write_table(every[name], staging.path / table_file(name), row_group_size=size)
