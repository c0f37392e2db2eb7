"""Links, the graph that they make of the documents, its communities, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from ...artifacts.cache.parsed_corpus import Understood
from ...artifacts.tables import schemas
from ...pipeline.communities.communities import (
    Clusters,
    LinkGraph,
    Partition,
    find_clusters,
    link_graph,
    named,
)
from ...pipeline.lexical.analyzer import prose_analyzer
from ...pipeline.lexical.bm25f import LexicalIndex
from ...pipeline.links.resolve import resolve_links
from ...pipeline.model import DocId, ResolvedLink
from ...pipeline.settings.settings import Settings
from ..run.context import RunContext

# Edges; with fewer, communities are found before another process is up.
_LARGE_GRAPH = 20_000
_LABEL_MIN_CHARS = 3
_COMMON_SHARE = 0.2
_MIN_PASSAGES_TO_TELL = 100


def resolve(run: RunContext, parsed: Understood) -> list[ResolvedLink]:
    """Return every link of the corpus with where it leads, or why it leads nowhere."""
    return resolve_links(parsed.linking, run.settings.collections)


def make_link_graph(corpus: Understood, links: Iterable[ResolvedLink]) -> LinkGraph:
    """Return the graph that the links make of the documents."""
    return link_graph(corpus.documents["doc_id"].to_pylist(), links)


def find_communities(run: RunContext, graph: LinkGraph) -> Clusters:
    """Return the communities of the link graph, without names."""
    return find_clusters(graph, run.settings.communities)


def is_large_graph(_run: RunContext, graph: LinkGraph) -> bool:
    """Return whether finding communities takes longer than starting a process."""
    return len(graph.source) >= _LARGE_GRAPH


def name_topics(
    run: RunContext, corpus: Understood, clusters: Clusters, graph: LinkGraph, prose: LexicalIndex
) -> Partition:
    """Return the communities with the names that their documents give them."""
    return name_communities(corpus, clusters, graph, prose, run.settings)


def name_communities(
    corpus: Understood, clusters: Clusters, graph: LinkGraph, prose: LexicalIndex, settings: Settings
) -> Partition:
    """The communities by the words that set their documents apart."""
    common = _common_terms(prose, len(corpus.passages))
    terms = dict(_label_terms(corpus.documents, common))
    return named(clusters, graph, terms, settings.communities)


def _common_terms(prose: LexicalIndex, passages: int) -> frozenset[str]:
    """Terms of so many passages that they name nothing: the corpus's own stop words, if it has enough to tell."""
    if passages < _MIN_PASSAGES_TO_TELL:
        return frozenset()
    return frozenset(prose.terms[i] for i in np.flatnonzero(prose.frequency > _COMMON_SHARE * passages))


def _label_terms(documents: pa.Table, common: frozenset[str]) -> Iterable[tuple[DocId, list[str]]]:
    """The words that may name a community a document is in: those of its title and tags, as written."""
    columns = [documents.column(name).to_pylist() for name in ("doc_id", "title", "tags", "language")]
    for doc_id, title, tags, language in zip(*columns, strict=True):
        analyzer = prose_analyzer(language)
        words = {
            word for word in analyzer.tokens(title) if len(word) >= _LABEL_MIN_CHARS and not word.isdigit()
        }
        telling = {*tags, *(word for word in words if common.isdisjoint(analyzer.expand(word)))}
        yield doc_id, sorted(telling or words or {title})


def link_tables(links: Sequence[ResolvedLink], partition: Partition) -> dict[str, pa.Table]:
    """Return the tables of links and communities."""
    return {
        "links": schemas.links_table(links),
        "communities": schemas.communities_table(partition.communities),
    }
