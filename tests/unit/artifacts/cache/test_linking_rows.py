"""Documents that links can lead to, as rows of a table: what they cost, and that links find the same ones."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.cache.linking_rows import (
    ADDRESSES,
    LINKING,
    LinkingRows,
    linking_column,
    linking_table,
)
from noctule.pipeline.links.linking_documents import LinkingDocument, ListedDocuments
from noctule.pipeline.links.name_index import NameIndex
from noctule.pipeline.links.resolve import each_resolved, resolve_links
from noctule.pipeline.links.targets import link_targets
from noctule.pipeline.model import DocId, Link
from noctule.pipeline.settings.collection import Collection

SETTINGS = {"c": Collection(root="docs")}
BYTES_A_DOCUMENT = 150


def _document(collection: str, path: str, *links: str, title: str = "") -> LinkingDocument:
    made = [Link("link", target, target, at) for at, target in enumerate(links)]
    name = DocId(f"{collection}:{path}")
    return LinkingDocument(name, collection, path, f"https://x.org/{path}", title or path, (), ("a.b",), made)


def _many(count: int) -> pa.Table:
    """Return documents of one collection in folders of a hundred."""
    paths = [f"section{at // 100}/a page with a name of usual length {at}.md" for at in range(count)]
    columns = {
        "doc_id": [f"c:{path}" for path in paths],
        "collection": ["c"] * count,
        "path": paths,
        "url": [f"https://example.org/docs/{path}" for path in paths],
        "title": [f"A page with a name of usual length {at}" for at in range(count)],
        "aliases": [[f"/pages/{at}"] for at in range(count)],
        "anchors": [["overview", "see-also", f"step-{at}"] for at in range(count)],
    }
    return pa.table(
        [pa.array(columns[name], LINKING.field(name).type) for name in ADDRESSES], names=ADDRESSES
    )


def test_a_document_costs_little_memory_while_links_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noctule.artifacts.cache.linking_rows._KEPT", 100)
    count = 30_000
    table = _many(count)
    arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        targets = link_targets(LinkingRows(table), SETTINGS)["c"]
        left, peak = (each + pa.total_allocated_bytes() - arrow for each in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert left < BYTES_A_DOCUMENT * count
    assert peak < 1.5 * BYTES_A_DOCUMENT * count, "while the names are sorted"
    found = targets.at("section299/a page with a name of usual length 29999")
    assert found is not None and found.title == "A page with a name of usual length 29999"


def test_rows_in_any_order_give_the_links_that_documents_in_memory_do(tmp_path: Path) -> None:
    documents = [
        _document("d", "z.md", "y/x.md", "c:n.md", "/y/x"),
        _document("c", "n.md", "deep/n.md", "m", "https://x.org/deep/n.md"),
        _document("c-d", "n.md", "n.md", "other.md#a.b"),
        _document("c", "deep/n.md", "../n.md#a.b", "n.md#nowhere"),
        _document("d", "y/x.md", "#a.b", title="m"),
        _document("c-d", "other.md", "N.md", "a.b"),
    ]
    table = linking_table(linking_column(documents))
    parts = pa.concat_tables([table.slice(at, 1) for at in range(len(table))])
    settings = {name: Collection(root=str(tmp_path / name)) for name in ("c", "c-d", "d")}
    for rows in (LinkingRows(table), LinkingRows(parts)):
        wanted = resolve_links(documents, settings)
        assert list(each_resolved(rows.in_order(), rows, settings)) == wanted
        assert sum(each.target_id is not None for each in wanted) > 5
    assert [document.doc_id for document in LinkingRows(table).in_order()] == sorted(
        document.doc_id for document in documents
    )


def test_names_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = ListedDocuments([_document("c", f"{at}.md") for at in range(4)])
    monkeypatch.setattr("noctule.pipeline.links.name_index.hash", lambda _: 7, raising=False)
    index = NameIndex(documents, lambda document: (document.path,))
    for row, document in enumerate(documents):
        index.add(row, document)
    index.sort(documents.order)
    found = [index.get(f"{at}.md") for at in range(5)]
    assert [each and each.path for each in found] == ["0.md", "1.md", "2.md", "3.md", None]
