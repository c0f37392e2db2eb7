"""A tiny, complete and sound snapshot, made of hand-written nouns; another ``edition``, other content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import faiss
import numpy as np
import pyarrow as pa

from noctule.artifacts.disk import durable
from noctule.artifacts.disk.layout import FAISS_INDEX, FORMAT_VERSION, table_file
from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.disk.manifest_records import IndexRecord, ModelRecord
from noctule.artifacts.disk.system_calls import Disk
from noctule.artifacts.sql.catalog import write_catalog
from noctule.artifacts.store.staging import Staging, describe
from noctule.artifacts.store.store import Published, Store
from noctule.artifacts.tables.parquet import write_table
from noctule.artifacts.tables.schemas import (
    ASSETS,
    DOCUMENTS,
    PASSAGES,
    POSTINGS,
    SURFACES,
    TERMS,
    acronyms_table,
    centroids_schema,
    code_blocks_table,
    communities_table,
    documents_table,
    links_table,
    passages_table,
    report_table,
    sections_table,
    term_vectors_schema,
    token_vectors_schema,
    vectors_schema,
    vocabulary_schema,
)
from noctule.artifacts.tables.vectors import Vectors, build_index, flat_record
from noctule.pipeline.identity import canonical_json, doc_id, passage_id, section_id, sha256_hex, text_hash
from noctule.pipeline.model import CodeBlock, Community, Document, Passage, ReportEntry, ResolvedLink, Section
from noctule.pipeline.settings.settings import FIELDS, VectorIndex
from noctule.pipeline.vocabulary.acronyms import Acronym
from tests.pictures import png

DIMENSION = 8
NAMES = ("alpha.md", "beta.md", "gamma.md")
CODE = "print('hello')"


class QuickDisk(Disk):
    """Skips the syncs, which are most of the time and matter only when the power goes."""

    def fsync(self, descriptor: int) -> None:
        """Nothing."""

    def sync_file_system(self, descriptor: int) -> None:
        """Nothing."""


@contextmanager
def _quick_disk() -> Iterator[None]:
    """No syncs for the block's time, unless a test has put in a disk of its own."""
    before = durable.disk
    durable.disk = QuickDisk() if type(before) is Disk else before
    try:
        yield
    finally:
        durable.disk = before


def tiny_tables(edition: int = 0) -> dict[str, pa.Table]:
    """Three documents of two sections each, linked in a row, with one vector for each distinct passage."""
    documents = [_document(name, edition) for name in NAMES]
    passages = [passage for document in documents for passage in _passages(document)]
    hashes = sorted({passage.content_hash for passage in passages})
    return {
        "documents": _filled(
            documents_table(documents),
            DOCUMENTS,
            community=[0, 0, None],
            links_in=[0, 1, 0],
            links_out=[1, 0, 1],
            passages=[2, 2, 2],
        ),
        "sections": sections_table(s for document in documents for s in _sections(document)),
        "passages": _filled(
            passages_table(passages), PASSAGES, vector_row=[hashes.index(p.content_hash) for p in passages]
        ),
        "code_blocks": code_blocks_table(_code_block(document) for document in documents),
        "links": links_table(_links(documents)),
        "assets": _assets(edition),
        "communities": communities_table([Community(0, "alpha, beta", ("alpha", "beta"), 2, 1.0, 0.5)]),
        "terms": _terms(["body", f"edition{edition}"], [[0, 1, 2, 3, 4, 5], [1, 3, 5]]),
        "postings": _postings(["body", f"edition{edition}"], [[0, 1, 2, 3, 4, 5], [1, 3, 5]]),
        "code_terms": _terms(["print"], [[1, 3, 5]]),
        "code_postings": _postings(["print"], [[1, 3, 5]]),
        "surfaces": _surfaces(edition),
        "acronyms": acronyms_table([Acronym("TS", "tiny snapshot", 3), Acronym("TS", "test", 1)]),
        "vocabulary": _vocabulary(),
        "vectors": pa.table(
            [pa.array(hashes), _lists(unit_rows(len(hashes), edition))], schema=vectors_schema(DIMENSION)
        ),
        "centroids": pa.table(
            [[document.doc_id for document in documents], _lists(unit_rows(3, edition))],
            schema=centroids_schema(DIMENSION),
        ),
        "term_vectors": _quantized(["body", f"edition{edition}"], term_vectors_schema(DIMENSION)),
        "token_vectors": _quantized(["##s", "[UNK]", "owl"], token_vectors_schema(DIMENSION)),
        "report": report_table([ReportEntry("notes", "bad.md", "quarantined", "not UTF-8")]),
    }


def unit_rows(rows: int, seed: int = 0) -> np.ndarray:
    """Random unit vectors, the same for a seed every time."""
    vectors = np.random.default_rng(seed).normal(size=(rows, DIMENSION)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def write_index(vectors: Vectors, path: Path, wanted: VectorIndex | None = None) -> IndexRecord:
    """A FAISS file with the rows in order, and what the manifest says of it."""
    index, record = build_index(vectors, wanted or VectorIndex())
    faiss.write_index(index, str(path))
    return record


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """The tables' files, and the index over their vectors."""
    for name, table in tables.items():
        write_table(table, folder / table_file(name))
    flat = tables["vectors"]["vector"].combine_chunks().flatten().to_numpy()
    write_index(np.ascontiguousarray(flat).reshape(-1, DIMENSION), folder / FAISS_INDEX)
    write_catalog(folder, DIMENSION, ["en"])


def manifest_of(folder: Path, tables: Mapping[str, pa.Table], edition: int = 0) -> Manifest:
    """A manifest of what lies in the folder."""
    settings = {"edition": edition, "chunk": {"max_tokens": 256}}
    return Manifest(
        format_version=FORMAT_VERSION,
        files=describe(Staging(folder), {name: table.num_rows for name, table in tables.items()}),
        counts={"documents": tables["documents"].num_rows, "passages": tables["passages"].num_rows},
        settings_sha256=sha256_hex(canonical_json(settings).encode()),
        settings=settings,
        model=ModelRecord(name="test", sha256="0" * 64, dimension=DIMENSION, precision="fp32"),
        index=flat_record(DIMENSION),
        analyzer={"languages": "en"},
        tools={"noctule": "0"},
    )


def build_tiny_snapshot(folder: Path, edition: int = 0) -> Manifest:
    """All files of a snapshot but the manifest, in an existing folder; and that manifest."""
    tables = tiny_tables(edition)
    with _quick_disk():
        write_tables(folder, tables)
    return manifest_of(folder, tables, edition)


def publish_tiny_snapshot(store: Store, edition: int = 0) -> Published:
    """One whole run over the store: lock, stage, publish."""
    with _quick_disk(), store.lock("test"):
        staging = store.stage()
        return store.publish(staging, build_tiny_snapshot(staging.path, edition))


def _document(name: str, edition: int) -> Document:
    text = f"Intro of {name}.\n## Use\nBody of edition {edition}.\n\n    {CODE}\n"
    return Document(
        doc_id=doc_id("notes", name),
        collection="notes",
        path=name,
        title=name,
        url=name,
        syntax="markdown",
        text=text,
        html="",
        sha256=sha256_hex(text.encode()),
        language="en",
        tags=("tiny",),
    )


def _sections(document: Document) -> list[Section]:
    heading = document.text.index("## Use\n")
    after, end = heading + len("## Use\n"), len(document.text)
    key, text = document.doc_id, document.text
    root = Section(
        section_id(key, ""),
        key,
        None,
        0,
        0,
        document.title,
        "",
        document.title,
        0,
        end,
        heading,
        1,
        text[:heading],
    )
    use = Section(
        section_id(key, "use"),
        key,
        root.section_id,
        1,
        1,
        "Use",
        "use",
        f"{document.title} > Use",
        after,
        end,
        end,
        1,
        text[after:],
    )
    return [root, use]


def _passages(document: Document) -> list[Passage]:
    return [
        Passage(
            passage_id=passage_id(document.doc_id, ordinal),
            doc_id=document.doc_id,
            section_id=section.section_id,
            ordinal=ordinal,
            text=section.body,
            code="",
            breadcrumb=section.breadcrumb,
            headings=(section.title,) if section.depth else (),
            byte_start=section.byte_start,
            byte_end=section.body_end,
            tokens=9,
            content_hash=text_hash(section.body),
        )
        for ordinal, section in enumerate(_sections(document))
    ]


def _code_block(document: Document) -> CodeBlock:
    start = document.text.index(CODE)
    section = section_id(document.doc_id, "use")
    return CodeBlock(document.doc_id, section, 0, "python", CODE, start, start + len(CODE))


def _links(documents: list[Document]) -> list[ResolvedLink]:
    alpha, beta, gamma = (document.doc_id for document in documents)
    return [
        ResolvedLink(alpha, beta, "use", "link", "beta.md#use", "beta", 0, "resolved"),
        ResolvedLink(gamma, None, "", "wikilink", "nowhere", "nowhere", 0, "missing-document"),
        ResolvedLink(gamma, None, "", "image", "owl.png", "an owl", 1, "asset", "owl.png"),
    ]


def _assets(edition: int) -> pa.Table:
    content = png(2, 1, edition)
    row = ("notes", "owl.png", sha256_hex(content), "image/png", len(content), 2, 1, content)
    return pa.table([pa.array([value], field.type) for value, field in zip(row, ASSETS, strict=True)], ASSETS)


def _terms(terms: list[str], passages: list[list[int]]) -> pa.Table:
    counts = [len(rows) for rows in passages]
    highest = [float(n) for n in counts]
    return pa.table([terms, counts, [1.0 / n for n in counts], highest, [0] * len(terms)], schema=TERMS)


def _postings(terms: list[str], passages: list[list[int]]) -> pa.Table:
    scores = [[float(n + 1) for n in range(len(rows))] for rows in passages]
    fields = [[1 << FIELDS.index("body")] * len(rows) for rows in passages]
    return pa.table([terms, passages, scores, fields], schema=POSTINGS)


def _surfaces(edition: int) -> pa.Table:
    word = f"edition{edition}"
    return pa.table([["body", word], ["en", "en"], [["body"], [word]], [6, 3]], schema=SURFACES)


def _vocabulary() -> pa.Table:
    terms, near = ["alpha", "beta"], [["beta"], ["alpha"]]
    return pa.table(
        [terms, terms, [3, 3], [0.5, 0.5], _lists(unit_rows(2)), near, [[0.5], [0.5]]],
        schema=vocabulary_schema(DIMENSION),
    )


def _quantized(terms: list[str], schema: pa.Schema) -> pa.Table:
    codes = np.random.default_rng(1).integers(-127, 128, size=(len(terms), DIMENSION)).astype(np.int8)
    return pa.table(
        [
            terms,
            [0.01] * len(terms),
            pa.FixedSizeListArray.from_arrays(pa.array(codes.ravel()), DIMENSION),
        ],
        schema=schema,
    )


def _lists(rows: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), type=pa.list_(pa.float32(), DIMENSION))


def _filled(table: pa.Table, schema: pa.Schema, **columns: list[int | None]) -> pa.Table:
    for name, values in columns.items():
        table = table.set_column(
            schema.get_field_index(name), schema.field(name), pa.array(values, type=schema.field(name).type)
        )
    return table
