"""The defaults against the simplest ways to search the same snapshots.

python -m bench relevance --part baselines

They are each list alone, reciprocal rank fusion of both, and the plain fusion of one BM25 score and one
cosine a document: 0.3 * BM25 / max(BM25 of the query) + 0.5 * cosine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bm25s
import numpy as np
import numpy.typing as npt
import Stemmer

from bench.judged import judged_set, settings_for, store_for
from bench.query_vectors import CachedEncoder
from bench.relevance import Ablation, Cell, ablation
from bench.variants import BASELINES, DEFAULTS
from noctule.artifacts.judged.compare import Pair, compared
from noctule.artifacts.judged.evaluate import Evaluation, RankedDocuments, evaluate_rankings
from noctule.artifacts.judged.locating import locate, places
from noctule.artifacts.judged.measures import HEADLINE
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.tables.parquet import tuples
from noctule.pipeline.settings.settings import Settings

Floats = npt.NDArray[np.float32]
PLAIN = "plain fusion, one text and one vector a document"
_KEYWORD, _COSINE, _DEPTH = 0.3, 0.5, 10
_STEMMER = Stemmer.Stemmer("english")


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield a markdown table: every baseline on every set, its difference from the defaults, and the mean."""
    table = ablation([DEFAULTS, *BASELINES], names, _DEPTH)
    encoder = CachedEncoder(Settings().embed)
    plain = [_plain_cell(table, name, encoder) for name in names]
    encoder.save()
    overview = list(Ablation((*table.cells, *plain)).overview())
    yield f"{overview[0]} mean |"
    yield f"{overview[1]} ---: |"
    for line in overview[2:]:
        variant = line.split("|")[1].strip()
        means = [c.evaluation.means[HEADLINE] for c in (*table.cells, *plain) if c.variant == variant]
        yield f"{line} {np.mean(means):.4f} |"


def _plain_cell(table: Ablation, name: str, encoder: CachedEncoder) -> Cell:
    defaults = next(c.evaluation for c in table.cells if (c.variant, c.judged) == (DEFAULTS.name, name))
    found = plain_fusion(name, encoder)
    pair = compared([Pair("", defaults, found)])[0]
    return Cell(PLAIN, name, found, _DEPTH, pair.result, pair.p)


def plain_fusion(name: str, encoder: CachedEncoder) -> Evaluation:
    """Evaluate the plain fusion on a judged set: bm25s with stems and stop words, and document centroids."""
    judged = judged_set(name)
    with store_for(name, settings_for(name)).open() as snapshot:
        documents = places(snapshot)
        located = locate(judged, documents)
        retriever, centroids = _bm25(_texts(snapshot)), CorpusReader(snapshot).centroids
        rankings = {}
        for query in sorted(judged.answerable):
            text = judged.queries[query]
            keyword = _keyword_scores(retriever, text, len(documents))
            score = _KEYWORD * keyword + _COSINE * (centroids @ encoder.encode_query(text))
            best = np.argsort(-score, kind="stable")[:_DEPTH]
            rankings[query] = RankedDocuments(tuple(documents[at].doc_id for at in best.tolist()))
        return evaluate_rankings(judged, located, rankings, None)


def _texts(snapshot: Snapshot) -> list[str]:
    """Return the title and the passages of every document, in the snapshot's order."""
    texts = {doc_id: [title] for doc_id, title in tuples(snapshot.table("documents", ["doc_id", "title"]))}
    for doc_id, text in tuples(snapshot.table("passages", ["doc_id", "text"])):
        texts[doc_id].append(text)
    return ["\n".join(parts) for parts in texts.values()]


def _bm25(texts: Sequence[str]) -> bm25s.BM25:
    retriever = bm25s.BM25()
    tokens = bm25s.tokenize(list(texts), stopwords="en", stemmer=_STEMMER, show_progress=False)
    retriever.index(tokens, show_progress=False)
    return retriever


def _keyword_scores(retriever: bm25s.BM25, text: str, documents: int) -> Floats:
    """Return every document's BM25 as a share of the best, float32 of shape ``(documents,)``."""
    (words,) = bm25s.tokenize([text], stopwords="en", stemmer=_STEMMER, show_progress=False, return_ids=False)
    if not words:
        return np.zeros(documents, np.float32)
    scores: Floats = retriever.get_scores(words)
    return scores / max(float(scores.max()), 1e-9)
