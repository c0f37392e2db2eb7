"""More like this: documents like a document, and terms near a term."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from ...pipeline.errors import QueryError
from ...pipeline.lexical.analyzer import prose_analyzer, terms
from ...pipeline.settings.search import StageName
from .answer import Answer
from .context import QueryContext, SearchRequest, SearchResources
from .hits import hits_of
from .index.corpus import CorpusReader
from .model import Mask, Query
from .ranking.fuse import attainable, reciprocal_rank_fusion
from .ranking.stages import run_stages
from .retrieval.filters import Filter, documents_allowed
from .retrieval.keyword import keyword_list
from .retrieval.semantic import semantic_list
from .understanding.expansion import Concept, near_concepts

_TELLING_TERMS = 25
_MAX_PASSAGES = 64
_STAGES: tuple[StageName, ...] = ("duplicate_hash", "calibrate", "per_document")


def similar_documents(
    doc_id: str, top_n: int, resources: SearchResources, filters: Sequence[Filter] = ()
) -> Answer:
    """Find the documents most like one, each by its best passage; raise ``QueryError`` if it is not there."""
    corpus = resources.corpus
    document = corpus.document_row(doc_id)
    if document is None:
        raise _unknown(doc_id, corpus)
    others: Mask = corpus.document_of != document
    if filters:
        others &= documents_allowed(filters, corpus)[corpus.document_of]
    query = Query(doc_id, terms=_telling_terms(document, corpus))
    limit = max(resources.settings.candidates, 5 * top_n)
    lists = [keyword_list(query, corpus, limit, others)]
    vector = corpus.centroids[document]
    if vector.any():
        lists.append(semantic_list(vector, corpus, limit, others, oversample=resources.settings.oversample))
    weights, k = {"keyword": 1.0, "semantic": 1.0}, resources.settings.rrf_k
    settings = resources.settings.model_copy(update={"stages": _STAGES, "max_per_document": 1})
    most = attainable(lists, weights, k)
    request = SearchRequest(doc_id, top_n)
    context = QueryContext(request, (query,), settings, corpus, most, resources.curve)
    run = run_stages(reciprocal_rank_fusion(lists, weights, k, corpus.places), context)
    hits = hits_of(run, top_n, (query,), corpus, settings.excerpt_chars)
    return Answer(
        doc_id, corpus.snapshot.id, hits, understood=(query,), steps=tuple(run.steps), weights=weights
    )


def _unknown(doc_id: str, corpus: CorpusReader) -> QueryError:
    names = corpus.documents.column("doc_id").to_pylist()
    found = process.extract(doc_id, names, scorer=fuzz.WRatio, limit=3)
    hint = f"Documents are named collection:path; the nearest are {', '.join(name for name, _, _ in found)}."
    return QueryError("there is no such document", where=doc_id, hint=hint)


def related_terms(text: str, top_n: int, resources: SearchResources) -> list[Concept]:
    """Find terms of the concept vocabulary near a text, nearest first; the text itself is not among them."""
    settings = resources.settings.concepts.model_copy(update={"terms": top_n + 1, "min_similarity": -1.0})
    vocabulary = resources.corpus.vocabulary
    vector = vocabulary.vector_of(text)
    vector = resources.encode(text) if vector is None else vector
    found = near_concepts(vector, Query(text), vocabulary, resources.corpus.languages, settings)
    return [concept for concept in found if concept.term.lower() != text.strip().lower()][:top_n]


def _telling_terms(document: int, corpus: CorpusReader) -> tuple[str, ...]:
    """Return the terms that say most about a document: by count times inverse document frequency."""
    start, end = corpus.first_passage[document : document + 2].tolist()
    texts = [str(corpus.rows.of(row)["text"]) for row in range(start, min(end, start + _MAX_PASSAGES))]
    analyzers = [prose_analyzer(language) for language in corpus.languages]
    counts = Counter(term for analyzer in analyzers for text in texts for term in terms(analyzer, text))
    weight = {term: count * corpus.prose.idf(term) for term, count in counts.items()}
    return tuple(sorted(weight, key=lambda term: (-weight[term], term))[:_TELLING_TERMS])
