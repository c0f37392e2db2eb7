"""Determinism: the same corpus built twice in different environments."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from bench.children import noctule
from bench.corpora import corpus

SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"},
)


def measure(name: str = "dendron") -> None:
    """Build two copies of the corpus in two folders and environments, and compare snapshot ids."""
    ids = []
    for number, environment in enumerate(SURROUNDINGS):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch) / f"copy {number}"
            shutil.copytree(corpus(name), root)
            options = (
                "--collection",
                name,
                "--store",
                str(Path(scratch) / "store"),
                "--json",
                "--no-prefect",
            )
            cost = noctule("index", root, *options, environment=environment)
            ids.append(json.loads(cost.output.splitlines()[-1])["snapshot"])
    print(f"{name} built twice: {' '.join(ids)}: {'the same' if len(set(ids)) == 1 else 'DIFFERENT'}")
