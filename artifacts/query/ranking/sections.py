"""Sections in the place of passages: hits become the section that holds them, or bring it along.

Aggregation groups hits by parent over all depths, the deepest parent first. A lone hit does not climb; an
ancestor that was found itself takes over the best score of what it holds, and lists it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....pipeline.model import SectionId
from ....pipeline.settings.search import Aggregate
from ..model import Candidate, SectionNode
from .fuse import in_order

Matches = dict[SectionId, Candidate]


def aggregated(
    candidates: Sequence[Candidate],
    section_of: Sequence[SectionId],
    sections: Mapping[SectionId, SectionNode],
    settings: Aggregate,
) -> list[Candidate]:
    """Put a section in the place of its passages where enough of it was found.

    ``section_of[i]`` is the section of candidate ``i``. A section stands for its children when at least
    ``matches`` of them and the share ``share`` of them were found; its score is the best of theirs.
    """
    matches: Matches = {}
    for candidate, section in zip(candidates, section_of, strict=True):
        _merge(matches, section, candidate)
    for parent in _parents(matches, sections):
        children = [section for section in matches if sections[section].parent_id == parent]
        needed = settings.share * sections[children[0]].sibling_count if children else 0
        if len(children) >= max(settings.matches, needed):
            for child in children:
                _merge(matches, parent, matches.pop(child))
    for section in sorted(matches, key=lambda each: (-sections[each].depth, each)):
        above = next((up for up in _ancestors(section, sections) if up in matches), None)
        if above is not None:
            _merge(matches, above, matches.pop(section))
    return in_order(_as_section(section, candidate) for section, candidate in matches.items())


def _merge(matches: Matches, section: SectionId, candidate: Candidate) -> None:
    """Give the section the better candidate of the two, and the members of both."""
    present = matches.get(section)
    members = candidate.members or (candidate.row,)
    if present is not None:
        members = tuple(sorted({*present.members, *members}))
        candidate = max(present, candidate, key=lambda each: (each.score, -each.place, -each.row))
    matches[section] = replace(candidate, members=members)


def _parents(matches: Matches, sections: Mapping[SectionId, SectionNode]) -> list[SectionId]:
    """Return every ancestor of what was found, the deepest first."""
    found = {up for section in matches for up in _ancestors(section, sections)}
    return sorted(found, key=lambda each: (-sections[each].depth, each))


def _ancestors(section: SectionId, sections: Mapping[SectionId, SectionNode]) -> list[SectionId]:
    found = []
    above = sections[section].parent_id
    while above is not None:
        found.append(above)
        above = sections[above].parent_id
    return found


def _as_section(section: SectionId, candidate: Candidate) -> Candidate:
    if len(candidate.members) <= 1:
        return replace(candidate, members=())
    note = f"aggregate: {len(candidate.members)} passages of this section were found"
    return replace(candidate, section=section).with_note(note)


def with_parents(
    candidates: Sequence[Candidate],
    section_of: Sequence[SectionId],
    sections: Mapping[SectionId, SectionNode],
    max_bytes: int,
) -> list[Candidate]:
    """Give each candidate the largest section around it of at most ``max_bytes``; the first in it stays.

    A candidate whose own section is larger stays the passage that it is.
    """
    found: dict[SectionId | int, Candidate] = {}
    for candidate, own in zip(candidates, section_of, strict=True):
        around = _largest(candidate.section or own, sections, max_bytes)
        key = around or candidate.row
        first = found.setdefault(key, replace(candidate, section=around or candidate.section))
        if first.row != candidate.row:
            members = {*(first.members or (first.row,)), *(candidate.members or (candidate.row,))}
            found[key] = replace(first, members=tuple(sorted(members)))
    return list(found.values())


def _largest(
    section: SectionId, sections: Mapping[SectionId, SectionNode], max_bytes: int
) -> SectionId | None:
    best = None
    at: SectionId | None = section
    while at is not None and sections[at].byte_end - sections[at].byte_start <= max_bytes:
        best, at = at, sections[at].parent_id
    return best
