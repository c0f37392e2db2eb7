"""Successive nights of MDN's real changes: the nightly run with the site, against a run from nothing.

And small changes of FastAPI's folder: how many files of its site each rewrites.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

import zstandard

from bench.children import REPOSITORY, noctule
from bench.corpora import cache_folder, corpus, data_folder, settings_file
from noctule.artifacts.disk.layout import EMBEDDINGS

_NEW_PAGE = b"""# Greeting cards

You can return a greeting card from a *path operation*. It is a Pydantic model with a text and a signature.

## Declare the card

Declare a `Card` model with a `text` and a `signature`, both strings, and use it as the response model.

## Send the card

A background task sends the card by e-mail after the response was returned, so that the client need not wait.
"""
_SHARE = 0.03
_UNCHANGED_S = 5.0


@dataclass(frozen=True, slots=True)
class Change:
    """A night's new file contents by path, none for a removed one, and the number of nights then applied."""

    name: str
    files: Mapping[str, bytes | None]
    applied: int = 0


def measure() -> None:
    """Run from nothing, without a change, and with each night's changes and their undoing.

    Prints seconds and shares. ``NOCTULE_NIGHTS=3`` takes only the first three nights, ``NOCTULE_ROUNDS=2``
    runs them all twice, back and forth. ``NOCTULE_CHECKED=1`` compares every n-th state of the corpus with a
    run from nothing; a recurring state must give the same snapshot again. ``NOCTULE_VECTORS=STORE`` spares
    the first run its encoding, which must then be added to its time. Raises ``AssertionError`` at the end if
    any snapshot differed.
    """
    folder = cache_folder() / "nights"
    shutil.rmtree(folder, ignore_errors=True)
    root = shutil.copytree(corpus("mdn"), folder / "mdn")
    config = folder / "mdn.toml"
    config.write_text(settings_file("mdn").read_text().replace(str(corpus("mdn")), str(root)))
    _give_vectors(folder)
    whole = _night(folder, config)
    print(f"from nothing: {_said(whole)}", flush=True)
    nothing = _night(folder, config)
    print(f"nothing changed: {_said(nothing)} (at most {_UNCHANGED_S:g} s)", flush=True)
    proof = _Proof(folder, config, int(os.environ.get("NOCTULE_CHECKED", "0")), {0: whole["snapshot"]})
    shares = []
    for change in _rounds(root):
        night = _night(folder, config)
        shares.append(night["wall"] / whole["wall"])
        print(
            f"{change.name}: {len(change.files)} files, {_said(night)}: {shares[-1]:.1%} of the first, "
            f"{proof.of(change, night)}",
            flush=True,
        )
    print(
        f"median of {len(shares)} nights / from nothing: {median(shares):.1%}, most {max(shares):.1%} (at "
        f"most {_SHARE:.0%})"
    )
    assert not proof.faults, f"not what they should be: {proof.faults}"


def _give_vectors(folder: Path) -> None:
    if known := os.environ.get("NOCTULE_VECTORS"):
        shutil.copytree(Path(known) / EMBEDDINGS, folder / "store" / EMBEDDINGS)


@dataclass(slots=True)
class _Proof:
    """Reference snapshots: ``known`` has one for each number of nights applied."""

    folder: Path
    config: Path
    every: int
    known: dict[int, str]
    faults: list[str] = field(default_factory=list)

    def of(self, change: Change, night: Mapping[str, Any]) -> str:
        """Describe what the night's snapshot is equal to."""
        if change.applied in self.known:
            right, what = self.known[change.applied], "of the same files before"
        elif self.every and change.applied % self.every == 0:
            right, what = self._from_nothing(), "of a run from nothing"
        else:
            right, what = night["snapshot"], "not compared"
        self.known.setdefault(change.applied, right)
        if night["snapshot"] == right:
            return f"snapshot {right[:12]} {what}"
        self.faults.append(change.name)
        return f"snapshot {night['snapshot'][:12]} is NOT that {what}, {right[:12]}"

    def _from_nothing(self) -> str:
        """Return the snapshot of a store with the same vectors and nothing else."""
        with tempfile.TemporaryDirectory(dir=self.folder) as fresh:
            shutil.copytree(self.folder / "store" / EMBEDDINGS, Path(fresh) / EMBEDDINGS)
            cost = noctule("index", "--config", self.config, "--store", fresh, "--no-prefect", "--json")
        return str(json.loads(cost.output.splitlines()[-1])["snapshot"])


def _night(folder: Path, config: Path) -> dict[str, Any]:
    out = folder / "site"
    cost = noctule("nightly", "--config", config, "--store", folder / "store", "--out", out, "--json")
    report: dict[str, Any] = json.loads(cost.output.splitlines()[-1])
    return report | {"wall": cost.wall_s, "cpu": cost.cpu_s, "peak": cost.peak_mb}


def _said(night: Mapping[str, Any]) -> str:
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in night["stages"].items() if seconds >= 0.5)
    return (
        f"{night['wall']:.1f} s wall ({night['cpu']:.0f} s processor, {night['peak']:.0f} MB), "
        f"{night['parsed']} files parsed, "
        f"{night['encoded']} texts encoded, {night['site']['written']} of {night['site']['files']} files "
        f"of the site written [{stages}]"
    )


def _rounds(root: Path) -> Iterator[Change]:
    """Yield each night as applied, then each as undone, last first, in as many rounds as requested."""
    limit = int(os.environ.get("NOCTULE_NIGHTS", "99"))
    for _ in range(int(os.environ.get("NOCTULE_ROUNDS", "1"))):
        yield from _nights_and_back(root, archives()[:limit])


def _nights_and_back(root: Path, nights: Sequence[Path]) -> Iterator[Change]:
    undo: list[Change] = []
    for number, archive in enumerate(nights):
        change = replace(read_night(archive), applied=number + 1)
        undo.append(
            Change(f"{change.name} undone", {path: _content(root / path) for path in change.files}, number)
        )
        apply(root, change)
        yield change
    for change in reversed(undo):
        apply(root, change)
        yield change


def archives() -> list[Path]:
    """Return the archives of the nights' changes, earliest first."""
    return sorted((data_folder() / "nights").glob("*.tar.zst"))


def read_night(archive: Path) -> Change:
    """Read a night's changes from an archive."""
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


def apply(root: Path, change: Change) -> None:
    """Bring the files below a folder to what a night leaves."""
    for name, content in change.files.items():
        path = root / name
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@dataclass(frozen=True, slots=True)
class Changed:
    """A folder with its table of contents, a page of it that is changed, and one that is removed."""

    corpus: str
    navigation: str
    # The line of the changed page there, and of a new one after it.
    line: bytes
    new_line: bytes
    page: str
    heading: bytes
    removed: str


_CHANGED = (
    Changed(
        "fastapi-site",
        "docs/en/mkdocs.yml",
        b"    - tutorial/cors.md\n",
        b"    - tutorial/greeting-cards.md\n",
        "docs/en/docs/tutorial/cors.md",
        b"# CORS (Cross-Origin Resource Sharing)",
        "docs/en/docs/tutorial/static-files.md",
    ),
    Changed(
        "rust-book-site",
        "src/SUMMARY.md",
        b"  - [The `match` Control Flow Construct](ch06-02-match.md)\n",
        b"  - [Greeting cards](greeting-cards.md)\n",
        "src/ch06-02-match.md",
        b"## The `match` Control Flow Construct\n",
        "src/ch05-03-method-syntax.md",
    ),
)


def measure_changes() -> None:
    """Print for small changes of two folders how many files of their sites each writes and removes.

    Settings are those of ``noctule init --from``. Every site is built upon the one before the change.
    ``NOCTULE_VECTORS=STORE`` spares the encoding.
    """
    for changed in _CHANGED:
        _measure_changes_of(changed)


def _measure_changes_of(changed: Changed) -> None:
    folder = cache_folder() / "changes"
    shutil.rmtree(folder, ignore_errors=True)
    root = shutil.copytree(corpus(changed.corpus), folder / changed.corpus)
    _give_vectors(folder)
    command = [sys.executable, "-m", "noctule.flows.cli.main", "init", "--from", "."]
    paths = f"{REPOSITORY}:{REPOSITORY / 'site'}"
    subprocess.run(
        command, cwd=root, check=True, env={**os.environ, "PYTHONPATH": paths}, capture_output=True
    )
    before, kept = _site_files(folder, root), folder / "before"
    shutil.copytree(folder / "site", kept)
    print(
        f"| {changed.corpus} | pages | search | other | of all files |",
        "| --- | ---: | ---: | ---: | ---: |",
        sep="\n",
    )
    for change in _small_changes(root, changed):
        undo = Change(change.name, {path: _content(root / path) for path in change.files})
        apply(root, change)
        after = _site_files(folder, root, kept)
        written = [path for path in after if before.get(path) != after[path]]
        gone = len(before.keys() - after.keys())
        search = sum(path.startswith("_search/") for path in written)
        pages = sum(path.endswith(".html") and not path.startswith("_") for path in written)
        print(
            f"| {change.name} | {pages} | {search} | {len(written) - search - pages} | "
            f"{len(written)} of {len(after)} written, {len(written) / len(after):.1%}; {gone} removed |",
            flush=True,
        )
        apply(root, undo)


def _site_files(folder: Path, root: Path, before: Path | None = None) -> Mapping[str, bytes]:
    """Build the site upon another, or from nothing, and return the digest of every file."""
    out, where = folder / "site", ("--config", root / "noctule.toml", "--store", folder / "store")
    shutil.rmtree(out, ignore_errors=True)
    if before is not None:
        shutil.copytree(before, out)
    noctule("index", *where, "--no-prefect", "-q")
    noctule("site", *where, "--no-prefect", "-q", "--out", out)
    files = (path for path in out.rglob("*") if path.is_file())
    return {path.relative_to(out).as_posix(): sha256(path.read_bytes()).digest() for path in files}


def _small_changes(root: Path, changed: Changed) -> Iterator[Change]:
    navigation, text = (root / changed.navigation).read_bytes(), (root / changed.page).read_bytes()
    new = str(Path(changed.page).with_name("greeting-cards.md"))
    yield Change("a page more, not in the navigation", {new: _NEW_PAGE})
    named = navigation.replace(changed.line, changed.line + changed.new_line)
    assert named != navigation
    yield Change("a page more, in the navigation", {new: _NEW_PAGE, changed.navigation: named})
    more = text + b"\nThe answer is asked for beforehand, in a request of its own.\n"
    yield Change("a paragraph more", {changed.page: more})
    renamed = text.replace(changed.heading, b"# Requests from other origins\n")
    assert renamed != text
    yield Change("another title", {changed.page: renamed})
    yield Change("a page less", {changed.removed: None})
