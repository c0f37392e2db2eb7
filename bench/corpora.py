"""Corpora and judged queries for benchmarks: ``*.tar.zst`` archives, unpacked once into a cache."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from pathlib import Path

import zstandard

ARCHIVES = {
    "mdn": "mdn-en-us-2026-08-12",
    "dendron": "dendron-site",
    "fastapi": "fastapi",
    "fastapi-site": "fastapi-site",
    "foam": "foam",
    "python": "python39-html",
    "ray": "ray-docs",
    "rust": "rust-book",
}
ROOTS = {
    "mdn": "mdn",
    "dendron": "dendron-site",
    "fastapi": "fastapi",
    "fastapi-site": "fastapi-site/docs/en/docs",
    "foam": "foam",
    "python": "python39-html",
    "ray": "ray",
    "rust": "rust-book",
}


def data_folder() -> Path:
    """Return ``$NOCTULE_CORPORA``, which contains ``corpora/`` and ``judged/``; exit if it does not exist."""
    given = os.environ.get("NOCTULE_CORPORA", "../shared/data")
    folder = Path(given).resolve()
    if not (folder / "corpora").is_dir():
        sys.exit(f"no corpora at {folder}: set NOCTULE_CORPORA to the folder that holds corpora/ and judged/")
    return folder


def cache_folder() -> Path:
    """Return ``$NOCTULE_BENCH_CACHE``, by default in the user's cache: unpacked corpora and stores."""
    folder = Path(os.environ.get("NOCTULE_BENCH_CACHE", Path.home() / ".cache" / "noctule-bench"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def corpus(name: str) -> Path:
    """Return the folder of an unpacked corpus."""
    target = cache_folder() / "corpora" / ARCHIVES[name]
    if not target.is_dir():
        archive = data_folder() / "corpora" / f"{ARCHIVES[name]}.tar.zst"
        partial = target.with_suffix(".partial")
        with (
            archive.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file) as stream,
            tarfile.open(fileobj=stream, mode="r|") as tar,
        ):
            tar.extractall(partial, filter="data")
        partial.rename(target)
    return target / ROOTS[name]


def queries(judged: str) -> list[str]:
    """Return the texts of a set of judged queries, in order."""
    lines = (data_folder() / "judged" / judged / "queries.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def settings_file(name: str) -> Path:
    """Write a settings file for a corpus: the repository's preset with the corpus's root."""
    root = json.dumps(str(corpus(name)))
    preset = Path(__file__).resolve().parents[1] / "configs" / f"{name}.toml"
    lines = (
        preset.read_text("utf-8").splitlines() if preset.exists() else [f"[collections.{name}]", "root = ''"]
    )
    given = [f"root = {root}" if line.startswith("root = ") else line for line in lines]
    path = cache_folder() / f"{name}.toml"
    path.write_text("\n".join(given) + "\n", "utf-8")
    return path
