"""The export of the model that encodes queries for readers: once for a store, or for stores that share it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from ....artifacts.disk.layout import ONNX_MODEL, QUERY_MODEL_FILES, TOKEN_VECTORS, TOKENIZER
from ....artifacts.disk.manifest_records import FileEntry, QueryModel
from ....artifacts.store import query_models
from ....artifacts.store.snapshot import read_manifest
from ....artifacts.store.store import Store
from ....artifacts.tables.parquet import table_bytes
from ....artifacts.tables.schemas import quantized_table, token_vectors_schema
from ....pipeline.embedding.model_files import ModelFiles
from ....pipeline.embedding.onnx_export import NotExportable, export, exporter
from ....pipeline.errors import ArtifactError
from ...run.context import RunContext
from ...run.memory import release_memory
from .encode import Encoding

_log = logging.getLogger("noctule")
EXPORT_STAGE = "query model"
EXPORTING = "exporting the model for searching, once per store: this can take a minute or more"
_TOKENS_PER_GROUP = 1_024


def export_query_model(run: RunContext, store: Store, encoding: Encoding) -> QueryModel:
    """Return the model as readers encode queries with it; exported unless ``known_query_model`` has it.

    With ``NOCTULE_MODELS`` set to a folder, stores share their exports there. Raise ``WriteFailed``.
    """
    model = encoding.encoder.model
    shared = _shared_exports(model)
    if (known := known_query_model(run, store, model)) is not None:
        return known
    with shared.alone() if shared else nullcontext():
        if shared and (known := known_query_model(run, store, model)) is not None:
            return known
        _log.info("%s", EXPORTING)
        files = _export(run, store)
        release_memory()
        if shared and files:
            shared.take(store.root, files)
    return _query_model(model, files)


def known_query_model(run: RunContext, store: Store, model: ModelFiles) -> QueryModel | None:
    """Return the model as it was exported earlier, also by another store; ``None`` if it was not.

    Every byte of it is read. Raise ``WriteFailed``.
    """
    if run.options.start == EXPORT_STAGE:
        return None
    kept, shared = _exported_before(store, model.sha256, exporter()), _shared_exports(model)
    files = shared.give(store.root) if kept is None and shared else kept
    return None if files is None else _query_model(model, files)


def _query_model(model: ModelFiles, files: Mapping[str, FileEntry]) -> QueryModel:
    return QueryModel(exporter(), model.max_tokens, model.query_prompt, files)


def _shared_exports(model: ModelFiles) -> query_models.ExportedModels | None:
    folder = os.environ.get("NOCTULE_MODELS", "")
    path = Path(folder).expanduser().absolute()
    return query_models.ExportedModels(path, model.sha256, exporter()) if folder else None


def _exported_before(store: Store, model_sha256: str, made_by: str) -> Mapping[str, FileEntry] | None:
    """Return the files that the current snapshot names if they are of this model and sound."""
    try:
        current = store.current()
        manifest = None if current is None else read_manifest(store.path_of(current), current)
    except ArtifactError:
        return None
    record = None if manifest is None else manifest.query_model
    if manifest is None or record is None:
        return None
    is_whole = sorted(record.files) in ([], sorted(QUERY_MODEL_FILES))
    is_same = is_whole and manifest.model.sha256 == model_sha256 and record.exporter == made_by
    return record.files if is_same and query_models.is_sound(store.root, record) else None


def _export(run: RunContext, store: Store) -> dict[str, FileEntry]:
    """Export the model into the store and return its files; none if it has no form that says the same."""
    try:
        made = export(run.settings.embed)
    except NotExportable as error:
        _log.warning("queries will be encoded by torch: the model cannot be exported: %s", error)
        return {}
    tokens = table_bytes(quantized_table(made.tokens, token_vectors_schema), _TOKENS_PER_GROUP)
    contents = {ONNX_MODEL: made.model, TOKENIZER: made.tokenizer, TOKEN_VECTORS: tokens}
    files = {name: query_models.entry_of(content) for name, content in contents.items()}
    query_models.keep(
        store.root, {query_models.file_name(name, each): contents[name] for name, each in files.items()}
    )
    what = "the model was exported with weights of %d bits; its lowest cosine similarity to torch is %.7f"
    _log.info(what, made.weight_bits, made.least_cosine)
    return files
