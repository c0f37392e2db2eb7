"""Ablation of the static encoder: each text kind, parameter and idea as a share of the full model's nDCG@10.

python -m bench relevance --part encoder
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bench.encoder_ideas import Bigrams, Dense, narrowed, with_hard_negatives
from bench.judged import judged_set, settings_for, store_for
from bench.query_vectors import CachedEncoder
from bench.training_texts import TrainingSet, training_set_of
from noctule.artifacts.judged.evaluate import evaluate, for_evaluation
from noctule.artifacts.judged.locating import locate, places
from noctule.artifacts.judged.measures import HEADLINE
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.understanding.static_encoder import StaticEncoder
from noctule.artifacts.store.snapshot import Snapshot
from noctule.pipeline.embedding.static_encoder import TrainingTexts, fit_term_vectors, solve, weighted_terms
from noctule.pipeline.settings.settings import Settings, StaticEncoderSettings

Vector = npt.NDArray[np.float32]
Table = Mapping[str, Vector]
_SIF = 1e-3
# Makes a static encoder from the training texts and the corpus that it is to search.
Made = Callable[[TrainingSet, CorpusReader], object]


class OtherVectors(CorpusReader):
    """A corpus with other term vectors than its snapshot has."""

    def __init__(self, corpus: CorpusReader, table: Table) -> None:
        super().__init__(corpus.snapshot)
        vars(self)["term_vectors"] = table


class Whole(dict[str, Vector]):
    """Term vectors that know every word, so that none is decomposed: zeros for unknown ones."""

    def __contains__(self, term: object) -> bool:
        return True

    def __missing__(self, term: str) -> Vector:
        return np.zeros(len(next(iter(self.values()))), np.float32)


@dataclass(frozen=True, slots=True)
class Idea:
    """A name for the table, and how its encoder is made."""

    name: str
    make: Made


def _encoder(table: Table, corpus: CorpusReader) -> StaticEncoder:
    return StaticEncoder(OtherVectors(corpus, table))


def _fitted(training_set: TrainingSet, settings: StaticEncoderSettings, without: Sequence[str] = ()) -> Table:
    training = [each for kind, each in training_set.training.items() if kind not in without]
    found = fit_term_vectors(training, training_set.terms, training_set.idf, settings)
    return dict(zip(found.terms, found.scale[:, None] * found.code.astype(np.float32), strict=True))


def _learning(name: str, without: Sequence[str] = (), **settings: object) -> Idea:
    given = StaticEncoderSettings().model_copy(update=settings)
    return Idea(name, lambda training_set, corpus: _encoder(_fitted(training_set, given, without), corpus))


def _floats(training_set: TrainingSet) -> Table:
    """Return the vectors as solved, before quantization to 8-bit integers."""
    row, given = {term: at for at, term in enumerate(training_set.terms)}, StaticEncoderSettings()
    training = [each for each in training_set.training.values() if len(each.texts)]
    from scipy import sparse

    x = sparse.vstack([weighted_terms(each, row, training_set.idf) for each in training], format="csr")
    y = np.concatenate([each.vectors for each in training])
    weight = np.repeat(
        np.array([each.weight for each in training], np.float32), [len(each.texts) for each in training]
    )
    seen = np.unique(x.indices)
    found = solve(x[:, seen], [y], weight, given.ridge, given.iterations) * training_set.idf[seen, None]
    return {training_set.terms[at]: vector.astype(np.float32) for at, vector in zip(seen, found, strict=True)}


def _unweighted(training_set: TrainingSet) -> Table:
    return _fitted(replace(training_set, idf=np.ones_like(training_set.idf)), StaticEncoderSettings())


def _sif(training_set: TrainingSet) -> Table:
    """Weigh words by smooth inverse frequency, a / (a + p), with p the share of the passages with the word.

    S. Arora, Y. Liang, T. Ma, "A simple but tough-to-beat baseline for sentence embeddings", ICLR 2017.
    """
    rarity = np.exp(-training_set.idf)
    return _fitted(replace(training_set, idf=_SIF / (_SIF + rarity / rarity.sum())), StaticEncoderSettings())


def _averaged(training_set: TrainingSet) -> Table:
    words = training_set.training["words"]
    idf = dict(zip(training_set.terms, training_set.idf, strict=True))
    return {
        term: np.float32(idf[term]) * vector for term, vector in zip(words.texts, words.vectors, strict=True)
    }


def _against_wrong(training_set: TrainingSet) -> Table:
    return _fitted(with_hard_negatives(training_set, _as_built(training_set)), StaticEncoderSettings())


def _as_built(training_set: TrainingSet) -> Table:
    return _fitted(training_set, StaticEncoderSettings())


def _uniform_weights(training_set: TrainingSet) -> Table:
    training: dict[str, TrainingTexts] = {
        kind: replace(each, weight=1.0) for kind, each in training_set.training.items()
    }
    return _fitted(replace(training_set, training=training), StaticEncoderSettings())


def _from_table(name: str, table: Callable[[TrainingSet], Table]) -> Idea:
    return Idea(name, lambda training_set, corpus: _encoder(table(training_set), corpus))


def _narrowed(size: int) -> Idea:
    return Idea(
        f"{size} dimensions (principal components)",
        lambda training_set, corpus: narrowed(_encoder(_as_built(training_set), corpus), corpus, size),
    )


IDEAS: tuple[Idea, ...] = (
    _learning("as built"),
    *(
        _learning(f"without {kind}", [kind])
        for kind in ("words", "phrases", "spans", "passages", "anchors", "titles")
    ),
    _learning("without anchors and titles: the model alone teaches", ["anchors", "titles"]),
    _from_table("every text at weight 1", _uniform_weights),
    _learning("ridge 0.1", ridge=0.1),
    _learning("ridge 1", ridge=1.0),
    _learning("4 steps", iterations=4),
    _learning("25 steps", iterations=25),
    Idea(
        "unknown words are left out",
        lambda training_set, corpus: _encoder(Whole(_as_built(training_set)), corpus),
    ),
    _from_table("weights of 1 in place of idf", _unweighted),
    _from_table("SIF weights in place of idf", _sif),
    _from_table("anchors and titles against hard negatives", _against_wrong),
    _from_table("no regression: words' vectors averaged by idf", _averaged),
    _from_table("32-bit floats in place of 8-bit integers", _floats),
    Idea("with frequent pairs of words", Bigrams),
    Idea(
        "with a dense layer after the sum",
        lambda training_set, corpus: Dense(training_set, _encoder(_as_built(training_set), corpus)),
    ),
    *(_narrowed(size) for size in (256, 192, 128)),
)


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield the study as a markdown table: the full model's nDCG@10, and each idea's share of it, by set."""
    columns = {name: _shares(name) for name in names}
    yield f"| static encoder | {' | '.join(columns)} |"
    yield "| --- |" + " ---: |" * len(columns)
    for idea in ("full model", *(each.name for each in IDEAS)):
        yield f"| {idea} | {' | '.join(columns[name][idea] for name in names)} |"


def _shares(name: str) -> dict[str, str]:
    settings = settings_for(name)
    store = store_for(name, settings)
    cached = CachedEncoder(Settings().embed)
    with ExitStack() as stack:
        snapshot = stack.enter_context(store.open())
        full = _ndcg(name, settings, snapshot, cached)
        cached.save()
        found = {"full model": f"{full:.4f}"}
        training_set, corpus = training_set_of(store, snapshot, settings), CorpusReader(snapshot)
        for idea in IDEAS:
            share = _ndcg(name, settings, snapshot, idea.make(training_set, corpus)) / full
            found[idea.name] = f"{share:.3f}"
            print(f"{name}: {idea.name}: {share:.4f}", flush=True)
    return found


def _ndcg(name: str, settings: Settings, snapshot: Snapshot, encoder: object) -> float:
    judged = judged_set(name)
    searcher = Searcher(snapshot, for_evaluation(settings), encoder)  # type: ignore[arg-type]
    return evaluate(searcher, judged, locate(judged, places(snapshot)), depth=10).means[HEADLINE]
