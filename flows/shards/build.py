"""A set of shards, built by the driver: it plans, sends each pass to the workers, merges, and publishes.

files → survey → conflicts → links → counts → statistics → communities → snapshot → set

Workers make all of them; the driver only knows how many files a shard has, and holds none of its tables.
A pass over a shard is skipped where nothing that it depends on has changed, so a night costs the shards that
it touches; after a crash the run goes on with the passes that are done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...artifacts.store.store import Store
from ...pipeline.embedding.model_files import find
from ...pipeline.errors import NoctuleError, SourceError
from ...pipeline.identity import canonical_json, combined_hash, doc_id
from ...pipeline.model import ReportEntry
from ...pipeline.settings.settings import EngineSettings, Settings
from ..engines import Engine
from ..incremental.unchanged import UnchangedSnapshot, unchanged
from ..quality.gate import judge_staged
from ..report.result import BuildResult, require_relevance
from ..run.context import RunContext
from ..run.executor import Execution
from ..run.stage import Driver
from ..run.versions import code_version
from ..sources.published import published_assets
from ..sources.publishing_rules import rules_of
from ..stages.embedding.query_model import EXPORTING, known_query_model
from ..stages.guards import CollectionSize
from ..stages.write import StagedSnapshot
from . import counting, link_graph, linking, listing, merging, publishing, survey, writing
from .failed_collections import (
    empty_collections,
    kept_collections,
    kept_rejections,
    refused_collections,
    sizes_of_collections,
    snapshots_of_shards,
)
from .files import of_corpus, table_digest
from .passes import LOCAL, Pass, PassCaller, Record, repeated_passes
from .worker import ALL_SHARDS, ShardTask

_log = logging.getLogger("noctule")


def build_set(
    run: RunContext, store: Store, driver: Driver, execution: Execution, engine: Engine
) -> BuildResult | UnchangedSnapshot:
    """Make a set of shards and publish it, unless it is the current one, or answers judged queries too badly.

    Raise as a build of one snapshot does.
    """
    start = time.perf_counter()
    with engine.workers(1) as here:
        passes = PassCaller(run.settings.engine.kind, engine, here, execution.make("resources").driver)
        work = SetBuild(run, store, passes)
        if (same := unchanged(run, store, work.inputs)) is not None:
            return same
        made = work.build()
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
        inputs=made.inputs,
    )


@dataclass(frozen=True, slots=True)
class SetResult:
    """What a run over all shards made: the set, not yet published, and what it cost."""

    staged: StagedSnapshot
    rejections: tuple[ReportEntry, ...]
    parsed: int
    encoded: int
    vectors: int
    failed: Mapping[str, str]
    inputs: str


class SetBuild:
    """One run over all shards of a set."""

    def __init__(self, run: RunContext, store: Store, passes: PassCaller) -> None:
        self._run, self._store, self._passes = run, store, passes
        self._before, self._repeated = snapshots_of_shards(store), repeated_passes(run.options.start)
        if repeated := ", ".join(self._repeated):
            _log.info("--from %s: these passes are repeated: %s", run.options.start, repeated)
        self._rules = rules_of(run.settings)
        task = listing.ListingTask(run.settings, run.store, run.options, self._rules)
        self._listed = listing.listed(
            self._passes.call(listing.NAME, listing.list_set, [task])[0], run.settings
        )
        self._made = {ALL_SHARDS: {listing.NAME: self._listed.key}}
        self._judged: dict[str, CollectionSize] = {}
        self._read(self._listed.failures)

    def _read(self, failures: Mapping[str, NoctuleError]) -> None:
        """Take the files as listed; collections that failed keep what the current set has of them.

        Raise the error of a failed collection if that cannot be.
        """
        failures = {**empty_collections(self._run, self._listed.files), **failures}
        if len(failures) == len(self._run.settings.collections):
            raise failures[min(failures)]
        self._kept = kept_collections(self._store, self._listed.plan, failures)
        shards = self._listed.shards(failures) | set(self._before if self._kept else ())
        self._shards, self._failures = tuple(sorted(shards)), failures
        self._left_out: frozenset[tuple[str, str]] = frozenset()

    def build(self) -> SetResult:
        """Build every shard and stage the set; raise as a build of one snapshot does.

        Each pass reads the sources: if these change or fail after the survey, all begins again, once.
        """
        try:
            return self._build()
        except SourceError as error:
            _log.warning("starting again with the survey of all shards: %s", error)
            self._read(self._failures)
            return self._build()

    def _build(self) -> SetResult:
        surveys, clashing = self._surveys()
        links = self._each(linking.NAME, linking.link_shard, self._link_keys(surveys))
        keys = counting.keys_of(surveys, links, self._listed.plan, self._run.settings)
        counts = self._each(counting.NAME, counting.count_shard, keys)
        merged = self._merged(counts)
        if drift := merged["values"]["drift"]:
            allowed = self._run.settings.shards.drift
            _log.info("statistics are kept: scores have drifted by %.2g, of %.2g allowed", drift, allowed)
        key, model = merged["key"], merging.exported_model(merged)
        divided = self._all(link_graph.NAME, link_graph.cluster_set, key)
        corpus = combined_hash([key, *map(str, sorted(divided["tables"].items()))])
        keys = {name: writing.key_of(counts[name], links[name], corpus) for name in self._shards}
        written = self._each(writing.NAME, writing.write_shard, keys, model=model)
        rejections = self._rejections(surveys, clashing)
        languages = {each for record in surveys.values() for each in record["values"]["languages"]}

        def write(folder: Path) -> Record:
            return self._all(publishing.NAME, partial(publishing.write_tables, folder), key, model=model)

        records = publishing.shard_records(written)
        plain = sum(each["values"]["without_headings"] for each in counts.values())
        staged = publishing.stage_set(
            self._run, self._store, write, merged, records, rejections, sorted(languages or {"en"}), plain
        )
        costs, failed = survey.costs(surveys.values()), survey.failed(self._failures, surveys.values())
        is_proved = not failed and all(each["values"]["listed"] for each in surveys.values())
        return SetResult(staged, rejections, *costs, failed, self.inputs if is_proved else "")

    @property
    def inputs(self) -> str:
        """Return a hash of all inputs, empty where some could not be read, or must be read to be known."""
        return self._listed.inputs

    def _merged(self, counts: Mapping[str, Record]) -> Record:
        """Return the record of what belongs to the whole corpus.

        Where the model is exported, that worker ends: torch leaves hundreds of megabytes in its process.
        """
        known = known_query_model(self._run, self._store, find(self._run.settings.embed))
        must_export, key = known is None, merging.corpus_key(counts)
        if must_export:  # what a worker logs comes after its pass
            self._passes.say(ALL_SHARDS, [(logging.INFO, EXPORTING)])
        return self._all(merging.NAME, merging.merge_shards, key, apart=must_export, model=known)

    def _surveys(self) -> tuple[dict[str, Record], list[ReportEntry]]:
        """Return the record of each shard's survey, and the documents left out because of other shards."""
        while True:
            surveys, left_out = self._without_conflicts()
            failed = survey.away(surveys.values()) or self._refused(surveys, left_out)
            if not failed:
                return surveys, left_out
            self._read({**self._failures, **failed})

    def _without_conflicts(self) -> tuple[dict[str, Record], list[ReportEntry]]:
        surveys = self._survey(self._shards)
        left_out: list[ReportEntry] = []
        while found := _rejected(self._all(survey.CONFLICTS, survey.find_conflicts, "")):
            left_out += found
            lost = {(each.collection, each.path) for each in found}
            self._left_out |= lost
            again = {self._listed.plan.shard_of(doc_id(*each)) for each in lost}
            # What lost to one of them in its own shard has its place now, unless it clashes in turn.
            surveys |= self._survey(sorted(again))
        return surveys, left_out

    def _survey(self, shards: Iterable[str]) -> dict[str, Record]:
        keys = self._listed.survey_keys(shards, self._failures, self._left_out)
        return self._each(survey.NAME, survey.survey_shard, keys)

    def _refused(
        self, surveys: Mapping[str, Record], left_out: Sequence[ReportEntry]
    ) -> dict[str, NoctuleError]:
        """Return the collections that hold too little or lost too much; each is judged once for its size."""
        noted = {name: record["values"] for name, record in surveys.items()}
        sizes = sizes_of_collections(self._store, noted, left_out)
        new = {name: size for name, size in sizes.items() if self._judged.get(name) != size}
        self._judged.update(new)
        return refused_collections(self._run, self._store, new)

    def _each(
        self, name: str, work: Pass, keys: Mapping[str, str], *, apart: bool = False, **more: Any
    ) -> dict[str, Record]:
        """Return the record of a pass over each of these shards."""
        tasks = [
            self._task(shard, key, repeat=self._is_to_repeat(shard, name), **more)
            for shard, key in keys.items()
        ]
        found = dict(zip(keys, self._passes.call(name, work, tasks, apart=apart), strict=True))
        for shard, record in found.items():
            self._note(shard, name, record.get("key", ""))
        return found

    def _is_to_repeat(self, shard: str, name: str) -> bool:
        """Return whether ``--from`` asks for a pass that this run has not made yet."""
        return name in self._repeated and name not in self._made.get(shard, {})

    def _note(self, shard: str, name: str, key: str) -> None:
        """Note that this run has made a pass, so that workers read what it left, and not another run's."""
        self._made.setdefault(shard, {})[name] = key

    def _all(self, name: str, work: Pass, key: str, **more: Any) -> Record:
        """Return the record of a pass over all shards at once."""
        return self._each(name, work, {ALL_SHARDS: key}, **more)[ALL_SHARDS]

    def _task(self, shard: str, key: str, **more: Any) -> ShardTask:
        return ShardTask(
            shard=shard,
            store=self._run.store,
            settings=self._settings(shard),
            plan=self._listed.plan,
            shards=self._shards,
            made=self._made,
            options=self._run.options,
            rules=self._rules,
            failures=self._failures,
            left_out=self._left_out,
            before=self._before.get(shard),
            key=key,
            **more,
        )

    def _settings(self, shard: str) -> Settings:
        """Return the settings of a worker: it computes on its own machine, on a cluster with one thread."""
        given = self._run.settings
        inline = given.engine.kind == "inline"
        changed: dict[str, object] = {"engine": EngineSettings(name="inline" if inline else "processes")}
        if given.engine.kind not in LOCAL and shard != ALL_SHARDS:
            changed["embed"] = given.embed.model_copy(update={"workers": 1})
        return given.model_copy(update=changed)

    def _rejections(
        self, surveys: Mapping[str, Record], clashing: Sequence[ReportEntry]
    ) -> tuple[ReportEntry, ...]:
        seen = [each for each in self._listed.rejections if each.collection not in self._failures]
        found = [each for record in surveys.values() for each in _rejected(record)]
        kept = kept_rejections(self._store, self._failures, self._kept)
        return tuple(dict.fromkeys([*seen, *found, *clashing, *kept]))

    def _link_keys(self, surveys: Mapping[str, Record]) -> dict[str, str]:
        """Return what the links of each shard depend on: its own files, and all addresses and assets."""
        corpus = of_corpus(self._run.store, self._made[ALL_SHARDS])
        assets = listing.asset_paths(corpus, self._failures, published_assets(self._store, self._kept))
        digest = table_digest(assets)
        corpus.write(linking.ASSETS, digest, {linking.ASSETS: assets})
        self._note(ALL_SHARDS, linking.ASSETS, digest)
        addresses = [f"{name} {record['values']['addresses']}" for name, record in surveys.items()]
        redirects = canonical_json(self._run.settings.shaping().get("site"))
        return {
            name: combined_hash([record["values"]["linking"], *addresses, digest, redirects, code_version()])
            for name, record in surveys.items()
        }


def _rejected(record: Record) -> list[ReportEntry]:
    return [ReportEntry(**each) for each in record["values"]["rejections"]]
