"""Models other than the default go through the same code: their pooling, their prompts, their dimension."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.query.understanding.query_vectors import load_model
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages.embedding.encode import query_texts
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.settings.reading import load, parse
from noctule.pipeline.settings.settings import Embed, Settings
from tests.sentence_model_builder import write_sentence_model

REPOSITORY = Path(__file__).resolve().parents[4]
PROMPT = "represent this sentence: "
NOTES = {
    "apples.md": "# Apples\n\nKeep apples in a cool cellar.\n",
    "boats.md": "# Boats\n\nBoats sail at night.\n",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sentence_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def built(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Settings]:
    root = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (root / name).write_text(text, "utf-8")
    settings = parse(
        {
            "collections": {"notes": {"root": str(root)}},
            "embed": {"model": str(model), "query_prompt": PROMPT, "precision": "fp32"},
            "engine": {"name": "inline"},
            "chunk": {"max_tokens": 512},
            "vocabulary": {"min_passages": 1},
        },
        where="test",
    )
    store = Store(tmp_path_factory.mktemp("store"))
    build_snapshot(settings, store, PlainDriver(), Silent())
    return store, settings


def test_pooling_is_what_the_model_says(model: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["apples in a cool cellar", "boats"]
    expected = SentenceTransformer(str(model), device="cpu").encode(texts, normalize_embeddings=True)
    found = load_encoder(Embed(model=str(model), precision="fp32")).encode(texts)
    assert found == pytest.approx(expected, abs=1e-5)
    mean = load_encoder(Embed(model=str(write_sentence_model(tmp_path, "mean")), precision="fp32"))
    assert np.abs(mean.encode(texts) - found).max() > 0.01


def test_the_prompt_is_put_before_queries_and_not_before_passages(model: Path) -> None:
    plain = load_encoder(Embed(model=str(model), precision="fp32"))
    prompted = load_encoder(Embed(model=str(model), precision="fp32", query_prompt=PROMPT))
    assert np.array_equal(plain.encode(["boats"]), prompted.encode(["boats"]))
    expected = plain.encode([PROMPT + "boats"])[0]
    assert prompted.encode_query("boats") == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(prompted.encode(["boats"], as_queries=True)[0], prompted.encode_query("boats"))
    assert np.abs(expected - plain.encode(["boats"])[0]).max() > 0.01


def test_a_text_that_stands_for_a_query_is_kept_apart_from_the_passage_of_the_same_words(model: Path) -> None:
    plain, prompted = (load_encoder(Embed(model=str(model), query_prompt=each)) for each in ("", PROMPT))
    assert query_texts(["boats"], plain).hashes != query_texts(["boats"], prompted).hashes
    assert not query_texts(["boats"], plain).as_queries and query_texts(["boats"], prompted).as_queries


@pytest.mark.parametrize("encoder", ["static", "full"])
def test_a_snapshot_of_it_is_searched_like_any_other(built: tuple[Store, Settings], encoder: str) -> None:
    store, settings = built
    search = settings.search.model_copy(update={"encoder": encoder})
    with Searcher(store.open(), settings.model_copy(update={"search": search})) as searcher:
        answer = searcher.search("cool cellar")
        assert answer.warnings == () and answer.hits[0].path == "apples.md"
        assert {"keyword", "semantic", "document"} <= {each.list for each in answer.hits[0].why.lists}


def test_a_searcher_that_was_told_nothing_takes_the_prompt_of_the_snapshot(
    built: tuple[Store, Settings], model: Path
) -> None:
    store, _ = built
    with store.open() as snapshot:
        found = load_model(snapshot, Embed(model=str(model), precision="fp32"))
        expected = load_encoder(Embed(model=str(model), precision="fp32", query_prompt=PROMPT))
        assert found.encode_query("boats") == pytest.approx(expected.encode_query("boats"), abs=1e-5)


def test_the_preset_names_the_model_and_its_prompt() -> None:
    settings = load(REPOSITORY / "configs" / "bge-small.toml")
    assert settings.embed.model == "BAAI/bge-small-en-v1.5"
    assert settings.embed.query_prompt.endswith("passages: ")
    assert settings.chunk.max_tokens == 512
