"""The images, media and attachments of a site: each once, under a name that changes with its content."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq

from ..artifacts.disk.layout import table_file
from ..artifacts.disk.manifest import damaged
from ..pipeline.assets.media import recognise
from ..pipeline.identity import sha256_hex
from .incremental.previous import Reuse
from .library import Asset, Library, SnapshotTables
from .outline.plan import SitePage


def media_files(library: Library, snapshot: SnapshotTables, reuse: Reuse) -> Iterator[SitePage]:
    """Yield every file that documents name; those that the site has are kept by their names.

    Of the others, one row group at a time is in memory. Raises ``DamagedSnapshot`` for a file that is not
    what the snapshot says it is: it could run in a browser.
    """
    missing: dict[tuple[str, str], Asset] = {}
    placed: set[str] = set()
    for key, asset in library.assets.items():
        if asset.file in placed:
            continue
        placed.add(asset.file)
        if (kept := reuse.kept(asset.file, asset.asset_id)) is not None:
            yield kept
        else:
            missing[key] = asset
    if missing:
        with snapshot.open_table("assets") as file:
            for group in range(file.num_row_groups):
                yield from _written(file, group, missing)


def _written(file: pq.ParquetFile, group: int, missing: dict[tuple[str, str], Asset]) -> Iterator[SitePage]:
    names = file.read_row_group(group, ["collection", "path"])
    keys = list(zip(names["collection"].to_pylist(), names["path"].to_pylist(), strict=True))
    if missing.keys().isdisjoint(keys):
        return
    for key, content in zip(keys, file.read_row_group(group, ["content"])["content"], strict=True):
        if (asset := missing.get(key)) is not None:
            yield SitePage(asset.file, _proved(key[1], asset, content.as_py()), fingerprint=asset.asset_id)


def _proved(path: str, asset: Asset, content: bytes) -> bytes:
    found = recognise(path, content)
    if found.kind is not asset.kind or sha256_hex(content) != asset.asset_id:
        reason = found.fault or "it is another file than its row says"
        raise damaged(f"{path!r:.200}: {reason}", table_file("assets"))
    return content
