"""The files of a snapshot, written aside from what the stages made, and the manifest that describes them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from ...artifacts.sql.catalog import write_catalog
from ...artifacts.store.layout import FAISS_INDEX, FORMAT_VERSION, table_file
from ...artifacts.store.manifest import IndexRecord, Manifest, ModelRecord
from ...artifacts.store.store import Staging, describe
from ...artifacts.tables.parquet import write_table
from ...artifacts.tables.vectors import save_index
from ...pipeline.lexical import analyzer as text
from ..incremental.tools import tools
from ..run.steps import by_threads
from . import tables as assemble
from .parts import Parts

# Few enough that reading one passage's text reads little else.
PASSAGES_PER_GROUP = 1024
_AT_ONCE = 2


def write_files(staging: Staging, parts: Parts) -> tuple[Staging, Manifest]:
    """Every file of the snapshot but the manifest, which is returned."""
    written = parts.tables()
    by_threads(lambda name: _write(name, written[name], staging, parts), written, _AT_ONCE)
    index, record = parts.index()
    save_index(index, staging.path / FAISS_INDEX)
    write_catalog(staging.path, parts.encoder.dimension, parts.languages)
    counts = {name: len(table) for name, table in written.items()}
    return staging, _manifest(staging, counts, record, parts)


def _write(name: str, table: pa.Table, staging: Staging, parts: Parts) -> None:
    groups = {"postings": parts.prose, "code_postings": parts.code}.get(name)
    write_table(
        table,
        staging.path / table_file(name),
        row_group_size=PASSAGES_PER_GROUP if name in ("passages", "term_vectors") else 65_536,
        row_groups=assemble.group_sizes(groups) if groups else None,
        ascending=("passage",) if groups else (),
    )


def _manifest(staging: Staging, counts: Mapping[str, int], index: IndexRecord, parts: Parts) -> Manifest:
    model = parts.encoder.model
    return Manifest(
        format_version=FORMAT_VERSION,
        files=describe(staging, counts),
        counts=dict(counts),
        settings_sha256=parts.settings.fingerprint(),
        settings=parts.settings.shaping(),
        model=ModelRecord(model.name, model.sha256, parts.encoder.dimension, parts.encoder.precision),
        index=index,
        analyzer={"version": text.VERSION, "languages": ",".join(parts.languages)},
        tools=tools(),
    )
