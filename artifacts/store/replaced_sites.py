"""Sites that were exchanged for newer ones: each lies in the store until the next build of its folder begins with it."""

from __future__ import annotations

import os
from pathlib import Path

from ...pipeline.identity import sha256_hex
from . import durable, locks
from .layout import SITES


def aside_of(store: Path, site: Path) -> Path:
    """Where the site that stood in this folder before lies; it may be removed at any time."""
    return store / SITES / sha256_hex(os.fsencode(site.resolve()))[:16]


def drop_asides(store: Path) -> None:
    """The sites that were set aside are gone, but for those that a build begins with at this moment."""
    for path in sorted((store / SITES).glob("*")):
        if path.is_symlink():
            durable.remove_file(path)
            continue
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # a build begins with it, or it is none of ours
        try:
            if locks.directory(folder, alone=True):
                durable.remove_tree(path)
        finally:
            os.close(folder)
