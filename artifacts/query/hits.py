"""Candidates become hits: what a reader is shown of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...pipeline.address import with_anchor
from ...pipeline.model import PassageId, SectionId
from .excerpt import excerpt
from .index.corpus import Corpus
from .model import Candidate, Hit, Query, Why
from .ranking.stages import Run


def hits_of(
    run: Run, top_n: int, queries: Sequence[Query], corpus: Corpus, excerpt_chars: int
) -> tuple[Hit, ...]:
    """The first ``top_n`` candidates as hits, each with its best window of text and the reasons for its score."""
    wanted = frozenset(
        term
        for query in queries
        for term in (*query.terms, *(term for each in query.expansions for term in each.terms))
    )
    return tuple(_hit(candidate, run, wanted, corpus, excerpt_chars) for candidate in run.candidates[:top_n])


def _hit(candidate: Candidate, run: Run, wanted: frozenset[str], corpus: Corpus, excerpt_chars: int) -> Hit:
    passage = corpus.rows.of(candidate.row)
    document_row = int(corpus.document_of[candidate.row])
    document = corpus.document(document_row)
    section = candidate.section or SectionId(passage["section_id"])
    slug = section.removeprefix(document["doc_id"]).removeprefix("#")
    shown = excerpt(passage["text"], wanted, corpus.languages, excerpt_chars)
    node = corpus.sections.get(section) if candidate.section else None
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
        text=_section_text(section, document_row, corpus) if node is not None else "",
        passages=tuple(PassageId(corpus.rows.of(row)["passage_id"]) for row in candidate.members),
    )


def _section_text(section: SectionId, document: int, corpus: Corpus) -> str:
    node = corpus.sections[section]
    content = corpus.document_texts.of(document)["text"].encode("utf-8")
    return str(content[node.byte_start : node.byte_end].decode("utf-8", "replace").strip())
