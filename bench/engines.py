"""Engines compared: the overhead of a batch, and the wall time of an index with one and two Dask workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from bench.children import REPOSITORY, noctule
from bench.corpora import cache_folder, settings_file
from noctule.artifacts.store.store import Store
from noctule.flows.engines.open import opened
from noctule.flows.run.workers import Begin
from noctule.pipeline.settings.reading import parse

CALLS = 100
ENGINES = ("inline", "processes", "dask", "ray")


def nothing(batch: int, _begin: Begin) -> pa.Table:
    """Do nothing, so that only the overhead of the round trip remains."""
    return pa.table({"batch": [batch]})


def measure(name: str = "dendron") -> None:
    """Print milliseconds per batch of each installed engine, then seconds of a whole index from nothing."""
    print(f"a batch that does nothing, {CALLS} times, one after the other:")
    for engine in ENGINES:
        print(f"  {engine:24}{_way(engine):8.1f} ms a batch")
    config = settings_file(name)
    print(f"index of {name} from nothing, without Prefect:")
    for engine, workers in (("processes", 1), ("dask", 1), ("processes", 2), ("dask", 2)):
        with _cluster(workers) if engine == "dask" else _no_cluster() as address:
            given = f"dask://{address}" if address else engine
            print(f"  {f'{engine}, {workers} workers':24}{_index(config, given, workers)}", flush=True)


def _way(engine: str) -> float:
    """Return milliseconds per call, after a first one that starts what must be started."""
    settings = parse({"engine": {"name": engine}, "embed": {"workers": 1}}, where="bench")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        with store.lock("bench"), opened(settings, store) as found, found.workers(CALLS) as workers:
            workers.watch(nothing, 0, 300)
            start = time.perf_counter()
            for batch in range(CALLS):
                workers.watch(nothing, batch, 300)
            return 1000 * (time.perf_counter() - start) / CALLS


def _index(config: Path, engine: str, workers: int) -> str:
    store = cache_folder() / "store-engines"
    shutil.rmtree(store, ignore_errors=True)
    limited = config.with_name(f"engines-{workers}.toml")
    limited.write_text(f"{config.read_text('utf-8')}\n[embed]\nworkers = {workers}\n", "utf-8")
    cost = noctule(
        "index", "--config", limited, "--store", store, "--engine", engine, "--no-prefect", "--json"
    )
    report = json.loads(cost.output.splitlines()[-1])
    seconds = report["stages"]
    stages = ", ".join(f"{stage} {seconds[stage]:.1f}" for stage in ("parse", "embed") if stage in seconds)
    return f"{cost.wall_s:8.1f} s wall ({stages}), snapshot {report['snapshot']}"


@contextmanager
def _no_cluster() -> Iterator[str]:
    yield ""


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Yield the address of a scheduler on the loopback with so many workers, each a process of one thread."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "scheduler.json"
        common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(note)]
        started = [_dask("scheduler", "--port", "0", *common)]
        try:
            while not note.exists():
                time.sleep(0.1)
            for _ in range(workers):
                started.append(_dask("worker", *common, "--nthreads", "1", "--no-nanny",
                                     "--memory-limit", "0", "--local-directory", folder))  # fmt: skip
            yield json.loads(note.read_text("utf-8"))["address"].removeprefix("tcp://")
        finally:
            for each in started:
                each.kill()
                each.wait(10)


def _dask(*arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'site'}", "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments], env=environment, stdout=quiet, stderr=quiet
    )
