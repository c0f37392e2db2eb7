"""Night after night on MDN: its real changes, the whole nightly run with the site, against a run from nothing."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from artifacts.layout import EMBEDDINGS
from bench.children import noctule
from bench.corpora import cache_folder, corpus, data_folder, settings_file

_SHARE = 0.03
_UNCHANGED_S = 5.0


@dataclass(frozen=True, slots=True)
class Change:
    """What a night does: the new content of files by path, nothing for one that goes."""

    name: str
    files: Mapping[str, bytes | None]


def measure() -> None:
    """A run from nothing, one with nothing changed, each night and then each undone; prints seconds and shares.

    ``NOCTULE_NIGHTS=3`` takes the first three nights only, ``NOCTULE_CHECKED=1`` compares every n-th with a run from nothing.
    ``NOCTULE_VECTORS=STORE`` spares the first run its encoding, which must then be added to its time.
    """
    folder = cache_folder() / "nights"
    shutil.rmtree(folder, ignore_errors=True)
    root = shutil.copytree(corpus("mdn"), folder / "mdn")
    config = folder / "mdn.toml"
    config.write_text(settings_file("mdn").read_text().replace(str(corpus("mdn")), str(root)))
    if known := os.environ.get("NOCTULE_VECTORS"):
        shutil.copytree(Path(known) / EMBEDDINGS, folder / "store" / EMBEDDINGS)
    whole = _night(folder, config)
    print(f"from nothing: {_said(whole)}", flush=True)
    nothing = _night(folder, config)
    print(f"nothing changed: {_said(nothing)} (at most {_UNCHANGED_S:g} s)", flush=True)
    every = int(os.environ.get("NOCTULE_CHECKED", "0"))
    shares = []
    for number, change in enumerate(_nights_and_back(root), start=1):
        night = _night(folder, config)
        shares.append(night["wall"] / whole["wall"])
        checked = f", {_from_nothing(folder, config, night)}" if every and number % every == 0 else ""
        print(
            f"{change.name}: {len(change.files)} files, {_said(night)}: {shares[-1]:.1%} of the first{checked}",
            flush=True,
        )
    shares.sort()
    print(f"median night / from nothing: {shares[len(shares) // 2]:.1%} (at most {_SHARE:.0%})")


def _night(folder: Path, config: Path) -> dict[str, Any]:
    out = folder / "site"
    cost = noctule("nightly", "--config", config, "--store", folder / "store", "--out", out, "--json")
    report: dict[str, Any] = json.loads(cost.output.splitlines()[-1])
    return report | {"wall": cost.wall_s, "cpu": cost.cpu_s, "peak": cost.peak_mb}


def _said(night: Mapping[str, Any]) -> str:
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in night["stages"].items() if seconds >= 0.5)
    return (
        f"{night['wall']:.1f} s wall ({night['cpu']:.0f} s processor, {night['peak']:.0f} MB), {night['parsed']} files parsed, "
        f"{night['encoded']} texts encoded, {night['site']['written']} of {night['site']['files']} files of the site written [{stages}]"
    )


def _from_nothing(folder: Path, config: Path, night: Mapping[str, Any]) -> str:
    """Whether a store with the same vectors and nothing else comes to the same snapshot."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        shutil.copytree(folder / "store" / EMBEDDINGS, Path(fresh) / EMBEDDINGS)
        cost = noctule("index", "--config", config, "--store", fresh, "--no-prefect", "--json")
    same = json.loads(cost.output.splitlines()[-1])["snapshot"] == night["snapshot"]
    return "the snapshot of a run from nothing" if same else "NOT the snapshot of a run from nothing"


def _nights_and_back(root: Path) -> Iterator[Change]:
    """Each night once it is applied, then each undone, last first."""
    limit = int(os.environ.get("NOCTULE_NIGHTS", "99"))
    undo: list[Change] = []
    for archive in archives()[:limit]:
        change = read_night(archive)
        undo.append(Change(f"{change.name} undone", {path: _content(root / path) for path in change.files}))
        _apply(root, change)
        yield change
    for change in reversed(undo):
        _apply(root, change)
        yield change


def archives() -> list[Path]:
    """What changed in each night, the earliest first."""
    return sorted((data_folder() / "nights").glob("*.tar.zst"))


def read_night(archive: Path) -> Change:
    """What changed in the night of an archive."""
    files: dict[str, bytes | None] = {}
    with (
        archive.open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        for member in tar:
            content = tar.extractfile(member)
            if content is None:
                continue
            _, _, path = member.name.partition("/")
            if path == "deleted.txt":
                files |= dict.fromkeys(filter(None, content.read().decode().splitlines()))
            elif path.startswith("changed/"):
                files[path.removeprefix("changed/")] = content.read()
    return Change(archive.name.removesuffix(".tar.zst"), files)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _apply(root: Path, change: Change) -> None:
    for name, content in change.files.items():
        path = root / name
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
