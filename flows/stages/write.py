"""The files of a snapshot, written to a staging folder that no reader uses yet, and their manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.disk.durable import write_file
from ...artifacts.disk.layout import FAISS_INDEX, FORMAT_VERSION, TOKEN_VECTORS, table_file
from ...artifacts.disk.manifest import Manifest
from ...artifacts.disk.manifest_records import IndexRecord, ModelRecord, QueryModel
from ...artifacts.sql.catalog import write_catalog
from ...artifacts.store.query_models import file_name, link_or_copy
from ...artifacts.store.staging import Staging, describe
from ...artifacts.store.store import Store
from ...artifacts.tables.parquet import write_table
from ...artifacts.tables.schemas import token_vectors_schema
from ...artifacts.tables.vectors import build_index, index_outside_memory
from ...pipeline.lexical import analyzer
from ..run.context import RunContext
from ..run.memory import MANY_PASSAGES, release_memory
from ..run.plain import by_threads
from ..run.versions import tools
from .embedding.encode import Encoded, Encoding
from .lexical import passages_each, passages_without_headings
from .tables import Tables

# Few enough that reading one passage's text reads little else.
PASSAGES_PER_GROUP = 1024
_AT_ONCE = 2
_TERMS = {"postings": "terms", "code_postings": "code_terms"}


@dataclass(frozen=True, slots=True)
class StagedSnapshot:
    """A snapshot that is written and not yet published."""

    staging: Staging
    manifest: Manifest


def index_vectors(run: RunContext, vectors: Encoded) -> tuple[memoryview, IndexRecord]:
    """Return the file of the FAISS index over all passages, outside memory, and its record."""
    index, record = build_index(vectors.vectors, run.settings.vectors)
    return index_outside_memory(index, run.store), record


def write_snapshot(
    run: RunContext,
    store: Store,
    encoding: Encoding,
    corpus: ParsedCorpus,
    index: tuple[memoryview, IndexRecord],
    query_model: QueryModel,
    term_vectors: pa.Table,
    *tables: Tables,
) -> StagedSnapshot:
    """Write every file of the snapshot except the manifest, and return the manifest with the folder."""
    if len(corpus.passages) > MANY_PASSAGES:
        release_memory()
    staging, languages = store.stage(), sorted(corpus.languages or {"en"})
    written = {name: table for part in tables for name, table in part.items()} | {
        "term_vectors": term_vectors
    }
    tokens, dimension = query_model.files.get(TOKEN_VECTORS), encoding.encoder.dimension
    if tokens is None:
        written["token_vectors"] = token_vectors_schema(dimension).empty_table()
    else:
        link_or_copy(store.root / file_name(TOKEN_VECTORS, tokens), staging.path / TOKEN_VECTORS)
    by_threads(lambda name: _write(name, written, staging), written, _AT_ONCE)
    write_file(staging.path / FAISS_INDEX, index[0])
    write_catalog(staging.path, dimension, languages)
    counts = {name: len(table) for name, table in written.items()}
    counts["token_vectors"] = pq.read_metadata(staging.path / TOKEN_VECTORS).num_rows
    plain = passages_without_headings(corpus.passages, passages_each(corpus.documents, corpus.passages))
    manifest = _manifest(run, staging, counts, encoding, index[1], query_model, languages, plain)
    return StagedSnapshot(staging, manifest)


def _manifest(  # noqa: PLR0913, PLR0917  # all that it says
    run: RunContext,
    staging: Staging,
    counts: dict[str, int],
    encoding: Encoding,
    index: IndexRecord,
    query_model: QueryModel,
    languages: list[str],
    without_headings: int,
) -> Manifest:
    model = encoding.encoder.model
    return Manifest(
        format_version=FORMAT_VERSION,
        files=describe(staging, counts),
        counts=counts,
        settings_sha256=run.settings.fingerprint(),
        settings=run.settings.shaping(),
        model=ModelRecord(model.name, model.sha256, encoding.encoder.dimension, encoding.encoder.precision),
        index=index,
        analyzer={"version": analyzer.VERSION, "languages": ",".join(languages)},
        tools=tools(),
        query_model=query_model,
        shard=run.shard,
        passages_without_headings=without_headings,
    )


def _write(name: str, tables: Mapping[str, pa.Table], staging: Staging) -> None:
    write_table(
        tables[name],
        staging.path / table_file(name),
        row_group_size=PASSAGES_PER_GROUP if name in ("passages", "term_vectors") else 65_536,
        row_groups=_row_groups(name, tables),
        ascending=("passage",) if name in _TERMS else (),
    )


def _row_groups(name: str, tables: Mapping[str, pa.Table]) -> list[int] | None:
    """Return the rows of each row group, where they are not all of one size."""
    if name == "assets":
        return [len(batch) for batch in tables[name].to_batches()]
    return _group_sizes(tables[_TERMS[name]]) if name in _TERMS else None


def _group_sizes(terms: pa.Table) -> list[int]:
    """Return the number of terms in each row group of postings, according to the terms table."""
    return [int(size) for size in np.bincount(terms["row_group"].to_numpy())]
