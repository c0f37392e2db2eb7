"""The pass ``links``: the shard's links are resolved against the addresses of all shards.

A link is also written to where its target can find it: sorted by the shard that it leads to.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.cache.linking_rows import ADDRESSES, LinkingRows
from ...artifacts.store.shard_set import shard_store
from ...artifacts.tables.parquet import tuples
from ...artifacts.tables.schemas import LINKS
from ...pipeline.links.redirects import redirects_of
from ...pipeline.links.resolve import each_resolved
from ...pipeline.model import ResolvedLink
from ..run.workers import Begin, WorkStep, unwatched
from ..stages.links import stored
from .files import table_digest
from .worker import ShardTask, receipt

NAME = "links"
ASSETS = "assets"
OUTGOING = ["source_id", "target_id", "text"]


def link_shard(task: ShardTask, begin: Begin = unwatched) -> pa.Table:
    """Resolve the shard's links; leave them for the shard itself, and for those that they lead to."""
    begin(WorkStep(0))
    if (found := task.done(task.files, NAME, task.key)) is not None:
        return _without_assets(found)
    assets = _paths(task.corpus.read(ASSETS))
    redirects = redirects_of(task.settings.site)
    sources = LinkingRows(task.files.read("linking")).in_order()
    resolved = each_resolved(sources, _documents(task), task.settings.collections, assets, redirects)
    own = stored(resolved, shard_store(task.store, task.shard)).rows
    outgoing, starts = _by_target(task, own)
    parts = [outgoing.slice(start, end - start) for start, end in pairwise(starts)]
    values: dict[str, Any] = {
        "starts": starts,
        "links": table_digest(own),
        "digests": [table_digest(part) for part in parts],
        "assets": _assets(own),
    }
    return _without_assets(task.files.write(NAME, task.key, {"links": own, "outgoing": outgoing}, **values))


def _without_assets(record: dict[str, Any]) -> pa.Table:
    """Return the receipt of the pass: only the shard's own worker needs the names of its assets."""
    values = {name: value for name, value in record["values"].items() if name != "assets"}
    return receipt(record | {"values": values})


def _documents(task: ShardTask) -> LinkingRows:
    """Return all documents of all shards, which lie in their files."""
    tables = (files.read("linking") for files in task.files_of_shards)
    return LinkingRows(pa.concat_tables([table.select(ADDRESSES) for table in tables]))


def _paths(assets: pa.Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for collection, path in tuples(assets):
        found.setdefault(collection, []).append(path)
    return found


def _assets(links: pa.Table) -> list[tuple[str, str]]:
    """Return the collection and path of each asset that the links name."""
    named = links.select(["source_id", "asset"]).filter(pc.is_valid(links["asset"]))
    return sorted({(source.partition(":")[0], asset) for source, asset in tuples(named)})


def _by_target(task: ShardTask, own: pa.Table) -> tuple[pa.Table, list[int]]:
    """Return links to documents by the shard that holds these, and where the links to each shard begin."""
    outgoing = own.select(OUTGOING).filter(pc.is_valid(own["target_id"]))
    number = {name: at for at, name in enumerate(task.plan.names)}
    shard = np.array(
        [number[task.plan.shard_of(target)] for target in outgoing["target_id"].to_pylist()], dtype=np.int64
    )
    order = np.argsort(shard, kind="stable")
    starts = np.searchsorted(shard[order], np.arange(task.plan.count + 1))
    return outgoing.take(pa.array(order)).combine_chunks(), starts.tolist()


def incoming_links(task: ShardTask) -> list[ResolvedLink]:
    """Return the links of all shards that lead to documents of this one, with nothing but ends and texts."""
    return [
        ResolvedLink(source, target, "", "link", "", text, 0, "resolved")
        for source, target, text in tuples(incoming(task))
    ]


def incoming(task: ShardTask) -> pa.Table:
    """Return the links of all shards that lead to documents of this one: their ends and texts."""
    parts = [pa.schema([LINKS.field(name) for name in OUTGOING]).empty_table()]
    for files in task.files_of_shards:
        start, end = files.values(NAME)["starts"][task.number : task.number + 2]
        parts.append(files.read("outgoing").slice(start, end - start))
    return pa.concat_tables(parts)
