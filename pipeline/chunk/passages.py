"""Passages: the unit of retrieval, cut from sections and never longer than the embedding model reads.

A section that fits is one passage. A longer one is packed greedily from its blocks: a paragraph longer than
half a passage is packed sentence by sentence; a list, a table or an oversized code block line by line; and
only a single line that is itself too long is cut between words. A code block that fits is never split. Each
passage of a section except the first begins with the last sentences of the previous one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..identity import passage_id, text_hash
from ..model import Block, Document, Passage
from ..parse import plain_piece
from ..parse.code.listing import plain_code
from ..settings.settings import Chunk
from .sections import BREADCRUMB_SEPARATOR, SectionSpan, byte_offsets

TokenCounter = Callable[[Sequence[str]], list[int]]
SPECIAL_TOKENS = 2
_SENTENCE = re.compile(r".+?(?:[.!?…][\"')\]*_`”’]*(?=\s)|[。！？]|\n\s*\n|\Z)\s*", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD_RUN = re.compile(r"\S+\s*|\s+")
_QUOTE_MARK = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)+")
_INLINE_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class _Piece:
    """The smallest unit a passage may begin or end with, ``[start, end)`` in the document's text."""

    start: int
    end: int
    text: str
    code: str
    tokens: int
    block: int
    kind: str


def embedded_text(breadcrumb: str, text: str) -> str:
    """Return the text that the embedding model is given for a passage."""
    return f"{breadcrumb}\n\n{text}"


def build_passages(
    document: Document, nodes: Sequence[SectionSpan], count: TokenCounter, settings: Chunk
) -> list[Passage]:
    """Return the document's passages in order; without body text, one, of its description or title."""
    if not nodes:
        return []
    offsets = byte_offsets(document.text)
    blocks = _Blocks(document, count)
    crumbs = _embedded_breadcrumbs(nodes, count, settings.max_tokens)
    passages: list[Passage] = []
    for node, (crumb, crumb_tokens) in zip(nodes, crumbs, strict=True):
        budget = settings.max_tokens - SPECIAL_TOKENS - crumb_tokens
        for group in _pack(blocks.within(node, budget), budget, settings.overlap_tokens, blocks):
            passages.append(_passage(document, node, len(passages), group, crumb, crumb_tokens, offsets))
    if not passages:
        crumb, crumb_tokens = crumbs[0]
        room = settings.max_tokens - SPECIAL_TOKENS - crumb_tokens
        text, tokens = _beginning(document.description or document.title, count, room)
        title = _Piece(0, 0, text, "", tokens, 0, "text")
        passages.append(_passage(document, nodes[0], 0, [title], crumb, crumb_tokens, offsets))
    return passages


class _Blocks:
    """A document's blocks with their token counts, cut into pieces on demand."""

    def __init__(self, document: Document, count: TokenCounter) -> None:
        self._document = document
        self._count = count
        self._starts = [block.start for block in document.blocks]
        self._tokens = count([block.text for block in document.blocks]) if document.blocks else []

    def within(self, node: SectionSpan, budget: int) -> list[_Piece]:
        """Return the section's own blocks as pieces, left whole wherever possible."""
        first, last = bisect_left(self._starts, node.start), bisect_left(self._starts, node.body_end)
        whole = sum(self._tokens[first:last]) <= budget
        pieces: list[_Piece] = []
        for index in range(first, last):
            block, tokens = self._document.blocks[index], self._tokens[index]
            limit = budget if whole or block.kind == "code" else max(1, budget // 2)
            if tokens <= limit:
                pieces.append(
                    _Piece(block.start, block.end, block.text, block.code, tokens, index, block.kind)
                )
            else:
                pieces.extend(self.split(index, budget))
        return pieces

    def split(self, index: int, budget: int) -> list[_Piece]:
        """Return a block as sentences (prose) or lines (everything else), none over ``budget`` tokens."""
        block = self._document.blocks[index]
        spans = self._spans(_SENTENCE if block.kind == "text" else _LINE, block.start, block.end)
        if block.kind == "code":
            spans = _without_fences(spans, self._document.text)
        return self._fitting(self._pieces(index, spans), budget)

    def sentences(self, piece: _Piece) -> list[_Piece]:
        """Return the sentences of a piece of prose."""
        return self._pieces(piece.block, self._spans(_SENTENCE, piece.start, piece.end))

    def _spans(self, pattern: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
        return [match.span() for match in pattern.finditer(self._document.text, start, end)]

    def _fitting(self, pieces: Sequence[_Piece], budget: int) -> list[_Piece]:
        """Cut pieces that are too long at line ends, and lines that are still too long between words."""
        found: list[_Piece] = []
        for piece in pieces:
            is_long = piece.tokens > budget
            lines = (
                self._pieces(piece.block, self._spans(_LINE, piece.start, piece.end)) if is_long else [piece]
            )
            for line in lines:
                found.extend([line] if line.tokens <= budget else self._cut(line, budget))
        return found

    def _pieces(self, index: int, spans: Sequence[tuple[int, int]]) -> list[_Piece]:
        block = self._document.blocks[index]
        sources = [self._document.text[start:end] for start, end in spans]
        texts = [self._reading(block, source) for source in sources]
        return [
            _Piece(start, end, text, self._code(block, source), tokens, index, block.kind)
            for (start, end), source, text, tokens in zip(
                spans, sources, texts, self._count(texts), strict=True
            )
            if text.strip()
        ]

    def _reading(self, block: Block, source: str) -> str:
        if block.kind == "code":
            return self._code(block, source)
        return plain_piece(self._document.syntax, _QUOTE_MARK.sub("", source)).strip()

    def _code(self, block: Block, source: str) -> str:
        if block.kind == "code":
            code = source.rstrip("\n")
            return plain_code(code, block.text)
        if self._document.syntax == "markdown":
            return "\n".join(_INLINE_CODE.findall(source))
        return "\n".join(line for line in block.code.split("\n") if line and line in source)

    def _cut(self, piece: _Piece, budget: int) -> list[_Piece]:
        """Cut an oversized line between words, or inside a word that is itself too long."""
        source = self._document.text[piece.start : piece.end]
        atoms = [(m.start(), m.end()) for m in _WORD_RUN.finditer(source)]
        # A token is at least one character, so a run of `budget` characters always fits.
        spans = [(a, min(a + budget, end)) for start, end in atoms for a in range(start, end, budget)]
        counts = self._count([source[a:b] for a, b in spans])
        merged: list[tuple[int, int]] = []
        room = 0
        for (a, b), tokens in zip(spans, counts, strict=True):
            if merged and tokens <= room:
                merged[-1] = (merged[-1][0], b)
                room -= tokens
            else:
                merged.append((a, b))
                room = budget - tokens
        return self._pieces(piece.block, [(piece.start + a, piece.start + b) for a, b in merged])


def _without_fences(spans: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    def fence(span: tuple[int, int]) -> bool:
        return text[slice(*span)].lstrip("> \t").startswith(("```", "~~~"))

    return [span for i, span in enumerate(spans) if not (i in (0, len(spans) - 1) and fence(span))]


def _pack(pieces: list[_Piece], budget: int, overlap: int, blocks: _Blocks) -> Iterable[list[_Piece]]:
    """Yield groups of pieces that fit the budget; every group after the first begins with an overlap."""
    group: list[_Piece] = []
    used = 0
    for piece in pieces:
        if group and used + piece.tokens > budget:
            yield group
            group = _overlap(group, min(overlap, budget - piece.tokens), blocks)
            used = sum(kept.tokens for kept in group)
        group.append(piece)
        used += piece.tokens
    if group:
        yield group


def _overlap(group: Sequence[_Piece], limit: int, blocks: _Blocks) -> list[_Piece]:
    """Return the last sentences or lines of a group that fit in ``limit`` tokens; code is never repeated."""
    last = group[-1]
    if last.kind == "code" or limit <= 0:
        return []
    tail = [last] if last.tokens <= limit or last.kind != "text" else blocks.sentences(last)
    kept: list[_Piece] = []
    for piece in reversed(tail):
        if piece.tokens > limit:
            break
        kept.insert(0, piece)
        limit -= piece.tokens
    return kept if kept and kept[0].start > group[0].start else []


def _passage(
    document: Document,
    node: SectionSpan,
    ordinal: int,
    group: Sequence[_Piece],
    crumb: str,
    crumb_tokens: int,
    offsets: npt.NDArray[np.int64],
) -> Passage:
    text = _join(group)
    return Passage(
        passage_id=passage_id(document.doc_id, ordinal),
        doc_id=document.doc_id,
        section_id=node.section.section_id,
        ordinal=ordinal,
        text=text,
        code="\n".join(piece.code for piece in group if piece.code),
        breadcrumb=crumb,
        headings=node.headings,
        byte_start=int(offsets[group[0].start]),
        byte_end=int(offsets[group[-1].end]),
        tokens=sum(piece.tokens for piece in group) + crumb_tokens + SPECIAL_TOKENS,
        content_hash=text_hash(embedded_text(crumb, text)),
    )


def _join(group: Sequence[_Piece]) -> str:
    parts = [group[0].text]
    for before, piece in pairwise(group):
        if before.block == piece.block:
            parts.append(" " if piece.kind == "text" else "\n")
        else:
            parts.append("\n" if {before.kind, piece.kind} <= {"list", "table"} else "\n\n")
        parts.append(piece.text)
    return "".join(parts)


def _embedded_breadcrumbs(
    nodes: Sequence[SectionSpan], count: TokenCounter, max_tokens: int
) -> list[tuple[str, int]]:
    """Return each breadcrumb with its token count, shortening those over a quarter of a passage."""
    limit = max_tokens // 4
    breadcrumbs = [node.section.breadcrumb for node in nodes]
    return [
        (breadcrumb, tokens) if tokens <= limit else _shortened(breadcrumb, count, limit)
        for breadcrumb, tokens in zip(breadcrumbs, count(breadcrumbs), strict=True)
    ]


def _shortened(breadcrumb: str, count: TokenCounter, limit: int) -> tuple[str, int]:
    """Drop the middle of a breadcrumb, then words at its end, then cut it; return it with its token count."""
    titles = breadcrumb.split(BREADCRUMB_SEPARATOR)
    short = BREADCRUMB_SEPARATOR.join([titles[0], "…", titles[-1]]) if len(titles) > 2 else breadcrumb
    return _beginning(short, count, limit)


def _beginning(text: str, count: TokenCounter, limit: int) -> tuple[str, int]:
    """Return as many leading words of the text as fit (at least part of one) and their token count."""
    words = text.split(" ")
    while len(words) > 1 and (tokens := count([" ".join(words)])[0]) > limit:
        words = words[: len(words) * 3 // 4]
    text = " ".join(words)
    tokens = count([text])[0]
    return (text, tokens) if tokens <= limit else (text[:limit], count([text[:limit]])[0])
