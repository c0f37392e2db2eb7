"""Everything that goes into a snapshot, made stage by stage from what the batches understood."""

from __future__ import annotations

import pyarrow as pa

from artifacts import tables
from artifacts.store import Store
from artifacts.understood import Understood
from flows import assemble
from flows.encode import Encoded, encode, passage_texts, query_texts, word_texts
from flows.engines import Engine
from flows.lessons import (
    Taught,
    encoded_lessons,
    index_terms,
    name_lessons,
    names,
    passage_lessons,
    phrases,
    spans,
    term_vector_rows,
)
from flows.steps import Progress, Steps
from pipeline.embed import TransformerEncoder, load_encoder
from pipeline.lexical import LexicalIndex
from pipeline.model import Rejection
from pipeline.settings import Settings


class Parts:
    """Everything that goes into a snapshot, stage by stage."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        steps: Steps,
        progress: Progress,
        batches: list[Understood],
        rejections: tuple[Rejection, ...],
        engine: Engine,
    ) -> None:
        self.settings, self.steps, self.rejections, self.engine = settings, steps, rejections, engine
        self.languages = sorted({language for batch in batches for language in batch.languages} or {"en"})
        passages = assemble.concatenate((batch.passages for batch in batches), tables.PASSAGES)
        self.encoder: TransformerEncoder = steps.run("load model", lambda: load_encoder(settings.embed))
        self.encoded: Encoded = encode(
            "embed", passage_texts(passages), self.encoder, store, steps, progress, engine
        )
        links = steps.run("links", lambda: assemble.resolved_links(batches, settings))
        anchors = assemble.count_anchors(batches, links)
        self.prose: LexicalIndex = steps.run(
            "lexical", lambda: assemble.prose_index(batches, anchors, settings)
        )
        self.code: LexicalIndex = steps.run("code", lambda: assemble.code_index(batches, settings))
        self.surfaces = steps.run(
            "surfaces", lambda: assemble.surface_rows([*(b.prose for b in batches), anchors])
        )
        self.acronyms = assemble.acronym_rows(batches)
        self.linked = steps.run("communities", lambda: assemble.link(batches, links, self.prose, settings))
        terms = assemble.vocabulary_terms(batches, self.prose, settings)
        batches[:] = [batch.without_counts() for batch in batches]
        words = [term.term for term in terms]
        vectors = encode(
            "vocabulary vectors",
            word_texts(words, self.encoder),
            self.encoder,
            store,
            steps,
            progress,
            engine,
        )
        self.vocabulary = steps.run("vocabulary", lambda: assemble.vocabulary_rows(terms, vectors, settings))
        documents = assemble.concatenate((batch.documents for batch in batches), tables.DOCUMENTS)
        self.documents = assemble.document_rows(documents, passages, self.linked)
        self.passages = assemble.passage_rows(passages, self.encoded)
        self.sections = assemble.concatenate((batch.sections for batch in batches), tables.SECTIONS)
        self.centroids = assemble.centroids_of(self.documents, self.encoded)
        self.term_vectors = self._term_vectors(store, progress, index_terms(terms), vectors)
        self.code_blocks = assemble.concatenate((batch.code_blocks for batch in batches), tables.CODE_BLOCKS)

    def _term_vectors(self, store: Store, progress: Progress, words: Taught, vectors: Encoded) -> pa.Table:
        """What the query encoder learned, from lessons of every kind."""
        settings, links = self.settings.query_encoder, self.linked.links
        taught = [encoded_lessons("words", words, vectors)]
        for kind, texts in (
            ("phrases", phrases(self.documents, self.sections, links, settings)),
            ("spans", spans(self.documents, self.passages, settings)),
        ):
            given = query_texts(texts.texts, self.encoder)
            found = encode(f"{kind} vectors", given, self.encoder, store, self.steps, progress, self.engine)
            taught.append(encoded_lessons(kind, texts, found))
        taught.append(passage_lessons(self.documents, self.passages, self.encoded, settings))
        taught += name_lessons(self.documents, names(self.documents, links), self.centroids)
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
