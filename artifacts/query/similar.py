"""More like this: documents like a document, and terms near a term."""

from __future__ import annotations

from ...pipeline.errors import QueryError
from ...pipeline.lexical.analyzer import prose_analyzer, terms
from ...pipeline.settings.search import StageName
from .context import QueryContext, SearchRequest, SearchResources
from .hits import hits_of
from .index.corpus import CorpusReader
from .model import Answer, Mask, Query
from .ranking.fuse import attainable, reciprocal_rank_fusion
from .ranking.stages import run_stages
from .retrieval.keyword import keyword_list
from .retrieval.semantic import semantic_list
from .understanding.expansion import Concept, near_concepts

_TELLING_TERMS = 25
_MAX_PASSAGES = 64
_STAGES: tuple[StageName, ...] = ("duplicate_hash", "calibrate", "per_document")


def similar_documents(doc_id: str, top_n: int, resources: SearchResources) -> Answer:
    """Find the documents most like one, each by its best passage.

    Raise ``QueryError`` if there is no such document.
    """
    corpus = resources.corpus
    document = corpus.document_row(doc_id)
    if document is None:
        raise QueryError(
            "there is no such document", where=doc_id, hint="Documents are named collection:path."
        )
    others: Mask = corpus.document_of != document
    query = Query(doc_id, terms=_telling_terms(document, corpus))
    limit = max(resources.settings.candidates, 5 * top_n)
    lists = [keyword_list(query, corpus, limit, others)]
    vector = corpus.centroids[document]
    if vector.any():
        lists.append(semantic_list(vector, corpus, limit, others, oversample=resources.settings.oversample))
    weights, k = {"keyword": 1.0, "semantic": 1.0}, resources.settings.rrf_k
    settings = resources.settings.model_copy(update={"stages": _STAGES, "max_per_document": 1})
    request = SearchRequest(doc_id, top_n)
    context = QueryContext(
        request, (query,), settings, corpus, attainable(lists, weights, k), resources.curve
    )
    run = run_stages(reciprocal_rank_fusion(lists, weights, k), context)
    hits = hits_of(run, top_n, (query,), corpus, settings.excerpt_chars)
    return Answer(
        doc_id, corpus.snapshot.id, hits, understood=(query,), steps=tuple(run.steps), weights=weights
    )


def related_terms(text: str, top_n: int, resources: SearchResources) -> list[Concept]:
    """Find terms of the concept vocabulary near a text, nearest first; the text itself is not among them."""
    query = Query(text)
    settings = resources.settings.concepts.model_copy(update={"terms": top_n + 1, "min_similarity": -1.0})
    vocabulary = resources.corpus.vocabulary
    vector = vocabulary.vector_of(text)
    found = near_concepts(
        resources.encode(text) if vector is None else vector,
        query,
        vocabulary,
        resources.corpus.languages,
        settings,
    )
    return [concept for concept in found if concept.term.lower() != text.strip().lower()][:top_n]


def _telling_terms(document: int, corpus: CorpusReader) -> tuple[str, ...]:
    """Return the terms that say most about a document: by count times inverse document frequency."""
    texts = [corpus.rows.of(row) for row in _passages(document, corpus)]
    counts: dict[str, int] = {}
    for language in corpus.languages:
        analyzer = prose_analyzer(language)
        for text in texts:
            for term in terms(analyzer, text["text"]):
                counts[term] = counts.get(term, 0) + 1
    weight = {term: count * corpus.prose.idf(term) for term, count in counts.items()}
    return tuple(sorted(weight, key=lambda term: (-weight[term], term))[:_TELLING_TERMS])


def _passages(document: int, corpus: CorpusReader) -> list[int]:
    start, end = int(corpus.first_passage[document]), int(corpus.first_passage[document + 1])
    return list(range(start, min(end, start + _MAX_PASSAGES)))
