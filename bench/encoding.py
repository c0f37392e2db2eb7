"""Encoding rate: batches as noctule makes them against one passage at a time in fp32."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from bench.corpora import cache_folder
from noctule.artifacts.store.store import Store
from noctule.flows.stages.embedding.encode import passage_texts
from noctule.pipeline.embedding.encoder import available_cores, load_encoder
from noctule.pipeline.settings.settings import Embed

SAMPLE = 2000
ONE_BY_ONE = 300


def measure(name: str = "mdn") -> None:
    """Encode a sample of the corpus's passages both ways, alternately, three times, and print the ratio."""
    import torch
    from sentence_transformers import SentenceTransformer

    with Store(cache_folder() / f"store-{name}").open() as snapshot:
        texts = passage_texts(snapshot.table("passages", ["breadcrumb", "text", "content_hash", "tokens"]))
    rows = random.Random(0).sample(range(len(texts.hashes)), SAMPLE)
    sample = [texts.text_at(row) for row in rows]
    encoder = load_encoder(Embed())
    reference = SentenceTransformer(str(encoder.model.folder), device="cpu")
    torch.set_num_threads(available_cores())  # our encoder takes one thread per batch; the other may use all
    ratios = []
    few = sample[:ONE_BY_ONE]
    for _ in range(3):
        ours = _rate(sample, lambda: encoder.encode(sample))
        theirs = _rate(few, lambda: [reference.encode(text, show_progress_bar=False) for text in few])
        ratios.append(ours / theirs)
        print(
            f"encoding ({encoder.precision}): {ours:.1f} passages/s; one at a time in fp32: {theirs:.1f} "
            "passages/s"
        )
    print(f"  ratio, median of {len(ratios)}       {sorted(ratios)[1]:8.2f}   (at least 2.5 with AMX)")


def _rate(texts: list[str], encode: Callable[[], object]) -> float:
    start = time.perf_counter()
    encode()
    return len(texts) / (time.perf_counter() - start)
