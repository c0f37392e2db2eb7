"""Candidates, ranked lists, section trees and vectors written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from noctule.artifacts.query.model import Candidate, Contribution, ListName, RankedList, SectionNode
from noctule.pipeline.model import SectionId


def candidate(row: int, score: float = 1.0, name: ListName = "keyword") -> Candidate:
    """A candidate whose score is one list's share."""
    return Candidate(row, (Contribution(name, row + 1, score, 1.0, score),))


def candidates(*scores: float) -> list[Candidate]:
    """Candidates of rows 0, 1, 2, … with these scores."""
    return [candidate(row, score) for row, score in enumerate(scores)]


def rows(found: Sequence[Candidate]) -> list[int]:
    """The rows of candidates, in their order."""
    return [each.row for each in found]


def factors(found: Sequence[Candidate]) -> dict[int, list[float]]:
    """The factors that stages put on each row."""
    return {each.row: [multiplier.factor for multiplier in each.multipliers] for each in found}


def ranked(name: ListName, *found: int, scores: Sequence[float] = (), most: float = 10.0) -> RankedList:
    """A list of these rows; scores fall from 9 to 1 unless they are given, and are shares of ``most``."""
    values = np.array(scores if scores else np.linspace(9, 1, len(found)), dtype=np.float64)
    return RankedList(name, np.array(found, dtype=np.int64), values, most, most)


def documents_of(*documents: int) -> npt.NDArray[np.int32]:
    """The document of passage 0, 1, 2, …"""
    return np.array(documents, dtype=np.int32)


def tree(**parents: str) -> dict[SectionId, SectionNode]:
    """Section nodes from ``child="parent"`` (``""``: a root), parents first.

    A node spans 100 bytes for itself and for every node below it.
    """
    above: dict[str, list[str]] = {}
    for name, parent in parents.items():
        above[name] = [parent, *above[parent]] if parent else []
    siblings = list(parents.values())
    return {
        SectionId(name): SectionNode(
            section_id=SectionId(name),
            parent_id=SectionId(parent) if parent else None,
            depth=len(above[name]),
            sibling_count=siblings.count(parent) if parent else 1,
            title=name,
            breadcrumb=name,
            byte_start=0,
            byte_end=100 * (1 + sum(name in others for others in above.values())),
        )
        for name, parent in parents.items()
    }


def sections(*names: str) -> list[SectionId]:
    """Section ids by name."""
    return [SectionId(name) for name in names]


def angles(*degrees: float) -> npt.NDArray[np.float32]:
    """Unit vectors in a plane: their cosines are those of the differences of the angles."""
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)
