"""Indexing all of MDN: time against encoding the same passages alone, peak memory, files without a reason."""

from __future__ import annotations

import json
import shutil
import time

import numpy as np

from bench.children import noctule
from bench.corpora import cache_folder, settings_file
from noctule.artifacts.store.store import Store
from noctule.flows.stages.embedding.encode import passage_texts
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.settings.reading import load


def measure(name: str = "mdn") -> None:
    """Index the corpus from nothing, then encode its passages alone, and print the ratio."""
    config, folder = settings_file(name), cache_folder() / f"store-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    cost = noctule("index", "--config", config, "--store", folder, "--json")
    report = json.loads(cost.output.splitlines()[-1])
    with Store(folder).open() as snapshot:
        passages = snapshot.table("passages", ["breadcrumb", "text", "content_hash", "tokens"])
    texts = passage_texts(passages)
    first_rows = np.unique(texts.hashes.dictionary_encode().indices.to_numpy(), return_index=True)[1]
    distinct = [texts.text_at(int(row)) for row in first_rows]
    tokens = int(texts.tokens[first_rows].sum())
    encoder = load_encoder(load(config).embed)
    encoder.encode(distinct[:64])
    start = time.perf_counter()
    encoder.encode(distinct)
    alone = time.perf_counter() - start
    print(f"{name}: {report['documents']} documents, {report['passages']} passages, {tokens} tokens")
    print(f"  index (Prefect flow)      {cost.wall_s:8.1f} s wall, {cost.cpu_s:.0f} s processor")
    print(f"  only encoding             {alone:8.1f} s wall, {tokens / alone:.0f} tokens/s")
    print(f"  index / only encoding     {cost.wall_s / alone:8.3f}   (at most 1.15)")
    print(f"  peak memory, all processes{cost.peak_mb:8.0f} MB  (at most 3072)")
    print(
        f"  skipped {report['skipped']}, quarantined {report['quarantined']}: each with its reason in the "
        "report"
    )
