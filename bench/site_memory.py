"""Memory and time of a site's build, by stage: the most that its processes take, and what a document adds.

``$NOCTULE_BENCH_STORES`` names stores, separated by colons, whose current snapshots are shown, also those of
sets of shards. The settings are those beside each (``store-NAME`` has ``NAME.toml``), or the default ones.
``$NOCTULE_BENCH_SITE`` is a folder that keeps the sites, each under the name of its store.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from bench.children import run
from bench.standin import Watched
from noctule.artifacts.store.store import Store
from noctule.docsite import build as site_build
from noctule.flows.job import run_job
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.run.memory import collect_seldom
from noctule.flows.run.stage import Silent, seconds_by_stage
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Settings

R = TypeVar("R")
# What the stage "site" is made of; what is left of it is the record of all files, and the exchange.
_PARTS = {
    "plan_site": "plan",
    "page_fingerprints": "fingerprints",
    "add_pages": "pages",
    "_add_all": "lists, search",
}
_PER_DOCUMENT = ("files", "bytes", "wall_s", "cpu_s")


def measure() -> None:
    """Print what the site of each store costs, by stage, and the growth between two."""
    stores = [Path(each).resolve() for each in os.environ.get("NOCTULE_BENCH_STORES", "").split(":") if each]
    if not stores:
        sys.exit("NOCTULE_BENCH_STORES names no store.")
    found = sorted(map(_measured, stores), key=lambda report: int(report["passages"]))
    for small, large in pairwise(found):
        _print_growth(small, large)


def _measured(store: Path) -> dict[str, Any]:
    config = store.with_name(store.name.removeprefix("store-")).with_suffix(".toml")
    with tempfile.TemporaryDirectory(dir=store.parent) as scratch:
        out = Path(os.environ.get("NOCTULE_BENCH_SITE", scratch)).resolve() / store.name
        if out.exists():
            sys.exit(f"{out} is there: a second build of a site costs next to nothing. Name another folder.")
        command = [sys.executable, "-m", "bench.site_memory", str(store), str(config), str(out)]
        cost = run(command, {}, sample_s=0.2)
    report: dict[str, Any] = json.loads(cost.output.splitlines()[-1])
    report |= {"wall_s": cost.wall_s, "cpu_s": cost.cpu_s, "all_mb": cost.anonymous_mb}
    print(f"{store.name}: {report['shards']} shards, {report['documents']:,} documents, ", end="")
    print(f"{report['passages']:,} passages, {report['files']:,} files of {report['bytes'] / 1e6:.0f} MB")
    print(f"  {cost.anonymous_mb:.0f} MB of all processes, {cost.wall_s:.0f} s, {cost.cpu_s:.0f} s processor")
    for stage, seconds in report["seconds"].items():
        held = [report[name].get(stage, 0) for name in ("peak_mb", "others_mb")]
        print(f"    {stage:20}{seconds:8.1f} s{held[0]:8.0f} MB, {held[1]:.0f} of the other process")
    sys.stdout.flush()
    return report


def _print_growth(small: Mapping[str, Any], large: Mapping[str, Any]) -> None:
    """Print what each document more costs: bytes of memory by stage, files, bytes and seconds."""
    more = large["documents"] - small["documents"]
    if not more:
        print("both have equally many documents: nothing says what each more costs")
        return
    passages = max(1, large["passages"] - small["passages"])
    grown = (large["all_mb"] - small["all_mb"]) * 1_024
    print(f"each passage more: {grown / passages:.1f} KB; each document more: {grown / more:.1f} KB")
    for name in _PER_DOCUMENT:
        print(f"    {name:20}{(large[name] - small[name]) / more:12.4f}")
    for stage in large["seconds"]:
        each = [
            (large[part].get(stage, 0) - small[part].get(stage, 0)) * 1_024 / more
            for part in ("peak_mb", "others_mb")
        ]
        print(f"    {stage:20}{each[0]:8.1f} KB, {each[1]:.1f} of the other process")


def build(folder: Path, config: Path, out: Path) -> None:
    """Build the site of a store and print its costs as JSON."""
    settings, steps = load(config) if config.is_file() else Settings(), Watched()
    for name, part in _PARTS.items():
        setattr(site_build, name, _timed(steps, part, getattr(site_build, name)))
    collect_seldom()
    with Store(folder).open() as snapshot:
        sizes = {name: snapshot.rows(name) for name in ("documents", "passages")}
        shards = len(snapshot.parts)
    run_ = RunContext(settings, folder, BuildOptions(), out)
    made = run_job(run_, steps, Silent(), index=False, publish=False).site
    assert made is not None
    report = {
        **sizes,
        "shards": shards,
        "files": made.files,
        "bytes": made.bytes,
        "seconds": seconds_by_stage(steps.times),
        "peak_mb": steps.peaks(),
        "others_mb": steps.peaks_of_others(),
    }
    print(json.dumps(report))


def _timed(steps: Watched, stage: str, function: Callable[..., R]) -> Callable[..., R]:
    @wraps(function)
    def timed(*given: Any, **named: Any) -> R:
        with steps.measure(stage):
            return function(*given, **named)

    return timed


if __name__ == "__main__":
    build(*map(Path, sys.argv[1:4]))
