"""A million passages: the real build and search over real text in many editions, with stand-in vectors.

``NOCTULE_MILLION=100000 python -m bench million`` for fewer; with two sizes, as in
``NOCTULE_MILLION=50000,200000``, it prints what each passage more costs in each stage instead of searching.
The text is that of MDN, each edition with other titles, addresses and word order; a vector is that of some
MDN passage mixed with a little of another and some noise.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from bench.children import Cost, run
from bench.corpora import cache_folder, corpus, queries
from bench.editions import write_editions
from bench.judged import settings_for, store_for
from bench.query_vectors import CachedEncoder
from bench.standin import StandIn, Watched
from bench.vector_recall import recall_of_the_nearest
from noctule.artifacts.query import Searcher
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.vector_columns import vector_matrix
from noctule.artifacts.tables.vectors import search
from noctule.flows.api import build_snapshot
from noctule.flows.engines import Engine
from noctule.flows.graph import BUILD
from noctule.flows.run.context import Resources, RunContext
from noctule.flows.run.progress import LogProgress
from noctule.flows.stages.embedding.encode import Encoding
from noctule.pipeline.embedding.encoder import TransformerEncoder, load_encoder
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Settings

JUDGED = "mdn-3p-links"
PASSAGES_PER_FILE = 7.54
WARM_UP = 30


def measure() -> None:
    """Build, then search, each in its own process; print time by stage, memory, latency and recall."""
    sizes = [int(size) for size in os.environ.get("NOCTULE_MILLION", "1000000").split(",")]
    reports = [_built(*prepared(size)) for size in sizes]
    if len(sizes) > 1:
        _print_slopes(reports[0], reports[-1])
        return
    config, store = prepared(sizes[0])
    asked = _child("ask", config, store)
    for name, figure in json.loads(asked.output.splitlines()[-1]).items():
        print(f"  {name:34}{figure:10.3f}")
    print(f"  peak memory of the search {asked.peak_mb:8.0f} MB")


def _built(config: Path, store: Path) -> dict[str, Any]:
    """Build from nothing, print the costs and return them."""
    shutil.rmtree(store, ignore_errors=True)
    built = _child("build", config, store)
    report: dict[str, Any] = json.loads(built.output.splitlines()[-1])
    print(f"{report['documents']} documents, {report['passages']} passages, {report['vectors']} vectors")
    print(
        f"  build without encoding    {built.wall_s:8.1f} s, {built.cpu_s:.0f} s processor (at most 1200 s)"
    )
    print(f"  peak of all processes     {built.anonymous_mb:8.0f} MB (at most 4500 MB at a million)")
    print(f"  with pages of mapped files{built.peak_mb:8.0f} MB, which the kernel can take back")
    print(f"  index {report['index']}, snapshot {report['bytes'] / 1e6:.0f} MB")
    for stage, seconds in report["seconds"].items():
        held = [report[name].get(stage, 0) for name in ("peak_mb", "others_mb")]
        print(f"    {stage:24}{seconds:8.1f} s{held[0]:8.0f} MB of the main process, {held[1]:.0f} of others")
    return report | {"all_mb": built.anonymous_mb}


def _print_slopes(small: Mapping[str, Any], large: Mapping[str, Any]) -> None:
    """Print the kilobytes that each passage more costs: at the peak, and in the main process by stage."""
    more = large["passages"] - small["passages"]
    print(f"each of {more} passages more, KB")
    print(f"    {'all processes':24}{(large['all_mb'] - small['all_mb']) * 1024 / more:8.2f}")
    for stage, peak in large["peak_mb"].items():
        if stage in small["peak_mb"]:
            print(f"    {stage:24}{(peak - small['peak_mb'][stage]) * 1024 / more:8.2f}")


def _child(part: str, config: Path, store: Path) -> Cost:
    return run([sys.executable, "-m", "bench.million", part, str(config), str(store), str(mdn_vectors())], {})


def prepared(wanted: int) -> tuple[Path, Path]:
    """Return the settings file of a corpus of about that many passages, made once, and its store's folder."""
    folder = cache_folder() / f"editions-{wanted}"
    if not folder.is_dir():
        write_editions(corpus("mdn"), folder, round(wanted / PASSAGES_PER_FILE))
    text = settings_text(folder)
    config = cache_folder() / f"editions-{wanted}.toml"
    config.write_text(text, "utf-8")
    return config, cache_folder() / f"store-editions-{wanted}"


def settings_text(folder: Path) -> str:
    """Return the settings of the MDN preset for another folder."""
    preset = Path(__file__).resolve().parents[1] / "configs" / "mdn.toml"
    lines = preset.read_text("utf-8").splitlines()
    return "\n".join(f"root = {json.dumps(str(folder))}" if x.startswith("root = ") else x for x in lines)


def mdn_vectors() -> Path:
    """Return MDN's vectors as a file that processes share."""
    path = cache_folder() / "mdn-vectors.npy"
    if not path.exists():
        with store_for(JUDGED, settings_for(JUDGED)).open() as snapshot:
            np.save(
                path, vector_matrix(snapshot.table("vectors")["vector"], snapshot.manifest.model.dimension)
            )
    return path


def build(config: Path, folder: Path, vectors: Path) -> None:
    """Build the snapshot with the stand-in encoder and print its costs as JSON."""
    settings, store, steps = load(config), Store(folder), Watched()
    stand_in = StandIn(load_encoder(settings.embed), np.load(vectors, mmap_mode="r"))

    def open_encoding(run: RunContext, engine: Engine, resources: Resources) -> Encoding:
        return Encoding(cast(TransformerEncoder, stand_in), run.store, engine, resources)

    stages = [replace(each, function=open_encoding) if each.name == "load model" else each for each in BUILD]
    result = build_snapshot(settings, store, steps, LogProgress(), stages=stages)
    with store.open() as snapshot:
        size = sum(entry.bytes for entry in snapshot.manifest.files.values())
        report = {
            "documents": result.documents,
            "passages": result.passages,
            "vectors": snapshot.manifest.counts["vectors"],
            "index": str(snapshot.manifest.index),
            "bytes": size,
            "seconds": {each.stage: each.seconds for each in result.times},
            "peak_mb": steps.peaks(),
            "others_mb": steps.peaks_of_others(),
        }
    print(json.dumps(report))


def ask(config: Path, folder: Path) -> None:
    """Run the judged queries of MDN and print seconds to open, milliseconds and recall as JSON."""
    settings, texts = load(config), list(dict.fromkeys(queries(JUDGED)))
    encoder, cached = load_encoder(settings.embed), CachedEncoder(settings.embed)
    vectors = {text: cached.encode_query(text) for text in texts}
    start = time.perf_counter()
    snapshot = Store(folder).open()
    report = {"seconds to open": time.perf_counter() - start}
    for name, used in (("vector given", cached), ("encoding included", encoder)):
        with Searcher(Store(folder).open(), _uncached(settings), used) as searcher:
            start = time.perf_counter()
            searcher.search(texts[0])
            first = time.perf_counter() - start
            for text in texts:
                searcher.search(text)
            report[f"first search, {name}, s"] = first
            report |= _latency(name, searcher.search, texts)
    index = snapshot.index()
    report |= _latency(
        "vector index alone, 500 wanted", lambda text: search(index, vectors[text], 500), texts
    )
    recall = recall_of_the_nearest(snapshot, [vectors[text] for text in texts])
    print(json.dumps(report | {"recall of the 100 nearest": recall}))


def _uncached(settings: Settings) -> Settings:
    caches = settings.search.caches.model_copy(update={"answers": 0, "vectors": 0})
    return settings.model_copy(update={"search": settings.search.model_copy(update={"caches": caches})})


def _latency(name: str, asked: object, texts: Sequence[str]) -> dict[str, float]:
    assert callable(asked)
    for text in texts[:WARM_UP]:
        asked(text)
    seconds = []
    for text in texts[WARM_UP:]:
        start = time.perf_counter()
        asked(text)
        seconds.append(time.perf_counter() - start)
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    return {f"{name}, p50 ms": float(p50), f"{name}, p95 ms": float(p95)}


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[2:5]]
    if sys.argv[1] == "build":
        build(*given)
    else:
        ask(*given[:2])
