"""The link graph over all shards as a list of edges, its communities, and what each shard needs of them.

The pass ``communities`` is one over all shards at once. One worker makes it: it holds some kilobytes for each
document of the corpus, and the driver none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.tables.parquet import tuples
from ...artifacts.tables.schemas import communities_table
from ...pipeline.communities import communities, names
from ...pipeline.communities.communities import Clusters, LinkGraph, Partition
from ...pipeline.lexical.bm25f import LexicalIndex
from ...pipeline.model import Community, DocId
from ...pipeline.settings.settings import Settings
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.links import common_terms, words_of
from .files import PassFiles
from .merging import read_statistics
from .statistics import without_postings
from .worker import ShardTask, receipt

NAME = "communities"
Ends = npt.NDArray[np.int64]
_MEMBERS = pa.schema([("doc_id", pa.string()), ("community", pa.int32())])


def cluster_set(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Divide the documents of all shards into communities; leave these for the shards and the set."""
    begin(WorkStep(0))
    if (found := task.done(task.corpus, NAME, task.key)) is not None:
        return receipt(found)
    shards = task.files_of_shards
    graph = link_graph(shards)
    clusters = communities.find_clusters(graph, task.settings.communities)
    prose = read_statistics(task.corpus, "terms")
    partition = named_communities(
        shards, clusters, graph, without_postings(prose), prose.texts, task.settings
    )
    tables = {"members": members_table(partition), "communities": communities_table(partition.communities)}
    return receipt(task.corpus.write(NAME, task.key, tables))


def link_graph(shards: Sequence[PassFiles]) -> LinkGraph:
    """Return the graph of all documents, each edge once, from the links that each shard wrote."""
    every = pa.concat_tables([files.read("linking").select(["doc_id"]) for files in shards])["doc_id"]
    documents = every.combine_chunks().sort()
    found = [_edges(files.read("outgoing"), documents) for files in shards]
    edges, weight = np.unique(
        np.concatenate([np.zeros((0, 2), np.int64), *found]), axis=0, return_counts=True
    )
    return LinkGraph(tuple(documents.to_pylist()), edges[:, 0], edges[:, 1], weight.astype(np.int64))


def _edges(links: pa.Table, documents: pa.Array) -> Ends:
    """Return the ends of links as rows of the documents, without those of a document to itself."""
    ends = [
        pc.index_in(links[name], value_set=documents).to_numpy().astype(np.int64)
        for name in ("source_id", "target_id")
    ]
    pairs = np.stack(ends, axis=1)
    apart: Ends = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart


def graph_of(links: pa.Table, own: Sequence[DocId]) -> LinkGraph:
    """Return the graph of links from and to a shard's documents, in which only these have all their links."""
    ends = pc.unique(
        pa.chunked_array([*links["source_id"].chunks, *links["target_id"].chunks, pa.array(own, pa.string())])
    )
    documents = ends.sort()
    edges, weight = np.unique(_edges(links, documents), axis=0, return_counts=True)
    return LinkGraph(tuple(documents.to_pylist()), edges[:, 0], edges[:, 1], weight.astype(np.int64))


def named_communities(
    shards: Sequence[PassFiles],
    clusters: Clusters,
    graph: LinkGraph,
    prose: LexicalIndex,
    texts: int,
    settings: Settings,
) -> Partition:
    """Return the communities with names, taken from titles and headings in all shards."""
    titles, headings = _rows(shards, "linking"), _rows(shards, "headings")
    common = common_terms(prose, texts) | words_of(settings.collections)
    headed = names.Headed.of(graph.documents, titles, headings, common)
    return communities.named(
        clusters, graph, names.name_communities(clusters, graph, headed, settings.communities)
    )


def _rows(shards: Sequence[PassFiles], table: str) -> Iterator[tuple[DocId, str]]:
    for files in shards:
        yield from tuples(files.read(table).select(["doc_id", "title"]))


def members_table(partition: Partition) -> pa.Table:
    """Return the community of each linked document, sorted by document."""
    rows = sorted(partition.of.items())
    columns = [
        pa.array([doc for doc, _ in rows], pa.string()),
        pa.array([number for _, number in rows], pa.int32()),
    ]
    return pa.Table.from_arrays(columns, schema=_MEMBERS)


def partition_of(members: pa.Table, rows: pa.Table) -> Partition:
    """Return the communities of documents from the tables of both."""
    of = dict(tuples(members))
    found = (
        Community(number, label, tuple(terms), *numbers) for number, label, terms, *numbers in tuples(rows)
    )
    return Partition(of, tuple(found), 0.0)
