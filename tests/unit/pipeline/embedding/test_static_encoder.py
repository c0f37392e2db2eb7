"""Term vectors solve their regression, and a query is the sum of its terms'."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse

from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.query.understanding.static_encoder import StaticEncoder
from noctule.artifacts.store.store import Store
from noctule.pipeline.embedding import static_encoder
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.embedding.static_encoder import TrainingTexts, fit_term_vectors, solve, weighted_terms
from noctule.pipeline.lexical.bm25f import inverse_frequency
from noctule.pipeline.settings.settings import Embed, StaticEncoderSettings
from tests.library_builder import settings_of

TERMS = ("appl", "boat", "cellar", "sail")
IDF = np.array([1.0, 2.0, 1.5, 2.5])


def training_texts(texts: list[str], weight: float = 1.0, seed: int = 0) -> TrainingTexts:
    vectors = np.random.default_rng(seed).normal(size=(len(texts), 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TrainingTexts(texts, ["en"] * len(texts), vectors, weight)


def test_a_text_is_the_unit_row_of_its_terms_idf_and_count() -> None:
    row = {term: at for at, term in enumerate(TERMS)}
    found = weighted_terms(training_texts(["Apples, apples and a boat", "", "unheard"]), row, IDF).toarray()
    expected = np.array([1 + np.log(2), 2.0, 0, 0])
    assert found[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert not found[1:].any()


@pytest.mark.parametrize("block", [1, 4, 64])
def test_the_solution_is_that_of_the_normal_equations(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_encoder, "_BLOCK_DIMENSIONS", block)
    random = np.random.default_rng(1)
    x, y = random.normal(size=(30, 9)).astype(np.float32), random.normal(size=(30, 6)).astype(np.float32)
    weight = random.uniform(0.1, 1, 30).astype(np.float32)
    expected = np.linalg.solve(x.T @ (weight[:, None] * x) + 0.3 * np.eye(9), x.T @ (weight[:, None] * y))
    found = solve(sparse.csr_matrix(x), [y[:4], y[4:]], weight, 0.3, 60)
    assert found == pytest.approx(expected, abs=1e-3)


def test_rare_terms_are_found_in_as_few_steps_as_common_ones() -> None:
    random = np.random.default_rng(2)
    scale = np.logspace(-2, 1, 40)
    x = (random.normal(size=(400, 40)) * scale).astype(np.float32)
    y = (x / scale.astype(np.float32)) @ random.normal(size=(40, 3)).astype(np.float32)
    expected = np.linalg.solve(x.T @ x + 1e-4 * np.eye(40), x.T @ y)
    found = solve(sparse.csr_matrix(x), [y[:4], y[4:]], np.ones(400, np.float32), 1e-4, 12)
    assert found == pytest.approx(expected, rel=0.02, abs=0.05)


def test_the_bytes_do_not_hang_on_threads_or_on_who_asks_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    training = [training_texts(["apple cellar", "boat sail", "apples", "sails of boats in cellars"])]
    first = fit_term_vectors(training, TERMS, IDF, StaticEncoderSettings())
    monkeypatch.setattr(static_encoder, "_THREADS", 1)
    second = fit_term_vectors(training, TERMS, IDF, StaticEncoderSettings())
    assert first.code.tobytes() == second.code.tobytes()
    assert first.scale.tobytes() == second.scale.tobytes()


def test_a_term_of_no_text_has_no_vector_and_no_texts_give_none() -> None:
    found = fit_term_vectors(
        [training_texts(["apple boat"]), training_texts([])], TERMS, IDF, StaticEncoderSettings()
    )
    assert found.terms == ("appl", "boat")
    nothing = fit_term_vectors([training_texts([])], TERMS, IDF, StaticEncoderSettings())
    assert nothing.terms == () and nothing.code.shape == (0, 6)


def test_what_it_learned_it_says_again() -> None:
    training = training_texts(["apple", "boat", "cellar", "sail"])
    found = fit_term_vectors([training], TERMS, IDF, StaticEncoderSettings(ridge=0.001, iterations=50))
    vectors = found.scale[:, None] * found.code
    cosine = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * training.vectors).sum(axis=1)
    assert cosine == pytest.approx(np.ones(4), abs=1e-3)


def test_a_heavier_text_pulls_more() -> None:
    one, other = training_texts(["apple"], 1.0, seed=1), training_texts(["apple"], 10.0, seed=2)
    found = fit_term_vectors([one, other], TERMS, IDF, StaticEncoderSettings(ridge=0.001, iterations=50))
    vector = found.code[0].astype(np.float64)
    assert vector @ other.vectors[0] > vector @ one.vectors[0]


@pytest.fixture(scope="module")
def corpus(library: Store) -> Iterator[CorpusReader]:
    with library.open() as snapshot:
        yield CorpusReader(snapshot)


def test_a_query_lands_near_where_the_model_puts_it(corpus: CorpusReader) -> None:
    encoder, model = StaticEncoder(corpus), load_encoder(Embed(workers=1))
    texts = ["apples in a cool cellar", "boats and sails", "bake with cinnamon", "the orchard"]
    cosines = [float(encoder.encode_query(text) @ model.encode_query(text)) for text in texts]
    others = [float(encoder.encode_query(a) @ model.encode_query(b)) for a in texts for b in texts if a != b]
    assert min(cosines) > 0.6 > 0.45 > np.mean(others)


def test_a_word_of_no_document_means_what_it_means_to_the_model(library: Store, corpus: CorpusReader) -> None:
    encoder, model = StaticEncoder(corpus), load_encoder(Embed(workers=1))
    for word, least in (("refrigerator", 0.99), ("yacht", 0.99), ("laptops", 0.6), ("dockerfile", 0.4)):
        assert not corpus.prose.count(word)
        assert encoder.encode_query(word) @ model.encode_query(word) > least
    with Searcher(library.open(), settings_of(encoder="static")) as searcher:
        assert searcher.search("yacht").hits[0].path in ("boats.md", "harbour.md")
        assert searcher.search("refrigerate fruit").hits[0].path.startswith("fruit/")


def test_a_word_of_no_document_weighs_less_than_a_term_of_that_rarity(corpus: CorpusReader) -> None:
    tokens = corpus.token_vectors
    assert tokens is not None
    known, unseen = corpus.term_vectors["cellar"], tokens["yacht"]
    total = known + 0.85 * float(inverse_frequency(0, corpus.passages)) * unseen
    found = StaticEncoder(corpus).encode_query("cellar yacht")
    assert found == pytest.approx(total / np.linalg.norm(total), abs=1e-6)
    highest = max(map(corpus.prose.idf, corpus.prose.terms.to_pylist()))
    assert float(inverse_frequency(0, corpus.passages)) > highest


def test_a_word_of_several_tokens_is_their_mean_by_letters(corpus: CorpusReader) -> None:
    tokens = corpus.token_vectors
    assert tokens is not None and "laptops" not in tokens
    mean = (6 * tokens["laptop"] + tokens["##s"]) / 7
    found = StaticEncoder(corpus).encode_query("Laptops")
    assert found == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert tokens.of_word("laptops") == pytest.approx(mean / 2, abs=1e-6)


@pytest.mark.parametrize("text", ["🎉", "=>", "q", "the", "ᚠᛇᚻ ꦧꦱ", "検索", "שלום", "zzxq", "x" * 500])
def test_every_query_that_can_be_printed_has_a_vector(corpus: CorpusReader, text: str) -> None:
    assert np.linalg.norm(StaticEncoder(corpus).encode_query(text)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_nothing_asked_has_none(corpus: CorpusReader, text: str) -> None:
    assert not StaticEncoder(corpus).encode_query(text).any()


def test_ten_thousand_words_are_read_as_far_as_in_sql(corpus: CorpusReader) -> None:
    words = [f"word{number}" for number in range(10_000)]
    found = StaticEncoder(corpus).encode_query(" ".join(words))
    assert found == pytest.approx(StaticEncoder(corpus).encode_query(" ".join(words)[:10_000]), abs=0)


def test_the_static_encoder_searches_without_the_model(library: Store) -> None:
    with Searcher(library.open(), settings_of(encoder="static")) as searcher:
        (first, *_) = searcher.search("keep fruit in the cellar", mode="semantic").hits
        assert first.doc_id.startswith("notes:fruit/")
