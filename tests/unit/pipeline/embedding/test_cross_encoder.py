"""A cross-encoder on this machine is loaded when it is first asked; one that is not is told at the start."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from noctule.pipeline.embedding.cross_encoder import CrossEncoder, find_cross_encoder, is_folder_name
from noctule.pipeline.errors import ModelUnavailable
from tests.cross_encoder_builder import write_cross_encoder

PASSAGES = ["Keep apples in a cool cellar.", "Boats sleep in the harbour at night.", "x", "apples " * 500]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


def test_relevance_is_the_sigmoid_of_the_models_logit(folder: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    found = CrossEncoder(str(folder)).relevance("where do I store apples", PASSAGES)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    expected = []
    with torch.inference_mode():
        for passage in PASSAGES:
            features = tokenizer("where do I store apples", passage, truncation=True, return_tensors="pt")
            expected.append(float(torch.sigmoid(network(**features).logits)[0, 0]))
    assert found.shape == (len(PASSAGES),)
    assert found.dtype == np.float64
    assert found == pytest.approx(expected, abs=1e-5)
    assert len(set(np.round(found, 4))) == len(PASSAGES)


def test_the_same_pairs_have_the_same_relevance_whatever_is_read_beside_them(folder: Path) -> None:
    encoder = CrossEncoder(str(folder))
    together = encoder.relevance("apples", PASSAGES)
    assert encoder.relevance("apples", PASSAGES).tolist() == together.tolist()
    assert encoder.relevance("apples", PASSAGES[::-1])[::-1] == pytest.approx(together, abs=1e-6)
    assert encoder.relevance("apples", []).tolist() == []


def test_loading_prints_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    CrossEncoder(str(folder)).relevance("apples", PASSAGES)
    assert capfd.readouterr() == ("", "")


def test_it_is_loaded_when_it_is_first_asked(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    encoder = CrossEncoder(str(copy))
    shutil.rmtree(copy)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        encoder.relevance("apples", PASSAGES)


@pytest.mark.parametrize(
    "name", ["cross-encoder/no-such-model", "no-such-model", "/no/such/folder", "./nowhere", ""]
)
def test_a_model_that_is_not_on_this_machine_is_named_and_what_to_do(name: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        CrossEncoder(name)
    assert repr(name) in caught.value.what
    assert "search.rerank.model" in caught.value.hint


def test_a_folder_is_told_from_a_name_on_the_hub(tmp_path: Path) -> None:
    assert is_folder_name("/models/tiny") and is_folder_name("./tiny") and is_folder_name("~/tiny")
    assert is_folder_name(str(tmp_path))
    assert not is_folder_name("cross-encoder/ms-marco-MiniLM-L-6-v2")


def test_a_folder_is_found_as_it_is_named(folder: Path) -> None:
    assert find_cross_encoder(str(folder)) == folder


@pytest.mark.parametrize("missing", ["model.safetensors", "config.json"])
def test_a_folder_without_one_of_its_files_is_refused_at_the_start(
    folder: Path, tmp_path: Path, missing: str
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / missing).unlink()
    with pytest.raises(ModelUnavailable):
        CrossEncoder(str(copy))


def test_weights_in_a_pickle_are_never_read(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable):
        CrossEncoder(str(copy))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_is_cut_off_is_one_error_at_the_start_that_names_the_folder(
    folder: Path, tmp_path: Path, name: str
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailable) as caught:
        CrossEncoder(str(copy))
    assert caught.value.where == str(copy)
