"""Hits: what a reader is shown of the candidates, with the part of the passage that shows why."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import pyarrow as pa

from ...pipeline.address import with_anchor
from ...pipeline.lexical.analyzer import matches
from ...pipeline.model import PassageId, SectionId
from .answer import Hit, Why
from .context import RankedCorpus
from .model import Candidate, Query, SectionNode
from .ranking.stages import StageResults

_COLUMNS = pa.schema(
    [
        ("rank", pa.int32()),
        *((name, pa.string()) for name in ("title", "breadcrumb", "url", "path", "excerpt", "text")),
        ("score", pa.float64()),
        ("confidence", pa.float64()),
        *((name, pa.string()) for name in ("doc_id", "section_id", "passage_id")),
        ("passages", pa.list_(pa.string())),
    ]
)


def hits_table(hits: Sequence[Hit]) -> pa.Table:
    """Return hits as rows, best first, without their explanations."""
    rows = [{"rank": rank, **hit.as_dict()} for rank, hit in enumerate(hits, start=1)]
    return pa.Table.from_pylist(rows, schema=_COLUMNS)


def hits_of(
    run: StageResults, top_n: int, queries: Sequence[Query], corpus: RankedCorpus, excerpt_chars: int
) -> tuple[Hit, ...]:
    """Make hits of the first ``top_n`` candidates, with their best windows of text and their explanations."""
    wanted = frozenset(term for query in queries for term in query.weighted_terms)
    return tuple(_hit(candidate, run, wanted, corpus, excerpt_chars) for candidate in run.candidates[:top_n])


def _hit(
    candidate: Candidate, run: StageResults, wanted: frozenset[str], corpus: RankedCorpus, excerpt_chars: int
) -> Hit:
    passage = corpus.rows.of(candidate.row)
    document_row = int(corpus.document_of[candidate.row])
    document = corpus.document(document_row)
    section = candidate.section or SectionId(passage["section_id"])
    slug = section.removeprefix(document["doc_id"]).removeprefix("#")
    shown = excerpt(passage["text"], wanted, corpus.languages, excerpt_chars)
    node = corpus.sections[section] if candidate.section else None
    return Hit(
        passage_id=passage["passage_id"],
        section_id=section,
        doc_id=document["doc_id"],
        path=document["path"],
        title=document["title"],
        breadcrumb=node.breadcrumb if node is not None else passage["breadcrumb"],
        url=with_anchor(document["url"], slug, corpus.addresses[document["collection"]]),
        excerpt=shown.text,
        excerpt_start=shown.start,
        highlights=shown.highlights,
        score=candidate.score,
        confidence=candidate.confidence,
        why=Why(candidate.contributions, candidate.multipliers, run.moves_of(candidate.row), candidate.notes),
        text=_section_text(node, document_row, corpus) if node is not None else "",
        passages=tuple(PassageId(corpus.rows.of(row)["passage_id"]) for row in candidate.members),
    )


def _section_text(node: SectionNode, document: int, corpus: RankedCorpus) -> str:
    content = corpus.document_texts.of(document)["text"].encode("utf-8")
    return str(content[node.byte_start : node.byte_end].decode("utf-8", "replace").strip())


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a passage from ``start`` on; ``highlights`` are character ranges of ``text``."""

    text: str
    highlights: tuple[tuple[int, int], ...]
    start: int = 0


def excerpt(text: str, wanted: AbstractSet[str], languages: Sequence[str], max_chars: int) -> Excerpt:
    """Cut the first window of at most ``max_chars`` characters with the most distinct matches."""
    spans = list(matches(text, wanted, languages))
    start = _best_start(text, spans, max_chars)
    end = _word_end(text, start, max_chars)
    prefix = "… " if start > 0 else ""
    suffix = " …" if end < len(text) else ""
    shift = len(prefix) - start
    inside = tuple((a + shift, b + shift) for a, b in spans if a >= start and b <= end)
    return Excerpt(prefix + text[start:end] + suffix, inside, start)


def _best_start(text: str, spans: Sequence[tuple[int, int]], max_chars: int) -> int:
    if len(text) <= max_chars or not spans:
        return 0
    lead = max_chars // 5
    starts = [0, *(_word_start(text, max(0, a - lead)) for a, _ in spans)]

    words = [(a, b, text[a:b].lower()) for a, b in spans]

    def distinct(start: int) -> int:
        return len({word for a, b, word in words if a >= start and b <= start + max_chars})

    return max(starts, key=lambda start: (distinct(start), -start))


def _word_start(text: str, at: int) -> int:
    """Return where the first word after white space begins, from ``at`` on."""
    if at == 0:
        return 0
    space = next((i for i in range(at, min(len(text), at + 40)) if text[i].isspace()), at - 1)
    return space + 1


def _word_end(text: str, start: int, max_chars: int) -> int:
    end = start + max_chars
    if end >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return space if space > start + max_chars // 2 else end
