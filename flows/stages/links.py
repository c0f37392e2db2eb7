"""Links, the graph they form between documents, its communities, and their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas
from ...artifacts.tables.outside_memory import mapped_table
from ...pipeline.communities import communities, names
from ...pipeline.communities.communities import Clusters, LinkGraph, Partition
from ...pipeline.lexical.analyzer import prose_analyzer
from ...pipeline.lexical.bm25f import LexicalIndex
from ...pipeline.links.redirects import redirects_of
from ...pipeline.links.resolve import each_resolved
from ...pipeline.model import ResolvedLink
from ..run.context import RunContext
from .assets import FoundAssets

# Edges; with fewer, communities are found before another process is up.
_LARGE_GRAPH = 20_000
_COMMON_SHARE = 0.2
_MIN_PASSAGES_TO_TELL = 100
_LINKS_AT_A_TIME = 65_536


class StoredLinks(Collection[ResolvedLink]):
    """Links in order, outside memory; ``rows`` is their table, and each iteration makes the objects anew."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ResolvedLink]:
        for batch in self.rows.to_batches():
            yield from map(ResolvedLink, *(column.to_pylist() for column in batch.columns))

    def __contains__(self, link: object) -> bool:
        return any(each == link for each in self)


def resolve(run: RunContext, parsed: ParsedCorpus, found: FoundAssets) -> StoredLinks:
    """Return every link of the corpus with its target, or the reason why it has none."""
    settings, redirects = run.settings, redirects_of(run.settings.site)
    documents = parsed.linking_documents()
    links = each_resolved(documents.in_order(), documents, settings.collections, found.paths(), redirects)
    return stored(links, run.store)


def stored(links: Iterable[ResolvedLink], folder: Path) -> StoredLinks:
    """Return links in order, kept outside memory; raise ``WriteFailed``."""
    rest = iter(links)
    blocks = iter(lambda: list(islice(rest, _LINKS_AT_A_TIME)), [])
    return StoredLinks(mapped_table(schemas.LINKS, map(schemas.links_table, blocks), folder))


def make_link_graph(corpus: ParsedCorpus, links: Iterable[ResolvedLink]) -> LinkGraph:
    """Return the graph that the links form between the documents."""
    return communities.link_graph(corpus.documents["doc_id"].to_pylist(), links)


def find_communities(run: RunContext, graph: LinkGraph) -> Clusters:
    """Return the communities of the link graph, without names."""
    return communities.find_clusters(graph, run.settings.communities)


def is_large_graph(_run: RunContext, graph: LinkGraph) -> bool:
    """Return whether finding communities takes longer than starting a process."""
    return len(graph.source) >= _LARGE_GRAPH


def name_topics(
    run: RunContext, corpus: ParsedCorpus, clusters: Clusters, graph: LinkGraph, prose: LexicalIndex
) -> Partition:
    """Return the communities with names, taken from titles of their pages and phrases of their headings."""
    titles, headings = (_columns(each, "doc_id", "title") for each in (corpus.documents, corpus.sections))
    common = common_terms(prose, len(corpus.passages)) | words_of(run.settings.collections)
    headed = names.Headed.of(graph.documents, titles, headings, common)
    return communities.named(
        clusters, graph, names.name_communities(clusters, graph, headed, run.settings.communities)
    )


def common_terms(prose: LexicalIndex, passages: int) -> frozenset[str]:
    """Return terms found in too many passages to name anything: the corpus's own stop words.

    A small corpus has too little evidence, and gets none.
    """
    if passages < _MIN_PASSAGES_TO_TELL:
        return frozenset()
    return frozenset(prose.terms[i] for i in np.flatnonzero(prose.frequency > _COMMON_SHARE * passages))


def words_of(collections: Iterable[str]) -> frozenset[str]:
    """Return the words in the names of collections, which set no topic apart from another."""
    analyzer = prose_analyzer("en")
    return frozenset(word for name in collections for word in analyzer.tokens(name.replace("_", " ")))


def _columns(table: pa.Table, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def link_tables(
    links: StoredLinks, partition: Partition, assets: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """Return the tables of links and communities; a link to an asset that cannot be used leads nowhere."""
    return {
        "links": _settled(links.rows, assets["assets"]),
        "communities": schemas.communities_table(partition.communities),
    }


def _settled(links: pa.Table, assets: pa.Table) -> pa.Table:
    usable = set(_columns(assets, "collection", "path"))
    rows = links.select(["source_id", "asset"]).append_column("row", pa.array(np.arange(len(links))))
    to_assets = _columns(rows.filter(pc.is_valid(rows["asset"])), "source_id", "asset", "row")
    lost = np.zeros(len(links), dtype=np.bool_)
    lost[[at for source, asset, at in to_assets if (source.partition(":")[0], asset) not in usable]] = True
    if not lost.any():
        return links
    for name, value in (("status", "missing-asset"), ("asset", None)):
        at, kind = links.schema.get_field_index(name), schemas.LINKS.field(name)
        found = pc.if_else(pa.array(lost), pa.scalar(value, kind.type), links[name])
        links = links.set_column(at, kind, found)
    return links
