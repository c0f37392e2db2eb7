"""The vectors of index terms, read a few rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...store.snapshot import Snapshot
from ..model import Vector
from .postings import Rows, Sorted


class TermTable:
    """What each index term adds to a query's vector."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._terms = Sorted(snapshot.table("term_vectors", ["term"]).column("term").combine_chunks())
        self._rows = Rows(snapshot.file("term_vectors"), ("scale", "code"))

    def __contains__(self, term: object) -> bool:
        return self._terms.position(str(term)) is not None

    def __getitem__(self, term: str) -> Vector:
        """The term's vector, its rarity included; ``KeyError`` for a term without one."""
        at = self._terms.position(term)
        if at is None:
            raise KeyError(term)
        row: Any = self._rows.of(at)
        vector: Vector = np.float32(row["scale"]) * np.array(row["code"], dtype=np.float32)
        return vector
