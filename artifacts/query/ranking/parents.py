"""A hit brings the section around it: small passages are found, larger ones are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....pipeline.model import SectionId
from ..index.corpus import SectionNode
from ..model import Candidate


def with_parents(
    candidates: Sequence[Candidate],
    section_of: Sequence[SectionId],
    sections: Mapping[SectionId, SectionNode],
    max_bytes: int,
) -> list[Candidate]:
    """Each candidate as the largest section around it of at most ``max_bytes``; of several in one the first stays.

    A candidate whose own section is larger stays the passage that it is.
    """
    found: dict[SectionId | int, Candidate] = {}
    for candidate, own in zip(candidates, section_of, strict=True):
        around = _largest(candidate.section or own, sections, max_bytes)
        first = found.setdefault(
            around or candidate.row, replace(candidate, section=around or candidate.section)
        )
        if first.row != candidate.row:
            members = {*(first.members or (first.row,)), *(candidate.members or (candidate.row,))}
            found[around or candidate.row] = replace(first, members=tuple(sorted(members)))
    return list(found.values())


def _largest(
    section: SectionId, sections: Mapping[SectionId, SectionNode], max_bytes: int
) -> SectionId | None:
    best = None
    at: SectionId | None = section
    while at is not None and sections[at].byte_end - sections[at].byte_start <= max_bytes:
        best, at = at, sections[at].parent_id
    return best
