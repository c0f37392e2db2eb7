"""The main job on a small vault: what comes out, what is left out and why, and that it is always the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import noctule.artifacts.query
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.engines.local import Processes
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages.embedding import query_model
from noctule.pipeline.embedding.onnx_export import ExportedModel, NotExportable
from noctule.pipeline.errors import EmptyCollection, MissingRoot, ModelMismatch, SettingsError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Embed, Settings
from tests.repetitions import ALL

REPOSITORY = Path(__file__).resolve().parents[2]
VAULT = {
    "index.md": "---\ntitle: Home\ntags: [start]\n---\n\n"
    "Start with [[Boats]] or [apples](fruit/apples.md#storing).\n",
    "boats.md": "# Boats\n\nA boat floats on water. See [[Home]] and `launchBoat()`.\n\n## Sails\n\n"
    "Sails catch wind.\n",
    "fruit/apples.md": "# Apples\n\nApples are fruit. Back [home](../index.md).\n\n## Storing\n\n"
    "Keep them cool.\n",
    "fruit/pears.html": "<html><head><title>Pears</title></head><body><main><h1>Pears</h1><p>Pears ripen. "
    '<a href="apples.md">Apples</a></p><pre class="language-js">let pear = ripen()</pre></main></body>'
    "</html>",
    "plain.txt": "A plain text about lighthouses.\n\nThey shine at night.\n",
    "broken.md": "---\ndraft: [unclosed\n---\n\ntext\n",
    "latin.md": "caf\xe9",
    "empty.md": "\n",
}


def write_vault(root: Path) -> Path:
    for name, text in VAULT.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1" if name == "latin.md" else "utf-8"))
    (root / "outside.md").symlink_to("/etc/hostname")
    return root


def settings_for(root: Path, **tables: object) -> Settings:
    given = {"collections": {"vault": {"root": str(root)}}, "engine": {"name": "inline"}}
    return parse(given | tables, where="test")


def build(root: Path, store: Path, **tables: object) -> BuildResult:
    return build_snapshot(settings_for(root, **tables), Store(store), PlainDriver(), Silent())


def test_a_vault_becomes_a_snapshot_that_answers(tmp_path: Path) -> None:
    result = build(write_vault(tmp_path / "vault"), tmp_path / "store")
    assert (result.documents, result.skipped, result.quarantined) == (5, 1, 3)
    reasons = {r.path: r.reason for r in result.rejections}
    assert set(reasons) == {"broken.md", "latin.md", "empty.md", "outside.md"}
    assert "UTF-8" in reasons["latin.md"] and "line" in reasons["broken.md"]
    store = Store(tmp_path / "store")
    check_deep(store.path_of(result.snapshot), result.snapshot)
    with noctule.artifacts.query.open(store) as searcher:
        best = searcher.search("how do I keep apples").hits[0]
        assert (best.doc_id, best.url) == ("vault:fruit/apples.md", "fruit/apples.html#storing")
        score = sum(each.share for each in best.why.lists)
        for multiplier in best.why.multipliers:
            score *= multiplier.factor
        assert best.score == score
        assert {c.list for c in best.why.lists} == {"keyword", "semantic", "document"}
        assert searcher.search("launch boat", mode="code").hits[0].doc_id == "vault:boats.md"
        marked = searcher.search("lighthouses", mode="keyword").hits[0]
        assert [marked.excerpt[a:b] for a, b in marked.highlights] == ["lighthouses"]
        for hostile in (
            "",
            "   ",
            "\x00",
            "'''((((( !!! ???",
            "a" * 100_000,
            "\u202e עברית 🎉",
            'x" OR 1=1; --',
        ):
            assert len(searcher.search(hostile).hits) <= 10
    with store.open() as snapshot:
        labels = [label for label in snapshot.table("communities").column("label").to_pylist() if label]
        assert labels and len(labels) == len(set(labels))
        links = snapshot.table("links").to_pylist()
        assert {(k["source_id"], k["target_id"], k["status"]) for k in links} >= {
            ("vault:index.md", "vault:boats.md", "resolved"),
            ("vault:index.md", "vault:fruit/apples.md", "resolved"),
            ("vault:fruit/pears.html", "vault:fruit/apples.md", "resolved"),
        }


def test_building_again_encodes_nothing_and_publishes_nothing(tmp_path: Path) -> None:
    first = build(write_vault(tmp_path / "vault"), tmp_path / "store")
    second = build(tmp_path / "vault", tmp_path / "store")
    assert (second.snapshot, second.changed, second.encoded) == (first.snapshot, False, 0)
    assert second.reused == first.encoded


def test_the_same_input_gives_the_same_snapshot_whatever_surrounds_it(tmp_path: Path) -> None:
    """Another hash seed, thread count, locale, time zone and folder, no shared embedding store."""
    program = (
        "import sys; from pathlib import Path; from tests.e2e.test_build import build\n"
        "print(build(Path(sys.argv[1]), Path(sys.argv[2]), embed={'workers': int(sys.argv[3])}, "
        "engine={}).snapshot)"
    )
    ids = [build(write_vault(tmp_path / "here" / "vault"), tmp_path / "here" / "store").snapshot]
    surroundings = [
        ("1", {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C", "OMP_NUM_THREADS": "1"}),
        ("2", {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"}),
    ][0 if ALL else 1 :]
    for workers, environment in surroundings:
        folder = tmp_path / f"surroundings {workers}"
        write_vault(folder / "vault")
        run = subprocess.run(
            [sys.executable, "-c", program, folder / "vault", folder / "store", workers],
            env=os.environ | environment | {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'site'}"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        ids.append(run.stdout.split()[-1])
    assert len(set(ids)) == 1, ids


def test_a_parser_that_hangs_costs_its_document_and_not_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Processes, "prepare", lambda *_: None)  # the model is loaded in this process
    root = write_vault(tmp_path / "vault")
    (root / "evil.md").write_text("a" * 60 + "!")
    rules = [{"pattern": "(a+)+$", "replacement": ""}]
    settings = parse(
        {"collections": {"vault": {"root": str(root), "rules": rules}}, "limits": {"parse_timeout_s": 1.0}},
        "test",
    )
    result = build_snapshot(settings, Store(tmp_path / "store"), PlainDriver(), Silent())
    assert result.documents == 5
    assert [r.reason for r in result.rejections if r.path == "evil.md"] == [
        "the parser took over 1 s of processor time and was stopped"
    ]


def test_two_documents_at_one_address_are_not_both_published(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "vault")
    (root / "boats.html").write_text("<h1>Other boats</h1><p>Text.</p>")
    result = build(root, tmp_path / "store")
    (rejection,) = (r for r in result.rejections if r.path.startswith("boats"))
    assert rejection.reason == "has the same address as boats.html: boats.html"


def test_the_index_of_a_folder_goes_before_its_readme(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    for name in (
        "README.md",
        "guide/_index.md",
        "index.md",
        "guide/readme.md",
        "guide/index.txt",
        "a.md",
        "b.md",
        "c.md",
    ):
        (tmp_path / name).write_text(f"Owls of {name}.\n")
    result = build(tmp_path, tmp_path / "store")
    assert {r.path: r.reason for r in result.rejections} == {
        "README.md": "has the same address as index.md: index.html",
        "guide/_index.md": "has the same address as guide/index.txt: guide/index.html",
        "guide/readme.md": "has the same address as guide/index.txt: guide/index.html",
    }


@pytest.mark.parametrize("change", ["missing", "empty", "all broken"])
def test_a_collection_that_lost_everything_does_not_replace_the_snapshot(tmp_path: Path, change: str) -> None:
    root = write_vault(tmp_path / "vault")
    before = build(root, tmp_path / "store").snapshot
    shutil.rmtree(root)
    if change != "missing":
        root.mkdir()
    if change == "all broken":
        for name in "abcdef":
            (root / f"{name}.md").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(MissingRoot if change == "missing" else EmptyCollection) as caught:
        build(root, tmp_path / "store")
    assert str(root) in caught.value.where and caught.value.hint
    assert Store(tmp_path / "store").current() == before


def test_an_empty_collection_may_be_published_on_request(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    result = build_snapshot(
        settings_for(tmp_path / "vault"),
        Store(tmp_path / "store"),
        PlainDriver(),
        Silent(),
        BuildOptions(allow_empty=True),
    )
    assert result.documents == 0
    with noctule.artifacts.query.open(Store(tmp_path / "store")) as searcher:
        assert searcher.search("anything").hits == ()


def test_passages_that_the_model_would_cut_off_are_refused_as_a_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="reads 256 tokens"):
        build(write_vault(tmp_path / "vault"), tmp_path / "store", chunk={"max_tokens": 300})


def _refuse(_: Embed) -> ExportedModel:
    raise NotExportable("as a test wants it")


def test_without_its_model_a_snapshot_still_answers_by_keyword_and_warns_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(write_vault(tmp_path / "vault"), tmp_path / "store")
    store = Store(tmp_path / "store")
    settings = settings_for(tmp_path / "vault")
    # Another model under the recorded name: one changed file is another model.
    from noctule.pipeline.embedding import model_files

    copy = tmp_path / "model"
    shutil.copytree(model_files.find(settings.embed).folder, copy)
    (copy / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {}}))
    other = parse(
        {
            "collections": {"vault": {"root": str(tmp_path / "vault")}},
            "embed": {"model": str(copy)},
            "engine": {"name": "inline"},
        },
        "test",
    )
    monkeypatch.setattr(query_model, "export", _refuse)  # else readers need no model on their machine
    build_snapshot(other, store, PlainDriver(), Silent())
    (copy / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "q: "}}))
    model_files._find.cache_clear()
    model_files._file_sha256.cache_clear()
    static = other.model_copy(update={"search": other.search.model_copy(update={"encoder": "static"})})
    with noctule.artifacts.query.open(store, static) as searcher:
        assert searcher.search("floats on water").warnings == ()  # term vectors need no model
    with noctule.artifacts.query.open(store, other) as searcher:
        with pytest.warns(RuntimeWarning, match="no semantic list"):
            answer = searcher.search("floats on water")
        assert answer.hits[0].doc_id == "vault:boats.md"
        assert len(answer.warnings) == 1
        assert searcher.search("apples").hits
        with pytest.raises(ModelMismatch):
            searcher.search("apples", mode="semantic")


def test_a_document_that_becomes_a_draft_leaves_the_snapshot_until_it_is_published_again(
    tmp_path: Path,
) -> None:
    """Also from what is remembered; links to it lead nowhere, and the collection may include drafts."""
    root, store = write_vault(tmp_path / "vault"), tmp_path / "store"
    first = build(root, store)
    (root / "boats.md").write_text("---\npublish: false\n---\n" + VAULT["boats.md"])
    for _ in range(2):
        second = build(root, store)
        assert (second.documents, second.skipped, second.quarantined) == (4, 2, 3)
        assert {r.path: r.reason for r in second.rejections}["boats.md"] == "is a draft (publish: false)"
    with Store(store).open() as snapshot:
        rows = snapshot.table("links", ["source_id", "target_id", "target"]).to_pylist()
        assert {row["target_id"] for row in rows if row["target"] == "Boats"} == {None}
        assert "vault:boats.md" not in snapshot.table("documents")["doc_id"].to_pylist()
        assert not any("sails" in row.lower() for row in snapshot.table("passages")["text"].to_pylist())
    with noctule.artifacts.query.open(Store(store)) as searcher:
        assert "vault:boats.md" not in [hit.doc_id for hit in searcher.search("a boat floats, sails").hits]
    drafts = build(root, store, collections={"vault": {"root": str(root), "drafts": True}})
    assert (drafts.documents, drafts.skipped) == (5, 1)
    (root / "boats.md").write_text(VAULT["boats.md"])
    assert build(root, store).snapshot == first.snapshot


def test_a_collection_of_drafts_alone_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ndraft: true\n---\ntext\n")
    with pytest.raises(EmptyCollection, match="1 of them drafts"):
        build(tmp_path, tmp_path / ".store")
