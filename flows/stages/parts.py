"""Everything that goes into a snapshot, made stage by stage from what the batches understood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import TypeVar

import pyarrow as pa

from ...artifacts.cache.parsed_corpus import ParsedCorpus
from ...artifacts.tables import schemas as tables
from ...artifacts.tables.vectors import build_index
from ...pipeline.communities.communities import find_clusters
from ...pipeline.embedding.query_encoder import TrainingTexts
from ...pipeline.lexical.bm25f import LexicalIndex
from ...pipeline.model import Rejection, ResolvedLink
from ...pipeline.settings.settings import Settings
from ...pipeline.vocabulary.concepts import near_terms
from ..run.background import Beside
from ..run.steps import Steps
from . import tables as assemble
from .encode import Encoded, Encoding, passage_texts, query_texts, word_texts
from .training_texts import (
    counted,
    encoded_lessons,
    index_terms,
    name_lessons,
    names,
    passage_lessons,
    phrases,
    picked_passages,
    spans,
    term_vector_rows,
)

A = TypeVar("A")
T = TypeVar("T")
# Edges, texts and words; with fewer, the work is done before another process is up.
_LARGE_GRAPH, _MANY_TEXTS, _MANY_WORDS = 20_000, 10_000, 5_000


def _begun(stage: Callable[[A], T], given: A, beside: Beside, *, is_long: bool) -> Callable[[], T]:
    """The stage's result when it is called for; of long work, another core does it meanwhile."""
    return beside.start(stage, given) if is_long else partial(stage, given)


def _meanwhile(stage: Callable[[], T]) -> Callable[[], T]:
    """The stage's result when it is called for; a thread does it, for it leaves the interpreter to others.

    Nobody waits for the thread once the result is no longer wanted.
    """
    made: Future[T] = Future()

    def make() -> None:
        try:
            made.set_result(stage())
        except BaseException as error:
            made.set_exception(error)

    Thread(target=make, name="noctule-aside", daemon=True).start()
    return made.result


class Parts:
    """Everything that goes into a snapshot, stage by stage: what needs no vectors first, while the model is loaded."""

    def __init__(
        self,
        settings: Settings,
        steps: Steps,
        take: Callable[[], ParsedCorpus],
        rejections: tuple[Rejection, ...],
        encoding: Encoding,
        beside: Beside,
    ) -> None:
        corpus = take()
        self.settings, self.steps, self.rejections = settings, steps, rejections
        self.languages = sorted(corpus.languages or {"en"})
        picked = picked_passages(corpus.documents, corpus.passages, settings.query_encoder)
        counts = _begun(counted, picked.taught, beside, is_long=len(picked.taught.texts) >= _MANY_TEXTS)
        links = steps.run("links", lambda: assemble.resolved_links(corpus, settings))
        graph = assemble.graph_of(corpus, links)
        clusters = _begun(
            partial(find_clusters, settings=settings.communities),
            graph,
            beside,
            is_long=len(graph.source) >= _LARGE_GRAPH,
        )
        anchors = steps.run("anchors", lambda: assemble.count_anchors(corpus, links))
        each = assemble.passages_each(corpus.documents, corpus.passages)
        self.prose: LexicalIndex = steps.run(
            "lexical", lambda: assemble.prose_index(corpus, each, anchors, settings)
        )
        self.code: LexicalIndex = steps.run("code", lambda: assemble.code_index(corpus, settings))
        self.surfaces = steps.run("surfaces", lambda: assemble.surface_rows([corpus.prose, anchors]))
        self.acronyms = assemble.acronym_rows(corpus)
        terms = steps.run("words", lambda: assemble.vocabulary_terms(corpus, self.prose, settings))
        corpus = corpus.without_counts()
        self.encoder = encoding.encoder
        passages = corpus.passages
        self.encoded: Encoded = encoding.encode("embed", passage_texts(passages))
        self.index = _meanwhile(partial(build_index, self.encoded.vectors, settings.vectors))
        vectors = encoding.encode(
            "vocabulary vectors", word_texts([term.term for term in terms], self.encoder)
        )
        word_vectors = vectors.vectors[vectors.row]
        near = _begun(
            partial(near_terms, count=settings.vocabulary.near_terms),
            word_vectors,
            beside,
            is_long=len(terms) >= _MANY_WORDS,
        )
        self.passages = assemble.passage_rows(passages, self.encoded)
        self.sections = corpus.sections
        self.centroids = assemble.centroids_of(each, self.encoded)
        # Before communities, which another process may still be finding.
        self.term_vectors = self._term_vectors(
            encoding,
            corpus.documents,
            links,
            encoded_lessons("words", index_terms(terms), vectors),
            passage_lessons(picked, self.encoded, counts()),
        )
        partition = steps.run(
            "communities",
            lambda: assemble.name_communities(corpus, clusters(), graph, self.prose, settings),
        )
        self.linked = assemble.Linked(links, graph, partition)
        self.documents = assemble.document_rows(corpus.documents, each, self.linked)
        self.vocabulary = steps.run(
            "vocabulary", lambda: assemble.vocabulary_rows(terms, word_vectors, near())
        )
        self.code_blocks = corpus.code_blocks

    def _term_vectors(
        self,
        encoding: Encoding,
        documents: pa.Table,
        links: Sequence[ResolvedLink],
        words: TrainingTexts,
        passages: TrainingTexts,
    ) -> pa.Table:
        """What the query encoder learned, from words and passages and from lessons of every other kind."""
        settings, taught = self.settings.query_encoder, [words]
        for kind, texts in (
            ("phrases", phrases(documents, self.sections, links, settings)),
            ("spans", spans(documents, self.passages, settings)),
        ):
            found = encoding.encode(f"{kind} vectors", query_texts(texts.texts, self.encoder))
            taught.append(encoded_lessons(kind, texts, found))
        taught.append(passages)
        taught += name_lessons(documents, names(documents, links), self.centroids)
        dimension = self.encoder.dimension
        return self.steps.run(
            "query encoder", lambda: term_vector_rows(taught, self.prose, dimension, settings)
        )

    def tables(self) -> dict[str, pa.Table]:
        """Every table of the snapshot by name."""
        return {
            "documents": self.documents,
            "sections": self.sections,
            "passages": self.passages,
            "code_blocks": self.code_blocks,
            "links": tables.links_table(self.linked.links),
            "communities": tables.communities_table(self.linked.partition.communities),
            "terms": assemble.term_rows(self.prose),
            "postings": assemble.posting_rows(self.prose),
            "code_terms": assemble.term_rows(self.code),
            "code_postings": assemble.posting_rows(self.code),
            "surfaces": self.surfaces,
            "acronyms": self.acronyms,
            "vocabulary": self.vocabulary,
            "vectors": assemble.vector_rows(self.encoded, self.encoder.dimension),
            "centroids": assemble.centroid_rows(self.documents, self.centroids),
            "term_vectors": self.term_vectors,
            "report": tables.report_table(self.rejections),
        }
