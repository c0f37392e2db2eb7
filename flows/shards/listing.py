"""The sources of a set: one worker lists them into tables, of which the worker of a shard reads its own rows.

So no process holds an object for each file of the corpus for longer than it lists them, and the driver none.
The rows of a shard lie together, and a hash of them says whether any of its files has changed.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.store.store import Store
from ...pipeline.assets.embedded_images import image_place
from ...pipeline.errors import NoctuleError, from_dict
from ...pipeline.identity import canonical_json, combined_hash, doc_id
from ...pipeline.model import ReportEntry
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, files_by_path, image_of_notebook, is_unsettled
from ..incremental.unchanged import rejected_inputs, shared_inputs
from ..run.context import BuildOptions, RunContext
from ..run.versions import parse_fingerprints
from ..run.workers import Begin, WorkStep, unwatched
from ..sources.publishing_rules import Rules
from ..stages.sources import Listing, discover_under
from .failed_collections import snapshots_of_shards
from .files import PassFiles, of_corpus, table_digest
from .plan import ShardPlan, plan_shards
from .worker import ShardTask, receipt

NAME = "files"
FILES, ASSETS = "listed-files", "listed-assets"
# A location may have bytes that are not UTF-8.
_TYPES = {"location": pa.binary(), "size": pa.int64()}
_SCHEMA = pa.schema([(each.name, _TYPES.get(each.name, pa.string())) for each in fields(FoundFile)])


@dataclass(frozen=True, slots=True)
class ListingTask:
    """What a worker is told that lists all sources."""

    settings: Settings
    store: Path
    options: BuildOptions
    rules: Rules


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """What the driver knows of the files: how they are cut, and how many a shard has of each collection.

    ``key`` stands for this listing. Of each shard ``digests`` has a hash of all that its survey depends on,
    empty where the listing alone does not say whether a file has changed; ``inputs`` is one of all that the
    set depends on, or empty.
    """

    key: str
    plan: ShardPlan
    files: Mapping[str, Mapping[str, int]]
    rejections: tuple[ReportEntry, ...]
    failures: Mapping[str, NoctuleError]
    digests: Mapping[str, str]
    inputs: str

    def shards(self, failures: Iterable[str]) -> set[str]:
        """Return the shards that have files of other collections than those that failed."""
        return {name for name, counts in self.files.items() if counts.keys() - set(failures)}

    def survey_keys(
        self, shards: Iterable[str], failures: Iterable[str], left_out: Iterable[tuple[str, str]]
    ) -> dict[str, str]:
        """Return what the survey of each shard depends on, empty where its files must be looked at."""
        proved = {} if set(failures) else self.digests
        lost = [f"{name}\0{path}" for name, path in sorted(left_out)]
        return {name: combined_hash([proved[name], *lost]) if proved.get(name) else "" for name in shards}


def list_set(task: ListingTask, begin: Begin = unwatched) -> pa.Table:
    """List the files of every collection and cut them into shards; leave both as tables."""
    begin(WorkStep(0))
    store, began = Store(task.store), time.time()
    # A set reads its sources whatever the run begins with.
    listing = discover_under(task.rules, RunContext(task.settings, task.store, task.options), store)
    plan = plan_shards(task.settings, listing, snapshots_of_shards(store))
    names = [plan.shard_of(doc_id(file.collection, file.path)) for file in listing.files]
    own = [listing.files[at] for at in sorted(range(len(names)), key=names.__getitem__)]
    files, assets, places = _table(own), _table(listing.assets), _places(names)
    shared = combined_hash(
        [*shared_inputs(task.settings, listing.rules), canonical_json(parse_fingerprints(task.settings))]
    )
    digests = {
        name: _digest(own[start:end], files.slice(start, end - start), shared, began)
        for name, (start, end) in places.items()
    }
    proved = [*digests.values(), _digest(listing.assets, assets, shared, began)]
    values: dict[str, Any] = {
        "count": plan.count,
        "files": _counts(names, listing),
        "rejections": [asdict(each) for each in listing.rejections],
        "failures": {name: error.as_dict() for name, error in listing.failures.items()},
        "places": places,
        "digests": digests,
        "inputs": _inputs(task.settings, plan, listing, proved),
    }
    return receipt(of_corpus(task.store).write(NAME, uuid4().hex, {FILES: files, ASSETS: assets}, **values))


def _places(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return where the files of each shard begin and end, in the order of the shards' names."""
    counts = sorted(Counter(names).items())
    ends = accumulate(count for _, count in counts)
    return {name: (end - count, end) for (name, count), end in zip(counts, ends, strict=True)}


def _counts(names: Sequence[str], listing: Listing) -> list[list[Any]]:
    """Return how many files a shard has of a collection, for each of both."""
    counts = Counter(zip(names, (file.collection for file in listing.files), strict=True))
    return [[*key, number] for key, number in sorted(counts.items())]


def _digest(files: Sequence[FoundFile], rows: pa.Table, shared: str, now_s: float) -> str:
    """Return a hash of the files' rows and of what all shards share.

    It is empty where a file may change without another row.
    """
    if any(not file.version or is_unsettled(file.version, now_s) for file in files):
        return ""
    return combined_hash([shared, table_digest(rows)])


def _inputs(settings: Settings, plan: ShardPlan, listing: Listing, proved: Sequence[str]) -> str:
    """Return a hash of all inputs of the set; empty where the listing does not say that they are the same."""
    if listing.failures or not all(proved):
        return ""
    cut = [settings.shards.model_dump_json(), plan.by, str(plan.count), *sorted(settings.collections)]
    return combined_hash([*cut, *proved, *rejected_inputs(listing.rejections)])


def listed(record: Mapping[str, Any], settings: Settings) -> ListedFiles:
    """Return what the record of the pass says."""
    values = record["values"]
    files: dict[str, dict[str, int]] = {}
    for shard, collection, number in values["files"]:
        files.setdefault(shard, {})[collection] = number
    return ListedFiles(
        record["key"],
        ShardPlan(settings.shards.by, values["count"], tuple(settings.collections)),
        files,
        tuple(ReportEntry(**each) for each in values["rejections"]),
        {name: from_dict(error) for name, error in values["failures"].items()},
        values["digests"],
        values["inputs"],
    )


def listing_of(task: ShardTask, named: Sequence[tuple[str, str]] = ()) -> Listing:
    """Return the part of the listing that a shard reads, with the assets of these collections and paths."""
    start, end = task.corpus.values(NAME)["places"].get(task.shard, (0, 0))
    own = _files(task.corpus.read(FILES).slice(start, end - start), task.failures)
    files = (file for file in own if (file.collection, file.path) not in task.left_out)
    return Listing(tuple(files), (), task.failures, task.rules, _assets(task, named) if named else ())


def category_pages(task: ShardTask) -> list[FoundFile]:
    """Return the generated pages of categories in all shards, in the order of these."""
    rows = task.corpus.read(FILES)
    pages = rows.filter(pc.not_equal(rows["category"], ""))
    return [
        each for each in _files(pages, task.failures) if (each.collection, each.path) not in task.left_out
    ]


def asset_paths(corpus: PassFiles, failures: Iterable[str], kept: Mapping[str, Iterable[str]]) -> pa.Table:
    """Return collection and path of all assets: those listed, and those kept of collections that failed."""
    columns = ["collection", "path"]
    rows = _without(corpus.read(ASSETS).select(columns), failures)
    more = [(name, path) for name, paths in kept.items() for path in paths]
    arrays = [pa.array([each[at] for each in more], pa.string()) for at in range(2)]
    every = pa.concat_tables([rows, pa.table(dict(zip(columns, arrays, strict=True)))])
    return every.group_by(columns).aggregate([]).sort_by([(name, "ascending") for name in columns])


def _assets(task: ShardTask, named: Sequence[tuple[str, str]]) -> tuple[FoundFile, ...]:
    """Return the assets of these names that are there: files, or images in notebooks of any shard."""
    paths = {path for _, path in named}
    files = files_by_path(_at(task, ASSETS, paths))
    notebooks = files_by_path(
        _at(task, FILES, {place.document for place in map(image_place, paths) if place is not None})
    )
    found = (
        files.get(name, {}).get(path) or image_of_notebook(path, notebooks.get(name, {}))
        for name, path in named
    )
    return tuple(filter(None, found))


def _at(task: ShardTask, table: str, paths: Iterable[str]) -> tuple[FoundFile, ...]:
    rows = task.corpus.read(table)
    wanted = pc.is_in(rows["path"], value_set=pa.array(sorted(paths), pa.string()))
    return _files(rows.filter(wanted), task.failures)


def _table(files: Sequence[FoundFile]) -> pa.Table:
    columns: dict[str, list[Any]] = {name: list(map(attrgetter(name), files)) for name in _SCHEMA.names}
    columns["location"] = [os.fsencode(each) for each in columns["location"]]
    return pa.table(columns, schema=_SCHEMA)


def _files(rows: pa.Table, failures: Iterable[str]) -> tuple[FoundFile, ...]:
    rows = _without(rows, failures)
    columns = {name: rows[name].to_pylist() for name in _SCHEMA.names}
    columns["location"] = [os.fsdecode(each) for each in columns["location"]]
    return tuple(map(FoundFile, *columns.values()))


def _without(rows: pa.Table, failures: Iterable[str]) -> pa.Table:
    failed = pa.array(sorted(failures), pa.string())
    return rows.filter(pc.invert(pc.is_in(rows["collection"], value_set=failed)))
