"""A night's few texts are encoded beside this process: the same bits, and no night lost if that one dies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noctule.flows.engines.background_encoder import MOST_TEXTS, BackgroundEncoder
from noctule.flows.engines.local import MOST_FILES, LocalEncoder, Processes
from noctule.pipeline.embedding import encoder as embed
from noctule.pipeline.embedding.encoder import TransformerEncoder, load_encoder
from noctule.pipeline.embedding.model_files import find
from noctule.pipeline.errors import ModelUnavailable
from noctule.pipeline.settings.settings import Embed, Settings
from tests.sentence_model_builder import small_model

TEXTS = ["Owls hunt at dusk.", "A write-ahead log is read first.", "Eulen"]


@pytest.fixture
def model() -> Embed:
    return Embed(model=small_model(), precision="fp32")


def test_vectors_are_those_of_this_process_which_needs_no_model(model: Embed) -> None:
    encoder, tokens = TransformerEncoder(model), []
    beside = BackgroundEncoder(model, encoder)
    try:
        found = beside.encode(TEXTS, tokens.append, as_queries=False)
    finally:
        beside.close()
    assert not encoder.is_loaded
    assert np.array_equal(found, load_encoder(model).encode(TEXTS))
    assert sum(tokens) == sum(count + 2 for count in encoder.count_tokens(TEXTS))


def test_where_that_process_dies_this_one_encodes(model: Embed) -> None:
    encoder = TransformerEncoder(model)
    beside = BackgroundEncoder(model, encoder)
    try:
        beside._background._workers.kill()
        found = beside.encode(TEXTS, lambda _: None, as_queries=False)
    finally:
        beside.close()
    assert np.array_equal(found, encoder.encode(TEXTS))


def test_a_model_that_cannot_be_loaded_is_told_of_by_the_encoder(model: Embed, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    copy.mkdir()
    for path in Path(model.model).rglob("*"):
        (copy / path.relative_to(model.model)).parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.name != "model.safetensors":
            (copy / path.relative_to(model.model)).write_bytes(path.read_bytes())
    damaged = Embed(model=str(copy), precision="fp32")
    beside = BackgroundEncoder(damaged, TransformerEncoder(damaged))
    try:
        with pytest.raises(ModelUnavailable, match="cannot be loaded"):
            beside.encode(TEXTS, lambda _: None, as_queries=False)
    finally:
        beside.close()


def test_who_encodes_depends_on_how_much_there_is(model: Embed) -> None:
    settings = Settings(embed=model)
    engine, encoder = Processes(settings), TransformerEncoder(model)
    try:
        engine.prepare(encoder, 0)
        assert isinstance(engine.batch_encoder(encoder, 3), LocalEncoder)
        engine.prepare(encoder, 5)
        assert isinstance(engine.batch_encoder(encoder, 3), BackgroundEncoder)
        assert isinstance(engine.batch_encoder(encoder, MOST_TEXTS + 1), LocalEncoder)
        assert not encoder.is_loaded
        engine.prepare(encoder, MOST_FILES + 1)
    finally:
        engine.close()
    assert encoder.is_loaded


@pytest.mark.parametrize(("batches", "processes"), [(0, 1), (1, 1), (4, 1), (5, 5), (96, 64)])
def test_few_batches_are_parsed_by_one_process(model: Embed, batches: int, processes: int) -> None:
    engine = Processes(Settings(embed=model.model_copy(update={"workers": 64})))
    with engine.workers(batches) as workers:
        assert workers.count == processes
    engine.close()


def test_a_model_says_its_dimension_before_it_is_loaded(model: Embed) -> None:
    files, encoder = find(model), TransformerEncoder(model)
    assert files.dimension == encoder.dimension == 32 and not encoder.is_loaded
    assert load_encoder(model).encode(["owl"]).shape == (1, 32)
    assert find(Embed()).dimension == 384


def test_without_a_device_of_a_gpu_torch_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embed, "_GPU_DEVICES", (str(tmp_path / "none"),))
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert embed.resolve_device("auto") == "cpu"
    (tmp_path / "none").touch()
    with pytest.raises(ImportError):
        embed.resolve_device("auto")
