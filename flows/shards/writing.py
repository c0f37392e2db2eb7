"""The pass ``snapshot``: the shard's, written and published in its own store, with what the corpus knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.query_models import share
from ...artifacts.store.shard_set import shard_store
from ...artifacts.store.store import Store
from ...pipeline.identity import combined_hash
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.lexical import count_anchors, index_code, index_prose
from ..stages.links import StoredLinks
from ..stages.sources import asset_hash
from ..stages.write import StagedSnapshot
from .link_graph import graph_of, partition_of
from .linking import NAME as LINKS
from .linking import OUTGOING, incoming, incoming_links
from .listing import listing_of
from .merging import read_statistics
from .statistics import only_terms
from .survey import require_same
from .worker import ShardTask, execution, receipt

NAME = "snapshot"
TERM_TABLES = ("terms", "code_terms")


def key_of(counts: Mapping[str, Any], links: Mapping[str, Any], corpus: str) -> str:
    """Return what the snapshot of a shard depends on, besides the bytes of its assets."""
    values = links["values"]
    return combined_hash([counts["key"], values["links"], *values["digests"], corpus])


def write_shard(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Write and publish the shard's snapshot; leave the best score of each of its terms."""
    begin(WorkStep(0))
    listing = listing_of(task, [(name, path) for name, path in task.files.values(LINKS)["assets"]])
    key = combined_hash([task.key, *(asset_hash(file, task.settings) for file in listing.assets)])
    if (found := task.done(task.files, NAME, key)) is not None and _is_there(task, found):
        return receipt(found)
    if task.model is not None:
        share(task.store, shard_store(task.store, task.shard), task.model.files)
    known: dict[str, Any] = {
        "links": StoredLinks(task.files.read("links")),
        "query_model": task.model,
        "vocabulary_tables": {"vocabulary": task.corpus.read("vocabulary")},
        **_communities(task),
    }
    with execution(task, listing, "parsed", "corpus", "staged", "published", **known) as made:
        require_same(task, made)
        parsed, corpus, run = (made.make(each) for each in ("parsed", "corpus", "run"))
        anchors = count_anchors(corpus, incoming_links(task))
        prose = index_prose(run, parsed, anchors, read_statistics(task.corpus, "terms"))
        code = index_code(run, parsed, read_statistics(task.corpus, "code_terms"))
        del parsed, corpus
        vectors = only_terms(task.corpus.read("term_vectors"), prose.terms)
        made.provide(anchors=anchors, prose=prose, code=code, term_vectors=vectors)
        staged: StagedSnapshot = made.make("staged")
        published = made.make("published")
    values: dict[str, Any] = {"snapshot": published.snapshot_id, "counts": dict(staged.manifest.counts)}
    snapshot = Store(shard_store(task.store, task.shard)).read_unverified(published.snapshot_id)
    tables = {highest(name): snapshot.table(name, ["term", "max_score"]) for name in TERM_TABLES}
    return receipt(task.files.write(NAME, key, tables, **values))


def _is_there(task: ShardTask, record: dict[str, Any]) -> bool:
    store = Store(shard_store(task.store, task.shard))
    return record["values"]["snapshot"] in {info.snapshot_id for info in store.snapshots()}


def highest(table: str) -> str:
    """Return the name of the table with the best score of each term in a shard."""
    return f"highest-{table}"


def _communities(task: ShardTask) -> dict[str, object]:
    """Return the links from and to the shard's documents as a graph, and their communities."""
    own = task.files.read("linking")["doc_id"].to_pylist()
    # Links among the shard's own documents are in both.
    outgoing = task.files.read("outgoing").select(OUTGOING)
    away = outgoing.filter(pc.invert(pc.is_in(outgoing["target_id"], value_set=pa.array(own, pa.string()))))
    links = pa.concat_tables([incoming(task), away])
    members = task.corpus.read("members")
    mine = members.filter(pc.is_in(members["doc_id"], value_set=pa.array(own, pa.string())))
    every = task.corpus.read("communities")
    partition = partition_of(
        mine, every.filter(pc.is_in(every["community_id"], value_set=pc.unique(mine["community"])))
    )
    return {"link_graph": graph_of(links, own), "partition": partition, "clusters": None}
