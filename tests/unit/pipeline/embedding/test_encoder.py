"""Vectors are a function of their text: not of threads, batches or neighbours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from noctule.artifacts.cache.embeddings import EmbeddingStore
from noctule.pipeline.embedding import encoder as embed
from noctule.pipeline.embedding.encoder import Vectors, load_encoder, plan_batches
from noctule.pipeline.embedding.model_files import ends_with_pooling
from noctule.pipeline.errors import ModelUnavailable
from noctule.pipeline.settings.settings import Embed
from tests.repetitions import sample

TEXTS = [f"{'word ' * n}number {n} of the texts" for n in (1, 2, 3, 5, 8, 13, 40, 41, 100, 180, 260, 400)] * 3


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return load_encoder(Embed()).encode(TEXTS)


def test_rows_are_unit_and_equal_texts_have_equal_rows(vectors: Vectors) -> None:
    assert vectors.shape == (36, 384) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(vectors[:12], vectors[12:24])


@pytest.mark.parametrize(
    "changed",
    sample([Embed(workers=3), Embed(workers=1), Embed(batch_tokens=512), Embed(batch_tokens=8192)], 2),
)
def test_threads_and_batch_size_change_no_bit(changed: Embed, vectors: Vectors) -> None:
    assert np.array_equal(vectors, load_encoder(changed).encode(TEXTS))


def test_neighbours_change_no_bit(vectors: Vectors) -> None:
    encoder = load_encoder(Embed())
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS[:12]])
    assert np.array_equal(vectors[:12], alone)


def test_vectors_agree_with_sentence_transformers_itself() -> None:
    from sentence_transformers import SentenceTransformer

    encoder = load_encoder(Embed(precision="fp32"))
    reference = SentenceTransformer(str(encoder.model.folder), device="cpu").encode(
        TEXTS[:12], normalize_embeddings=True, show_progress_bar=False
    )
    assert (encoder.encode(TEXTS[:12]) * reference).sum(axis=1).min() > 0.99999
    assert (load_encoder(Embed()).encode(TEXTS[:12]) * reference).sum(axis=1).min() > 0.999


def test_a_query_is_close_to_the_same_text_as_a_passage() -> None:
    encoder = load_encoder(Embed())
    assert (
        float(encoder.encode_query("how do wikilinks work") @ encoder.encode(["how do wikilinks work"])[0])
        > 0.999
    )


@pytest.mark.parametrize("precision", ["fp32", "auto"])
@pytest.mark.parametrize("words", sample([4, 22, 65, 110], 2))
def test_the_height_of_a_batch_changes_no_bit(precision: Literal["fp32", "auto"], words: int) -> None:
    encoder = load_encoder(Embed(precision=precision))
    alike = [f"word {number} " * words for number in range(10)]
    every = encoder.encode(alike)
    for few in (1, 2, 3, 5, 8):
        assert np.array_equal(encoder.encode(alike[:few]), every[:few])


def test_batches_hold_every_text_once_in_one_of_a_few_shapes() -> None:
    lengths = [3, 250, 17, 16, 90, 91, 5, *[100] * 12]
    batches = list(plan_batches(lengths, 1024, 256))
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        assert batch.length % 16 == 0 and len(batch.rows) <= batch.height
        assert all(lengths[row] <= batch.length for row in batch.rows)
    assert [(batch.length, batch.height, len(batch.rows)) for batch in batches] == [
        (256, 1, 1),
        (112, 9, 9),
        (112, 3, 3),
        (96, 3, 2),
        (32, 8, 1),
        (16, 16, 3),
    ]


@pytest.mark.parametrize(
    ("device", "flags", "height"),
    [("cpu", "avx2", 3), ("cpu", "amx_bf16 avx2", 9), ("cpu", "", 9), ("cuda", "avx2", 292)],
)
def test_batches_are_filled_up_where_their_height_was_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, device: str, flags: str, height: int
) -> None:
    monkeypatch.setattr(embed, "_cpu_flags", lambda: frozenset(flags.split()))
    encoder = embed.TransformerEncoder(Embed(device=device, precision="fp32"))
    heights: list[int] = []

    def noted(ids: object, length: int, rows: int) -> Vectors:
        heights.append(rows)
        return np.zeros((2, 384), dtype=np.float32)

    monkeypatch.setattr(encoder, "_run", noted)
    encoder.encode(["word " * 100] * 2)
    assert heights == [height]


def test_a_layer_after_pooling_sees_the_height_of_a_batch(tmp_path: Path) -> None:
    kinds = ["Transformer", "Pooling", "Normalize", "Dense"]
    for count, is_last in ((3, True), (4, False)):
        modules = [{"type": f"sentence_transformers.models.{kind}"} for kind in kinds[:count]]
        (tmp_path / "modules.json").write_text(json.dumps(modules))
        assert ends_with_pooling(tmp_path) is is_last


def test_a_model_that_is_not_here_is_refused_without_a_download() -> None:
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        load_encoder(Embed(model="nobody/no-such-model"))


def test_the_embedding_store_gives_back_what_it_was_given_and_leaves_out_damage(tmp_path: Path) -> None:
    store = EmbeddingStore(tmp_path, ["model"], 4)
    vectors = np.arange(12, dtype=np.float32).reshape(3, 4)
    store.add(["a", "b"], vectors[:2])
    store.add(["c"], vectors[2:])
    recall = EmbeddingStore(tmp_path, ["model"], 4).recall(["c", "x", "a"])
    assert recall.missing.tolist() == [1]
    assert np.array_equal(recall.vectors[[0, 2]], vectors[[2, 0]])
    assert EmbeddingStore(tmp_path, ["other model"], 4).recall(["a"]).missing.tolist() == [0]
    for segment in sorted(tmp_path.rglob("*.parquet")):
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 1
        segment.write_bytes(content)
    assert store.recall(["a", "b", "c"]).missing.tolist() == [0, 1, 2]
