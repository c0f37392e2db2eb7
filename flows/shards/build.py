"""A set of shards, built by the driver: it plans, sends each pass to the workers, merges, and publishes.

survey → links → counts → (statistics) → communities → snapshot → set

A pass over a shard is skipped where nothing that it depends on has changed, so a night costs the shards that
it touches; after a crash the run goes on with the passes that are done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import pyarrow as pa

from ... import artifacts, flows, pipeline
from ...artifacts.disk.manifest_records import QueryModel, ShardRecord
from ...artifacts.store.store import Store
from ...pipeline.errors import SourceError
from ...pipeline.identity import canonical_json, combined_hash, doc_id
from ...pipeline.model import Rejection, SnapshotId
from ...pipeline.settings.settings import EngineSettings, Settings
from ...pipeline.source_files import FoundFile, files_by_path, image_of_notebook
from ..engines import Engine
from ..quality.gate import judge_staged
from ..report.result import BuildResult, require_relevance
from ..run.context import Resources, RunContext
from ..run.executor import Execution
from ..run.memory import release_memory
from ..run.stage import Driver
from ..run.versions import sources_hash
from ..sources.published import published_assets
from ..stages.encode import export_query_model, open_encoding
from ..stages.sources import Listing
from ..stages.write import StagedSnapshot
from . import counting, link_graph, linking, survey, writing
from .failed_collections import kept_collections, kept_rejections, snapshots_of_shards
from .files import PassFiles, of_corpus, of_shard, table_digest
from .merging import CorpusTables, corpus_keys, merge_corpus
from .plan import listing_of, plan_shards
from .publishing import stage_set
from .worker import ALL_SHARDS, ShardTask, record_of

# In seconds of processor time: only what hangs takes so long, and parsers have limits of their own.
_LIMIT_S = 86_400.0
_log = logging.getLogger("noctule")
Record = Mapping[str, Any]


def build_set(
    run: RunContext, store: Store, driver: Driver, execution: Execution, engine: Engine
) -> BuildResult:
    """Make a set of shards and publish it, unless judged queries are answered too badly.

    Raise as a build of one snapshot does.
    """
    start, listing = time.perf_counter(), execution.make("listing")
    made = SetBuild(run, store, engine, execution.make("resources"), listing).build()
    verdict = judge_staged(run, store, made.staged, execution.make("judged"))
    require_relevance(run, store, made.staged, verdict, driver.times)
    published = store.publish(made.staged.staging, made.staged.manifest)
    return BuildResult(
        published.snapshot_id,
        published.generation,
        published.changed,
        encoded=made.encoded,
        reused=made.vectors - made.encoded,
        rejections=made.rejections,
        times=driver.times,
        seconds=time.perf_counter() - start,
        counts=dict(made.staged.manifest.counts),
        relevance=verdict,
        parsed=made.parsed,
        failed=made.failed,
    )


@dataclass(frozen=True, slots=True)
class SetResult:
    """What a run over all shards made: the set, not yet published, and what it cost."""

    staged: StagedSnapshot
    rejections: tuple[Rejection, ...]
    parsed: int
    encoded: int
    vectors: int
    failed: Mapping[str, str]


class SetBuild:
    """One run over all shards of a set."""

    def __init__(
        self, run: RunContext, store: Store, engine: Engine, resources: Resources, listing: Listing
    ) -> None:
        self._run, self._store, self._engine, self._resources = run, store, engine, resources
        self._before = snapshots_of_shards(store)
        self._plan = plan_shards(run.settings, listing, self._before)
        self._read(listing)

    def _read(self, listing: Listing) -> None:
        """Take the files from a listing; collections that failed keep what the current set has of them.

        Raise the error of a failed collection if that cannot be.
        """
        if len(listing.failures) == len(self._run.settings.collections):
            raise listing.failures[min(listing.failures)]
        self._kept = kept_collections(self._store, self._plan, listing.failures)
        files = self._plan.split(listing.files)
        shards = sorted(files.keys() | (self._before if self._kept else ()))
        self._listing, self._files = listing, {name: files.get(name, ()) for name in shards}
        self._assets = {(file.collection, file.path): file for file in listing.assets}
        self._documents = files_by_path(listing.files)

    def build(self) -> SetResult:
        """Build every shard and stage the set; raise as a build of one snapshot does.

        Each pass reads the sources: if these change or fail after the survey, all begins again, once.
        """
        try:
            return self._build()
        except SourceError as error:
            _log.warning("the passes over the shards begin again: %s", error)
            self._read(self._listing)
            return self._build()

    def _build(self) -> SetResult:
        surveys, clashing = self._surveys()
        links = self._each(linking.NAME, linking.link, self._link_keys(surveys))
        counts = self._each(counting.NAME, counting.count, self._count_keys(surveys, links))
        encoding = open_encoding(self._run, self._engine, self._resources)
        model = export_query_model(self._run, self._store, encoding)
        corpus = merge_corpus(self._run, self._shards, encoding, corpus_keys(counts))
        self._each(link_graph.NAME, link_graph.divide, {ALL_SHARDS: corpus.key})
        release_memory()  # this process only waits while workers write
        keys = {name: _snapshot_key(counts[name], links[name], corpus) for name in self._files}
        known = {"links": links, "model": model, "statistics": corpus.key}
        written = self._each(writing.NAME, writing.write, keys, **known)
        rejections = self._rejections(surveys, clashing)
        staged = stage_set(
            self._run, self._store, corpus, _records(written), self._shards, encoding, model, rejections,
            sorted({each for record in surveys.values() for each in record["values"]["languages"]} or {"en"}),
        )  # fmt: skip
        return SetResult(staged, rejections, *_costs(surveys), _failed(self._listing, surveys))

    def _surveys(self) -> tuple[dict[str, Record], list[Rejection]]:
        """Return the record of each shard's survey, and the documents left out for those of other shards."""
        surveys = self._each(survey.NAME, survey.survey, dict.fromkeys(self._files, ""))
        while away := survey.away(surveys.values()):
            self._read(self._listing.without(away))
            surveys = self._each(survey.NAME, survey.survey, dict.fromkeys(self._files, ""))
        left_out: list[Rejection] = []
        while found := survey.left_out(self._shards, self._files.values(), self._settings):
            left_out += found
            lost = {(each.collection, each.path) for each in found}
            again = {self._plan.shard_of(doc_id(*each)) for each in lost}
            for name in again:
                files = (file for file in self._files[name] if (file.collection, file.path) not in lost)
                self._files[name] = tuple(files)
            # What lost to one of them in its own shard has its place now, unless it clashes in turn.
            surveys |= self._each(survey.NAME, survey.survey, dict.fromkeys(sorted(again), ""))
        return surveys, left_out

    @property
    def _shards(self) -> list[PassFiles]:
        return [of_shard(self._run.store, name) for name in self._files]

    def _each(
        self, name: str, work: Callable[..., pa.Table], keys: Mapping[str, str], **more: Any
    ) -> dict[str, Record]:
        """Return the record of a pass over every shard, or over all at once, made by the engine's workers."""
        tasks = [self._task(shard, key, **more) for shard, key in keys.items()]
        with self._engine.workers(1 if self._is_local else len(tasks)) as workers:

            def one(task: ShardTask) -> Record:
                return record_of(workers.watch(work, task, _LIMIT_S))

            found = self._resources.driver.map(f"{name} of shards", one, tasks, workers.count)
        return dict(zip(keys, found, strict=True))

    def _asset(self, collection: str, path: str) -> FoundFile | None:
        file = self._assets.get((collection, path))
        return file or image_of_notebook(path, self._documents.get(collection, {}))

    def _task(
        self,
        shard: str,
        key: str,
        links: Mapping[str, Record] | None = None,
        model: QueryModel | None = None,
        statistics: str = "",
    ) -> ShardTask:
        named = links[shard]["values"]["assets"] if links else ()
        assets = tuple(filter(None, starmap(self._asset, named)))
        return ShardTask(
            shard=shard,
            store=self._run.store,
            settings=self._settings,
            plan=self._plan,
            shards=tuple(self._files),
            listing=listing_of(self._listing, self._files.get(shard, ()), assets),
            before=self._before.get(shard),
            key=key,
            model=model,
            statistics=statistics,
        )

    @property
    def _is_local(self) -> bool:
        return self._run.settings.engine.kind in ("inline", "processes")

    @property
    def _settings(self) -> Settings:
        """Return the settings of a worker: it computes on its own machine, on a cluster with one thread."""
        given = self._run.settings
        inline = given.engine.kind == "inline"
        changed: dict[str, object] = {"engine": EngineSettings(name="inline" if inline else "processes")}
        if not self._is_local:
            changed["embed"] = given.embed.model_copy(update={"workers": 1})
        return given.model_copy(update=changed)

    def _rejections(
        self, surveys: Mapping[str, Record], clashing: Sequence[Rejection]
    ) -> tuple[Rejection, ...]:
        found = [Rejection(**each) for record in surveys.values() for each in record["values"]["rejections"]]
        kept = kept_rejections(self._store, self._listing.failures, self._kept)
        return tuple(dict.fromkeys([*self._listing.rejections, *found, *clashing, *kept]))

    def _link_keys(self, surveys: Mapping[str, Record]) -> dict[str, str]:
        """Return what the links of each shard depend on: its own files, and all addresses and assets."""
        kept = published_assets(self._store, self._kept)
        paths = sorted({*self._assets, *((name, path) for name in kept for path in kept[name])})
        columns = [pa.array([each[at] for each in paths], pa.string()) for at in range(2)]
        assets = pa.table(dict(zip(("collection", "path"), columns, strict=True)))
        digest = table_digest(assets)
        of_corpus(self._run.store).write("assets", digest, {"assets": assets})
        addresses = [f"{name} {record['values']['addresses']}" for name, record in surveys.items()]
        redirects = canonical_json(self._settings.shaping().get("site"))
        return {
            name: combined_hash([record["tables"]["linking"], *addresses, digest, redirects, code_version()])
            for name, record in surveys.items()
        }

    def _count_keys(self, surveys: Mapping[str, Record], links: Mapping[str, Record]) -> dict[str, str]:
        """Return what the counts of each shard depend on: its own files, and the links that lead to it."""
        found = {}
        for name, record in surveys.items():
            at = self._plan.names.index(name)
            coming = [f"{other} {each['values']['digests'][at]}" for other, each in links.items()]
            found[name] = combined_hash(
                [record["key"], self._run.settings.fingerprint(), *coming, code_version()]
            )
        return found


def _snapshot_key(counts: Record, links: Record, corpus: CorpusTables) -> str:
    """Return what the snapshot of a shard depends on, besides the bytes of its assets."""
    return combined_hash([counts["key"], *sorted(links["tables"].values()), corpus.key])


def _records(written: Mapping[str, Record]) -> list[ShardRecord]:
    """Return the shards for the set's manifest."""
    found = []
    for name, record in written.items():
        counts = record["values"]["counts"]
        found.append(
            ShardRecord(
                name,
                SnapshotId(record["values"]["snapshot"]),
                *(counts[each] for each in ("documents", "passages", "vectors")),
            )
        )
    return found


def _failed(listing: Listing, surveys: Mapping[str, Record]) -> dict[str, str]:
    """Return the collections that failed, in all shards or in one, and why."""
    in_shards = [each for record in surveys.values() for each in record["values"]["failed"].items()]
    return dict(in_shards) | {name: str(error) for name, error in sorted(listing.failures.items())}


def _costs(surveys: Mapping[str, Record]) -> tuple[int, int, int]:
    """Return how many files were parsed, and how many passages encoded, out of how many."""
    values = [record["values"] for record in surveys.values()]
    parsed, encoded, vectors = (
        sum(each[name] for each in values) for name in ("parsed", "encoded", "vectors")
    )
    return parsed, encoded, vectors


def code_version() -> str:
    """Return a hash of the code that the passes are made of."""
    return combined_hash(
        [sources_hash(Path(each.__file__ or "").parent) for each in (artifacts, flows, pipeline)]
    )
