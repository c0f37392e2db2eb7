"""Arrow schemas of a snapshot's tables, and the conversion of domain objects to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from ...pipeline.address import heading_slugs
from ...pipeline.embedding.quantization import QuantizedTermVectors
from ...pipeline.model import Document, ReportEntry

STRINGS = pa.list_(pa.string())


def _schema(**fields: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in fields.items()])


DOCUMENTS = _schema(
    doc_id=pa.string(),
    collection=pa.string(),
    path=pa.string(),
    title=pa.string(),
    url=pa.string(),
    description=pa.string(),
    tags=STRINGS,
    aliases=STRINGS,
    keywords=STRINGS,
    author=pa.string(),
    language=pa.string(),
    modified=pa.string(),
    sha256=pa.string(),
    syntax=pa.string(),
    anchors=STRINGS,
    community=pa.int32(),
    links_in=pa.int32(),
    links_out=pa.int32(),
    passages=pa.int32(),
    front_matter=pa.string(),
    text=pa.string(),
    html=pa.string(),
)
SECTIONS = _schema(
    section_id=pa.string(),
    doc_id=pa.string(),
    parent_id=pa.string(),
    depth=pa.int8(),
    position=pa.int32(),
    title=pa.string(),
    slug=pa.string(),
    breadcrumb=pa.string(),
    byte_start=pa.int32(),
    byte_end=pa.int32(),
    body_end=pa.int32(),
    sibling_count=pa.int32(),
    body=pa.string(),
)
PASSAGES = _schema(
    passage_id=pa.string(),
    doc_id=pa.string(),
    section_id=pa.string(),
    ordinal=pa.int32(),
    text=pa.string(),
    code=pa.string(),
    breadcrumb=pa.string(),
    headings=STRINGS,
    byte_start=pa.int32(),
    byte_end=pa.int32(),
    tokens=pa.int32(),
    content_hash=pa.string(),
    vector_row=pa.int32(),
)
CODE_BLOCKS = _schema(
    doc_id=pa.string(),
    section_id=pa.string(),
    ordinal=pa.int32(),
    language=pa.string(),
    text=pa.string(),
    byte_start=pa.int32(),
    byte_end=pa.int32(),
)
LINKS = _schema(
    source_id=pa.string(),
    target_id=pa.string(),
    fragment=pa.string(),
    kind=pa.string(),
    target=pa.string(),
    text=pa.string(),
    ordinal=pa.int32(),
    status=pa.string(),
    asset=pa.string(),
)
ASSETS = _schema(
    collection=pa.string(),
    path=pa.string(),
    asset_id=pa.string(),
    media_type=pa.string(),
    bytes=pa.int64(),
    width=pa.int32(),
    height=pa.int32(),
    content=pa.large_binary(),
)
COMMUNITIES = _schema(
    community_id=pa.int32(),
    label=pa.string(),
    terms=STRINGS,
    size=pa.int32(),
    internal_weight=pa.float64(),
    share=pa.float64(),
)
TERMS = _schema(
    term=pa.string(), passages=pa.int32(), idf=pa.float64(), max_score=pa.float32(), row_group=pa.int32()
)
POSTINGS = _schema(
    term=pa.string(),
    passage=pa.list_(pa.int32()),
    score=pa.list_(pa.float32()),
    fields=pa.list_(pa.uint16()),
)
SURFACES = _schema(surface=pa.string(), language=pa.string(), terms=STRINGS, count=pa.int64())
ACRONYMS = _schema(acronym=pa.string(), expansion=pa.string(), documents=pa.int32())
REPORT = _schema(collection=pa.string(), path=pa.string(), kind=pa.string(), reason=pa.string())


def vocabulary_schema(dimension: int) -> pa.Schema:
    """Return the schema of words sorted by name, each with its index term, unit vector and nearest words."""
    return _schema(
        term=pa.string(),
        index_term=pa.string(),
        passages=pa.int32(),
        idf=pa.float64(),
        vector=pa.list_(pa.float32(), dimension),
        near=STRINGS,
        near_similarity=pa.list_(pa.float32()),
    )


def vectors_schema(dimension: int) -> pa.Schema:
    """Return the schema of content hashes and unit vectors; row ``r`` is row ``r`` of the FAISS index."""
    return _schema(content_hash=pa.string(), vector=pa.list_(pa.float32(), dimension))


def centroids_schema(dimension: int) -> pa.Schema:
    """Return the schema whose row ``r`` is the centroid of document ``r``; zeros if it has no passages."""
    return _schema(doc_id=pa.string(), vector=pa.list_(pa.float32(), dimension))


def term_vectors_schema(dimension: int) -> pa.Schema:
    """Return the schema of sorted index terms; ``scale · code`` is what a term adds to a query's vector."""
    return _schema(term=pa.string(), scale=pa.float32(), code=pa.list_(pa.int8(), dimension))


def token_vectors_schema(dimension: int) -> pa.Schema:
    """Return the schema of sorted tokens; ``scale · code`` is a token's vector, as long as it is rare."""
    return _schema(token=pa.string(), scale=pa.float32(), code=pa.list_(pa.int8(), dimension))


def quantized_table(found: QuantizedTermVectors, schema: Callable[[int], pa.Schema]) -> pa.Table:
    """Return quantized vectors as rows of one of the two schemas that have them."""
    codes, dimension = pa.array(np.ascontiguousarray(found.code).ravel()), found.code.shape[1]
    rows = [
        pa.array(found.terms, type=pa.string()),
        pa.array(found.scale),
        pa.FixedSizeListArray.from_arrays(codes, dimension),
    ]
    return pa.Table.from_arrays(rows, schema=schema(dimension))


def schemas(dimension: int) -> Mapping[str, pa.Schema]:
    """Return the schema of every table of a snapshot whose vectors have this many dimensions."""
    return {
        "documents": DOCUMENTS,
        "sections": SECTIONS,
        "passages": PASSAGES,
        "code_blocks": CODE_BLOCKS,
        "links": LINKS,
        "assets": ASSETS,
        "communities": COMMUNITIES,
        "terms": TERMS,
        "postings": POSTINGS,
        "code_terms": TERMS,
        "code_postings": POSTINGS,
        "surfaces": SURFACES,
        "acronyms": ACRONYMS,
        "vocabulary": vocabulary_schema(dimension),
        "vectors": vectors_schema(dimension),
        "centroids": centroids_schema(dimension),
        "term_vectors": term_vectors_schema(dimension),
        "token_vectors": token_vectors_schema(dimension),
        "report": REPORT,
    }


def documents_table(documents: Iterable[Document]) -> pa.Table:
    """Return documents as rows, ``anchors`` from headings; what the whole corpus determines is still null."""
    nouns = list(documents)
    anchors = pa.array([(*heading_slugs(noun.headings), *noun.inner_anchors) for noun in nouns], type=STRINGS)
    return _table(nouns, DOCUMENTS).set_column(DOCUMENTS.get_field_index("anchors"), "anchors", anchors)


def _table(rows: Iterable[Any], schema: pa.Schema) -> pa.Table:
    nouns = list(rows)
    if not nouns:
        return schema.empty_table()
    columns = [
        pa.array(list(map(attrgetter(field.name), nouns)), type=field.type)
        if hasattr(nouns[0], field.name)
        else pa.nulls(len(nouns), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


# Sections, passages (``vector_row`` is null until they are embedded) and so on, as rows.
sections_table = partial(_table, schema=SECTIONS)
passages_table = partial(_table, schema=PASSAGES)
code_blocks_table = partial(_table, schema=CODE_BLOCKS)
links_table = partial(_table, schema=LINKS)
communities_table = partial(_table, schema=COMMUNITIES)
acronyms_table = partial(_table, schema=ACRONYMS)


def report_table(rejections: Sequence[ReportEntry]) -> pa.Table:
    """Return rejected files as rows, sorted."""
    return _table(sorted(rejections, key=lambda r: (r.collection, r.path, r.kind)), REPORT)
