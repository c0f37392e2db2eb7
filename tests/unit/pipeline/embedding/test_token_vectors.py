"""Vectors of tokens: which tokens there are, and that each is what the model says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from noctule.pipeline.embedding.onnx_encoder import OnnxEncoder
from noctule.pipeline.embedding.onnx_export import ExportedModel, export
from noctule.pipeline.embedding.token_vectors import inverse_frequency, tokens_of
from noctule.pipeline.lexical.word_pieces import CONTINUATION, UNKNOWN
from noctule.pipeline.settings.settings import Embed
from tests.sentence_model_builder import write_sentence_model


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Embed:
    model = write_sentence_model(tmp_path_factory.mktemp("model"), pooling="mean")
    return Embed(model=str(model), workers=1)


@pytest.fixture(scope="module")
def exported(settings: Embed) -> ExportedModel:
    return export(settings)


def test_of_wordpiece_words_and_parts_of_words_are_kept_as_queries_fold_them() -> None:
    given = ["[PAD]", "[UNK]", "[unused1]", "+", "the", "The", "##ing", "café", "a1", "_x", "🎉", "##."]
    found = tokens_of({token: at for at, token in enumerate(given)})
    assert found == {UNKNOWN: 1, "the": 4, "##ing": 6, "cafe": 7, "a1": 8}


@pytest.mark.parametrize(("mark", "kept"), [("▁", {"über", "owl", "##s"}), ("Ġ", {"owl", "##s"})])
def test_of_other_tokenizers_the_mark_says_what_begins_a_word(mark: str, kept: set[str]) -> None:
    given = ["<s>", "<unk>", f"{mark}owl", "s", f"{mark}über", mark]
    assert set(tokens_of({token: at for at, token in enumerate(given)})) == {
        UNKNOWN,
        *(each.replace("ü", "u") for each in kept),
    }


def test_the_vector_of_a_whole_word_is_the_model_s_as_long_as_the_word_is_rare(
    exported: ExportedModel,
) -> None:
    encoder = OnnxEncoder(exported.model, exported.tokenizer, 512)
    found, in_order = exported.tokens, list(tokens_of(encoder.vocabulary()))
    assert list(found.terms) == sorted(found.terms) and UNKNOWN in found.terms
    vectors = dict(zip(found.terms, found.scale[:, None] * found.code, strict=True))
    rarity = dict(zip(in_order, inverse_frequency(in_order), strict=True))
    for word, text in (("apples", "apples"), ("orchard", "orchard"), ("a", "a"), (UNKNOWN, "🎉")):
        length = np.linalg.norm(vectors[word])
        assert vectors[word] @ encoder.encode_query(text) / length > 0.999
        assert length == pytest.approx(rarity[word], rel=0.02)


def test_frequency_falls_with_the_rank_and_letters_are_common() -> None:
    words = [UNKNOWN, "a", "b", *(f"word{number}" for number in range(20_000)), "##z"]
    found = inverse_frequency(words)
    assert found[0] == found[1] == found[2] == found[3] < 0.001
    assert (np.diff(found[3:-1]) > 0).all() and found[-1] == found[-2]
    assert found[[503, 2003, 20_002]] == pytest.approx([0.14, 0.39, 0.86], abs=0.01)
    assert inverse_frequency([]).shape == (0,)


def test_a_token_that_continues_a_word_is_not_the_word_of_the_same_letters(exported: ExportedModel) -> None:
    numbers = Tokenizer.from_buffer(exported.tokenizer).get_vocab()
    encoder = OnnxEncoder(exported.model, exported.tokenizer, 512)
    whole, part = encoder.encode_tokens([numbers["a"], numbers[f"{CONTINUATION}a"]])
    assert whole == pytest.approx(encoder.encode_query("a"), abs=1e-6)
    assert whole @ part < 0.99


def test_a_prompt_stands_before_every_token(exported: ExportedModel) -> None:
    encoder = OnnxEncoder(exported.model, exported.tokenizer, 512, "apples and ")
    number = encoder.vocabulary()["orchard"]
    assert encoder.encode_tokens([number])[0] == pytest.approx(encoder.encode_query("orchard"), abs=1e-6)


def test_the_same_model_gives_the_same_bytes(settings: Embed, exported: ExportedModel) -> None:
    again = export(settings).tokens
    assert again.terms == exported.tokens.terms
    assert again.code.tobytes() == exported.tokens.code.tobytes()
    assert again.scale.tobytes() == exported.tokens.scale.tobytes()
    assert OnnxEncoder(exported.model, exported.tokenizer, 512).encode_tokens([]).shape == (0, 32)


def test_a_model_s_folder_is_not_read(exported: ExportedModel, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(exported.model)
    assert OnnxEncoder(file, exported.tokenizer, 512).encode_tokens([5]).shape == (1, 32)
