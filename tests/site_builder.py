"""Small snapshots for the site, made in memory by the real parsers from texts by path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq
from bs4 import BeautifulSoup

from noctule.artifacts.tables import schemas as tables
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages.documents import render_page
from noctule.pipeline.address import heading_slugs
from noctule.pipeline.assets.media import recognise
from noctule.pipeline.chunk.sections import build_tree, code_blocks
from noctule.pipeline.communities.communities import Partition, find_clusters, link_graph, named
from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.redirects import NO_REDIRECTS, Redirects
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, ResolvedLink, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Communities, Site


@dataclass(frozen=True)
class TablesInMemory:
    """What the site needs of a snapshot."""

    id: str
    tables: Mapping[str, pa.Table]
    spill: Path | None = None

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        table = self.tables.get(name)
        if table is None:  # a snapshot has every table; what a test does not need is empty
            table = tables.schemas(4)[name].empty_table()
        return table.select(list(columns)) if columns else table

    def open_tables(self, name: str) -> Sequence[pq.ParquetFile]:
        written = BytesIO()
        pq.write_table(self.table(name), written)
        return (pq.ParquetFile(written),)


def snapshot_of(
    collections: Mapping[str, Mapping[str, str]],
    assets: Mapping[str, bytes] = MappingProxyType({}),
    redirects: Redirects = NO_REDIRECTS,
) -> TablesInMemory:
    """A snapshot of these collections: texts by path, beside which lie the files in ``assets``."""
    settings = {name: Collection(root=".") for name in collections}
    sources = (
        Source(name, path, text.encode(), sha256_hex(text.encode()))
        for name, texts in sorted(collections.items())
        for path, text in sorted(texts.items())
    )
    return snapshot_of_sources(sources, settings, assets, redirects)


def snapshot_of_sources(
    sources: Iterable[Source],
    settings: Mapping[str, Collection],
    assets: Mapping[str, bytes] = MappingProxyType({}),
    redirects: Redirects = NO_REDIRECTS,
) -> TablesInMemory:
    """A snapshot of sources; those that cannot be parsed are left out."""
    documents: list[Document] = []
    for source in sources:
        try:
            documents.append(parse(source, settings[source.collection]))
        except RejectedDocument:
            continue
    documents.sort(key=lambda d: d.doc_id)
    trees = [build_tree(document) for document in documents]
    linking = [linking_document(d, heading_slugs(d.headings)) for d in documents]
    links = resolve_links(linking, settings, dict.fromkeys(settings, assets), redirects)
    graph = link_graph([d.doc_id for d in documents], links)
    clusters = find_clusters(graph, Communities())
    titles = {d.doc_id: d.title for d in documents}
    # Whatever the links: tests of the site want every topic named.
    names = {number: (titles[graph.documents[rows[0]]],) * 2 for number, rows in clusters.members.items()}
    found = named(clusters, graph, names)
    links_in = dict(zip(graph.documents, graph.links_in.tolist(), strict=True))
    made = {
        "documents": _with_graph(tables.documents_table(documents), found, links_in),
        "sections": tables.sections_table(node.section for tree in trees for node in tree),
        "code_blocks": tables.code_blocks_table(
            block for d, tree in zip(documents, trees, strict=True) for block in code_blocks(d, tree)
        ),
        "links": tables.links_table(links),
        "assets": _assets(links, assets),
        "communities": tables.communities_table(found.communities),
    }
    described = repr({name: table.to_pydict() for name, table in sorted(made.items())})
    return TablesInMemory(sha256_hex(described.encode())[:20], made)


def _assets(links: Iterable[ResolvedLink], contents: Mapping[str, bytes]) -> pa.Table:
    rows = []
    for collection, path in sorted({(link.source_id.partition(":")[0], link.asset or "") for link in links}):
        if path:
            content, found = contents[path], recognise(path, contents[path])
            assert found.kind is not None, found.fault
            size = (len(content), found.width, found.height)
            rows.append((collection, path, sha256_hex(content), found.kind.name, *size, content))
    columns = [pa.array([row[at] for row in rows], field.type) for at, field in enumerate(tables.ASSETS)]
    return pa.Table.from_arrays(columns, schema=tables.ASSETS)


def _with_graph(documents: pa.Table, found: Partition, links_in: Mapping[str, int]) -> pa.Table:
    ids = documents.column("doc_id").to_pylist()
    columns = {"community": [found.of.get(i) for i in ids], "links_in": [links_in.get(i, 0) for i in ids]}
    for name, values in columns.items():
        place = documents.schema.get_field_index(name)
        documents = documents.set_column(place, documents.schema.field(name), pa.array(values, pa.int32()))
    return documents


def page_of(
    texts: Mapping[str, str],
    page: str,
    settings: Site | None = None,
    assets: Mapping[str, bytes] = MappingProxyType({}),
) -> BeautifulSoup:
    """One page of the site of a single collection, parsed."""
    plan = plan_site(snapshot_of({"notes": texts}, assets), settings or Site())
    entry = plan.by_page[page]
    made = render_page(plan, entry, plan.renderer.render(entry))
    return BeautifulSoup(made.content, "html.parser")


def content_of(text: str, **others: str) -> str:
    """The content of a page written as ``text``, as HTML; other pages by name without ending."""
    texts = {"page.md": text} | {f"{name}.md": other for name, other in others.items()}
    plan = plan_site(snapshot_of({"notes": texts}), Site())
    return plan.renderer.render(plan.by_page["page.html"]).html
