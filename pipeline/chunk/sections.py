"""The tree of a document's sections, and the code blocks in them.

A section whose span holds only white space is dropped, a body ends where the heading of its first child
begins, and slugs are Unicode-aware and unique within the document.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..address import heading_slugs
from ..identity import section_id
from ..model import CodeBlock, Document, Heading, Section

BREADCRUMB_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section with what only chunking needs: its offsets in ``Document.text`` and its heading path."""

    section: Section
    start: int
    body_end: int
    headings: tuple[str, ...]


@dataclass(slots=True)
class _Draft:
    level: int
    title: str
    slug: str
    start: int
    end: int
    parent: int
    first_child: int | None = None


def byte_offsets(text: str) -> npt.NDArray[np.int64]:
    """Return the UTF-8 offsets of each character of ``text`` and of its end, shape ``(len(text) + 1,)``."""
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    return np.concatenate([[0], np.cumsum(sizes)])


def build_tree(document: Document) -> list[SectionSpan]:
    """Return the document's root node and its sections in document order; nothing for an empty document."""
    if not document.text.strip() and document.title == "":
        return []
    drafts = _drafts(document)
    siblings = Counter(draft.parent for draft in drafts)
    offsets = byte_offsets(document.text)
    nodes: list[SectionSpan] = []
    for position, draft in enumerate(drafts):
        parent = nodes[draft.parent] if position else None
        nodes.append(_node(document, draft, position, parent, siblings[draft.parent], offsets))
    return nodes


def _drafts(document: Document) -> list[_Draft]:
    length = len(document.text)
    drafts = [_Draft(0, document.title, "", 0, length, -1)]
    open_drafts = [0]
    slugs, ends = heading_slugs(document.headings), _span_ends(document.headings, length)
    for heading, slug, end in zip(document.headings, slugs, ends, strict=True):
        if not document.text[heading.end : end].strip():
            continue
        while drafts[open_drafts[-1]].level >= heading.level:
            open_drafts.pop()
        parent = open_drafts[-1]
        if drafts[parent].first_child is None:
            drafts[parent].first_child = heading.start
        open_drafts.append(len(drafts))
        drafts.append(_Draft(heading.level, heading.text, slug, heading.end, end, parent))
    return drafts


def _span_ends(headings: Sequence[Heading], length: int) -> list[int]:
    """Return where each heading's span ends: at the next heading of the same or a higher level."""
    ends = [length] * len(headings)
    waiting: list[int] = []
    for index, heading in enumerate(headings):
        while waiting and headings[waiting[-1]].level >= heading.level:
            ends[waiting.pop()] = heading.start
        waiting.append(index)
    return ends


def _node(
    document: Document,
    draft: _Draft,
    position: int,
    parent: SectionSpan | None,
    siblings: int,
    offsets: npt.NDArray[np.int64],
) -> SectionSpan:
    body_end = draft.end if draft.first_child is None else draft.first_child
    headings = _path(document, draft, position, parent)
    section = Section(
        section_id=section_id(document.doc_id, draft.slug),
        doc_id=document.doc_id,
        parent_id=parent.section.section_id if parent else None,
        depth=draft.level,
        position=position,
        title=draft.title,
        slug=draft.slug,
        breadcrumb=BREADCRUMB_SEPARATOR.join((document.title, *headings)),
        byte_start=int(offsets[draft.start]),
        byte_end=int(offsets[draft.end]),
        body_end=int(offsets[body_end]),
        sibling_count=siblings if parent else 1,
        body=_body(document, draft.start, body_end),
    )
    return SectionSpan(section, draft.start, body_end, headings)


def _path(document: Document, draft: _Draft, position: int, parent: SectionSpan | None) -> tuple[str, ...]:
    """Return the titles from the top section to this one, without a first that repeats the title."""
    if parent is None:
        return ()
    if position == 1 and draft.title == document.title:
        return parent.headings
    return (*parent.headings, draft.title)


def _body(document: Document, start: int, end: int) -> str:
    """Return the section's own source text from its first block on, which excludes front matter."""
    first = bisect_left(document.blocks, start, key=lambda block: block.start)
    if first == len(document.blocks) or document.blocks[first].start >= end:
        return ""
    return document.text[document.blocks[first].start : end].rstrip()


def code_blocks(document: Document, nodes: Sequence[SectionSpan]) -> list[CodeBlock]:
    """Return the document's code blocks, each with the section that contains it."""
    offsets = byte_offsets(document.text)
    starts = [node.start for node in nodes]
    found: list[CodeBlock] = []
    for block in (block for block in document.blocks if block.kind == "code"):
        owner = nodes[max(0, bisect_left(starts, block.start + 1) - 1)]
        found.append(
            CodeBlock(
                doc_id=document.doc_id,
                section_id=owner.section.section_id,
                ordinal=len(found),
                language=block.language,
                text=block.code,
                byte_start=int(offsets[block.start]),
                byte_end=int(offsets[block.end]),
            )
        )
    return found
