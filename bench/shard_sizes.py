"""Larger and larger corpora in shards of one size: what a build, a night and a search cost, and what grows.

``NOCTULE_SHARD_PASSAGES=50000 NOCTULE_SHARD_COUNTS=1,2,4 python -m bench shards --part sizes`` for small
ones. Text and vectors are those of ``bench.million``: MDN in many editions, with stand-in vectors. The night
has 30 changed documents, all of them in the first shard.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.children import Cost, run
from bench.million import mdn_vectors, prepared
from bench.standin import StandInEngine, Watched, use_stand_in
from noctule.artifacts.store.store import Store
from noctule.flows.graph import BUILD
from noctule.flows.incremental.unchanged import UnchangedSnapshot
from noctule.flows.report.result import record
from noctule.flows.run.background import Background
from noctule.flows.run.context import Resources, RunContext
from noctule.flows.run.executor import Execution
from noctule.flows.run.progress import LogProgress
from noctule.flows.shards.build import build_set
from noctule.flows.shards.plan import ShardPlan
from noctule.pipeline.settings.reading import load

CHANGED = 30
_NEW = "\n\nThe roost was counted again in the night, and the ledger of the counting has one more line.\n"
# Besides: a size is not worth a line of its own.
_SMALL_MB = 50
# As a million passages have by default, so that small shards say something about large ones.
_SETTINGS = '\n[vectors]\nindex = "ivf"\n\n[shards]\n'


def measure() -> None:
    """Build, change and search a corpus for each number of shards; print what each costs, and what grows."""
    size = int(os.environ.get("NOCTULE_SHARD_PASSAGES", "1000000"))
    counts = [int(each) for each in os.environ.get("NOCTULE_SHARD_COUNTS", "1,2,5").split(",")]
    reports = [_measured(size, count) for count in counts]
    for report in reports[1:]:
        _print_growth(reports[0], report)


def _measured(size: int, count: int) -> dict[str, Any]:
    plain, store = prepared(size * count)
    # One shard is a set of one: the same passes as for several.
    shards = f"count = {count}" if count > 1 else "max_passages = 1000000000"
    config = plain.with_name(f"shards-of-{size}-{count}.toml")
    config.write_text(f"{plain.read_text('utf-8')}{_SETTINGS}{shards}\n", "utf-8")
    store = store.with_name(f"store-shards-of-{size}-{count}")
    shutil.rmtree(store, ignore_errors=True)
    built, cost = _child("bench.shard_sizes", config, store, mdn_vectors())
    report = built | {"count": count, "wall_s": cost.wall_s, "cpu_s": cost.cpu_s, "all_mb": cost.anonymous_mb}
    print(f"shards: {count}, {report['documents']} documents, {report['passages']} passages", flush=True)
    _print_build(report)
    _child("bench.shard_sizes", config, store, mdn_vectors())  # what was just written is read once more
    same = _child("bench.shard_sizes", config, store, mdn_vectors())[1]
    report |= {"unchanged_s": same.wall_s, "unchanged_cpu_s": same.cpu_s, "unchanged_mb": same.anonymous_mb}
    with _changed(config, count) as changed:
        night, cost = _child("bench.shard_sizes", config, store, mdn_vectors())
    report |= {"night_s": cost.wall_s, "night_cpu_s": cost.cpu_s, "night_mb": cost.anonymous_mb}
    print(
        f"  nothing changed           {same.wall_s:8.1f} s, {same.cpu_s:.1f} s processor, "
        f"{1000 * same.cpu_s / report['documents']:.3f} ms a document, peak {same.anonymous_mb:.0f} MB"
    )
    print(
        f"  night, {changed} documents       {cost.wall_s:8.1f} s, {cost.cpu_s:.0f} s processor, "
        f"{night['parsed']} parsed, peak {cost.anonymous_mb:.0f} MB"
    )
    _print_stages(night)
    asked, cost = _child("bench.million", "ask", config, store)
    for name, figure in asked.items():
        print(f"  {name:34}{figure:10.3f}")
    print(f"  peak memory of the search {cost.peak_mb:8.0f} MB", flush=True)
    return report | {"asked": asked}


def _child(module: str, *arguments: object) -> tuple[dict[str, Any], Cost]:
    cost = run([sys.executable, "-m", module, *map(str, arguments)], {})
    return json.loads(cost.output.splitlines()[-1]), cost


def _print_build(report: Mapping[str, Any]) -> None:
    passages = report["passages"]
    print(
        f"  build without encoding    {report['wall_s']:8.1f} s, {report['cpu_s']:.0f} s processor, "
        f"{1000 * report['cpu_s'] / passages:.3f} ms a passage"
    )
    print(f"  peak of all processes     {report['all_mb']:8.0f} MB")
    print(
        f"  snapshots                 {report['snapshot_bytes'] / 1e6:8.0f} MB, "
        f"{report['snapshot_bytes'] / passages:.0f} bytes a passage; with caches "
        f"{report['store_bytes'] / passages:.0f}"
    )
    _print_stages(report)


def _print_stages(report: Mapping[str, Any]) -> None:
    for stage, seconds in report["seconds"].items():
        held = [report[name].get(stage, 0) for name in ("peak_mb", "others_mb")]
        print(f"    {stage:24}{seconds:8.1f} s{held[0]:8.0f} MB of the driver, {held[1]:.0f} of its worker")
    print(
        f"    between stages {report['peak_mb'].get('between stages', 0):26.0f} MB of the driver", flush=True
    )


def _print_growth(small: Mapping[str, Any], large: Mapping[str, Any]) -> None:
    """Print each figure of the larger corpus as a multiple of the smaller one's, and what a document adds."""
    print(f"{large['count']} shards beside {small['count']}")
    longer = large["passages"] / small["passages"]
    for name in ("wall_s", "cpu_s"):
        print(f"  {name} a passage        {large[name] / small[name] / longer:8.2f} times")
    for name in (
        "all_mb",
        "unchanged_s",
        "unchanged_cpu_s",
        "unchanged_mb",
        "night_s",
        "night_cpu_s",
        "night_mb",
    ):
        print(f"  {name:24}{large[name] / small[name]:8.2f} times")
    more = large["documents"] - small["documents"]
    for part, who in (("peak_mb", "driver"), ("others_mb", "worker")):
        for stage, held in large[part].items():
            grown = held - small[part].get(stage, held)
            if grown > _SMALL_MB:
                each = grown * 2**20 / more
                print(f"  {stage:24}{grown:8.0f} MB more of the {who}, {each:.0f} bytes a document")


@contextmanager
def _changed(config: Path, count: int) -> Iterator[int]:
    """Change documents of the first shard for the block's time; yield how many."""
    (name, collection), *_ = load(config).collections.items()
    root, plan = Path(collection.root), ShardPlan("hash", count, (name,))
    files = [path for path in sorted(root.rglob("*.md")) if _is_in_first(plan, name, path.relative_to(root))]
    spread = files[:: max(1, len(files) // CHANGED)][:CHANGED]
    before = {path: path.read_text("utf-8") for path in spread}
    try:
        for path, text in before.items():
            path.write_text(text + _NEW, "utf-8")
        yield len(before)
    finally:
        for path, text in before.items():
            path.write_text(text, "utf-8")


def _is_in_first(plan: ShardPlan, collection: str, path: Path) -> bool:
    return plan.shard_of(f"{collection}:{path.as_posix()}") == plan.names[0]


def build(config: Path, folder: Path, vectors: Path) -> None:
    """Build the set with the stand-in encoder and print its costs as JSON."""
    use_stand_in(vectors)
    settings, store, steps = load(config), Store(folder), Watched()
    run_, engine = RunContext(settings, store.root), StandInEngine(vectors)
    with store.lock("index"), Background() as background:
        resources = Resources(steps, LogProgress(), background)
        given = {"run": run_, "store": store, "engine": engine, "resources": resources}
        with Execution(BUILD, given, steps, background, ["published"]) as execution:
            result = build_set(run_, store, steps, execution, engine)
            if not isinstance(result, UnchangedSnapshot):
                record(store, result)
    counts = result.manifest.counts if isinstance(result, UnchangedSnapshot) else result.counts
    report = {
        "snapshot": result.snapshot,
        "documents": counts["documents"],
        "passages": counts["passages"],
        "parsed": 0 if isinstance(result, UnchangedSnapshot) else result.parsed,
        "seconds": {each.stage: each.seconds for each in steps.times},
        "peak_mb": steps.peaks(),
        "others_mb": steps.peaks_of_others(),
        "snapshot_bytes": _snapshot_bytes(store),
        "store_bytes": _bytes(folder),
    }
    print(json.dumps(report))


def _snapshot_bytes(store: Store) -> int:
    with store.open() as snapshot:
        holders = {each.path: each for name in ("terms", "passages") for each in snapshot.holders(name)}
        return sum(entry.bytes for each in holders.values() for entry in each.manifest.files.values())


def _bytes(folder: Path) -> int:
    """Return the bytes of all files, those with several names once."""
    found = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({each.st_ino: each.st_size for each in found}.values())


if __name__ == "__main__":
    build(*(Path(argument) for argument in sys.argv[1:4]))
