"""Replaced sites: the store keeps each until the next build of its folder, which starts from it."""

from __future__ import annotations

import os
from pathlib import Path

from ...pipeline.identity import sha256_hex
from ..disk import durable, folders, locks
from ..disk.layout import SITES


def replaced_site(store: Path, site: Path) -> Path:
    """Return where the previous site of this folder is kept; it may be removed at any time."""
    return store / SITES / sha256_hex(os.fsencode(site.resolve()))[:16]


def drop_replaced_sites(store: Path) -> None:
    """Remove the replaced sites, except those that a build is starting from at this moment."""
    for path in folders.entries(store / SITES):
        if path.is_symlink():
            durable.remove_file(path)
            continue
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # a build starts from it, or it is not one of ours
        try:
            if locks.directory(folder, alone=True):
                folders.remove_tree(path)
        finally:
            os.close(folder)
