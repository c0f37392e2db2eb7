"""Memory of a site's build: the most that its processes take together, and what each passage more costs.

``$NOCTULE_BENCH_STORES`` names stores, separated by colons, whose current snapshots are shown. The settings
are those beside each (``store-NAME`` has ``NAME.toml``), or the default ones.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from bench.children import noctule
from noctule.artifacts.store.store import Store


def measure() -> None:
    """Print the megabytes of each store's site, without pages of mapped files, and the growth between two."""
    stores = [Path(each).resolve() for each in os.environ.get("NOCTULE_BENCH_STORES", "").split(":") if each]
    if not stores:
        sys.exit("NOCTULE_BENCH_STORES names no store.")
    found = sorted(_measured(store) for store in stores)
    for (few, small), (many, large) in pairwise(found):
        print(f"each passage more: {1_024 * (large - small) / max(1, many - few):.1f} KB")


def _measured(store: Path) -> tuple[int, float]:
    with Store(store).open() as snapshot:
        passages = snapshot.rows("passages")
    config = store.with_name(store.name.removeprefix("store-")).with_suffix(".toml")
    given: list[str | Path] = ["--config", config] if config.is_file() else []
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        out = Path(folder) / "site"
        cost = noctule("site", "--store", store, "--out", out, "--no-prefect", *given, sample_s=0.2)
    print(
        f"{store.name}: {passages:,} passages, {cost.anonymous_mb:.0f} MB, {cost.cpu_s:.0f} s of processor",
        flush=True,
    )
    return passages, cost.anonymous_mb
