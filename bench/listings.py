"""Listings of a million objects: time, memory for each, and what a night costs in which nothing changed."""

from __future__ import annotations

import resource
import tempfile
import time
from hashlib import md5
from pathlib import Path
from typing import Any

import fsspec
from fsspec import AbstractFileSystem

from noctule.artifacts.cache.source_hashes import SourceHashes
from noctule.flows.sources.file_hashes import FileHasher
from noctule.pipeline.discover import list_files
from noctule.pipeline.discover.selection import FileListing
from noctule.pipeline.model import Source
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.source_files import FoundFile

_FOLDERS, _EACH = 1_000, 1_000
_LOCAL = 200_000
_MB = 1_000_000


class ManyObjects(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A store of a thousand folders of a thousand objects, which are made up as they are listed."""

    protocol = "many"
    cachable = False

    def ls(self, path: str, **_: object) -> list[Any]:  # always with details
        """Return what lies in a folder."""
        if path.rstrip("/") == "bucket":
            names = [f"bucket/section-{number:04}" for number in range(_FOLDERS)]
            return [{"name": name, "size": 0, "type": "directory"} for name in names]
        return [self._object(f"{path}/page-of-the-guide-{number:04}.md") for number in range(_EACH)]

    def _object(self, name: str) -> dict[str, Any]:
        etag = md5(name.encode(), usedforsecurity=False).hexdigest()
        return {"name": name, "size": 2_000, "type": "file", "ETag": f'"{etag}"', "StorageClass": "STANDARD"}


def measure() -> None:
    """Print seconds of processor, and bytes of memory for each entry."""
    fsspec.register_implementation("many", ManyObjects, clobber=True)
    _listed("many://bucket", "none of which is a document", include=["**/*.rst"])
    listing = _listed("many://bucket", "all documents", include=["**/*.md"])
    with tempfile.TemporaryDirectory() as folder:
        _night(listing, Path(folder))
    del listing
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(_LOCAL):
            if number % 1_000 == 0:
                (root / f"section-{number // 1_000:04}").mkdir()
            (root / f"section-{number // 1_000:04}" / f"page-{number:06}.md").write_bytes(b"# Page\n")
        _listed(str(root), "small files of a local folder", include=["**/*.md"])
        _listed(f"file://{root}", "the same at file://", include=["**/*.md"])


def _listed(root: str, what: str, **more: object) -> FileListing:
    settings = parse({"collections": {"c": {"root": root, **more}}}, where="a benchmark")
    before, start = _memory(), time.process_time()
    listing = list_files("c", settings.collections["c"])
    cpu_s, grown = time.process_time() - start, _memory() - before
    each = f", {grown / len(listing.files):.0f} bytes a file" if listing.files else ""
    print(
        f"{what}: {len(listing.files):,} files, {cpu_s:.1f} s of processor, {grown / _MB:.0f} MB more{each}, "
        f"peak {_peak() / _MB:.0f} MB"
    )
    return listing


def _night(listing: FileListing, folder: Path) -> None:
    settings = parse({"collections": {"c": {"root": "many://bucket"}}}, where="a benchmark")

    def read(file: FoundFile) -> Source:
        digest = md5(file.path.encode(), usedforsecurity=False).hexdigest() * 2
        return Source(file.collection, file.path, b"", digest, version=file.version)

    for what in ("the first time, reading nothing but made-up hashes", "a night without a change"):
        known = SourceHashes(folder)
        start = time.process_time()
        hasher = FileHasher(settings, {"c": "fingerprint"}, known)
        hasher.hashes(listing.files, read)
        hasher.tidy()
        size = sum(path.stat().st_size for path in (folder / "source-hashes").iterdir())
        print(
            f"versions, {what}: {time.process_time() - start:.1f} s of processor, {hasher.read:,} read, "
            f"{size / len(listing.files):.0f} bytes a file on disk, peak {_peak() / _MB:.0f} MB"
        )


def _memory() -> int:
    """Return this process's memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
