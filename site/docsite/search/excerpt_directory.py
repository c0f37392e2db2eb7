"""Shelves: the names of the files that hits are shown from, some dozens a file, so that the manifest stays small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .excerpts import Groups
from .files import Files
from .packing import varints

GROUPS_ON_A_SHELF = 64


@dataclass(frozen=True, slots=True)
class Shelves:
    """The names of the files, and the document and passage that the first group of each begins with."""

    names: tuple[str, ...]
    documents: tuple[int, ...]
    ordinals: tuple[int, ...]

    def columns(self) -> list[bytes]:
        """The columns of the manifest."""
        return starts(self.documents, self.ordinals)


def make_shelves(groups: Groups, files: Files) -> Shelves:
    """The shelves of groups."""
    runs = [slice(at, at + GROUPS_ON_A_SHELF) for at in range(0, len(groups.names), GROUPS_ON_A_SHELF)]
    names = files.add_all(
        [bytes.fromhex("".join(groups.names[run])), *starts(groups.documents[run], groups.ordinals[run])]
        for run in runs
    )
    return Shelves(names, groups.documents[::GROUPS_ON_A_SHELF], groups.ordinals[::GROUPS_ON_A_SHELF])


def starts(documents: Sequence[int], ordinals: Sequence[int]) -> list[bytes]:
    """Where files begin, as two columns: what lies between their first documents, and their first passages."""
    return [
        varints(np.diff(np.array(documents, dtype=np.int64), prepend=0)),
        varints(np.array(ordinals, dtype=np.int64)),
    ]
