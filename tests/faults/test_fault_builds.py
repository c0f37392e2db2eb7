"""Faults of a build: rows 13, 15, 28, 29, 32, 33, 37 and 38 of docs/store/fault-matrix.md, where no other
test proves them.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.flows.run.plain import PlainDriver
from noctule.pipeline.communities.communities import find_clusters, link_graph, named
from noctule.pipeline.embedding.model_files import _file_sha256, _find
from noctule.pipeline.errors import ArtifactError, ModelUnavailable, WriteFailed
from noctule.pipeline.identity import doc_id
from noctule.pipeline.model import ResolvedLink
from noctule.pipeline.settings.settings import Communities, Embed
from tests.command_line import REPOSITORY, CommandLine, write_vault
from tests.crash.builder import build_edition, write_edition
from tests.crash.failing_disk import FailingDisk
from tests.crash.power_cut import using
from tests.repetitions import ALL, LONG_S, Part, in_parts, torture_only
from tests.sentence_model_builder import small_model, small_model_table
from tests.snapshot_builder import publish_tiny_snapshot

# How many calls of a whole build are refused, one a build; all of them for `make torture`.
EVERY = 1 if ALL else 41


def edition_of(tmp_path: Path, edition: int) -> Path:
    return write_edition(tmp_path / "vault", edition)


def test_two_files_of_the_same_content_are_two_documents_and_encoded_once(tmp_path: Path) -> None:
    vault = edition_of(tmp_path, 0)
    before = build_edition(Store(tmp_path / "store"), vault, PlainDriver())
    for name in ("copy.md", "fruit/copy.md"):
        shutil.copyfile(vault / "boats.md", vault / name)
    after = build_edition(Store(tmp_path / "store"), vault, PlainDriver())
    with Store(tmp_path / "store").open() as snapshot:
        rows = snapshot.table("passages", ["passage_id", "content_hash", "vector_row"]).to_pylist()
    assert len({row["passage_id"] for row in rows}) == len(rows) == after.passages > before.passages
    same = [row for row in rows if "boats.md" in row["passage_id"] or "copy.md" in row["passage_id"]]
    assert len({row["vector_row"] for row in same}) == len({row["content_hash"] for row in same}) < len(same)


# Runs in every Python process of the command; takes the place of a native parser with a fault in it.
_FAULTY = """
import os, signal
import noctule.pipeline.parse as parser
really = parser.decoded
def decode(content, where, encoding=""):
    if b"CRASH" in content:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"STACK" in content:
        return decode(content, where) + ""
    if b"MEMORY" in content:
        raise MemoryError
    return really(content, where, encoding)
parser.decoded = decode
"""


@torture_only
def test_a_parser_that_crashes_costs_its_document_and_not_the_build(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault")
    for word in ("CRASH", "STACK", "MEMORY"):
        (vault / f"{word.lower()}.md").write_text(f"# {word}\n")
    (tmp_path / "noctule.toml").write_text(small_model_table())
    (tmp_path / "faulty").mkdir()
    (tmp_path / "faulty" / "sitecustomize.py").write_text(_FAULTY)
    path = os.pathsep.join([str(tmp_path / "faulty"), str(REPOSITORY), str(REPOSITORY / "site")])
    command = CommandLine(tmp_path, tmp_path / "store", {"PYTHONPATH": path})
    done = command.run("index", str(vault), "--no-prefect", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"] == 4
    said = command.run("report", "--json").json
    reasons = {row["path"]: row["reason"] for row in said["rejected"]}
    assert reasons["crash.md"] == "the parser crashed (signal 11)"
    assert "nested too deeply" in reasons["stack.md"]
    assert reasons["memory.md"] == "took more memory than there is"
    # What may heal by itself is not remembered; a crash of the parser is, until something changes.
    sound = CommandLine(tmp_path, tmp_path / "store")
    assert sound.run("index", str(vault), "--no-prefect", "--json").json["documents"] == 5
    again = sound.run("index", str(vault), "--no-prefect", "--json", "--from", "parse")
    assert again.json["documents"] == 7, again.err


@torture_only
def test_a_build_that_runs_out_of_memory_says_so_and_leaves_the_snapshot(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault")
    (tmp_path / "noctule.toml").write_text(small_model_table())
    command = CommandLine(tmp_path, tmp_path / "store")
    before = command.run("index", str(vault), "--no-prefect", "--json").json["snapshot"]
    (vault / "new.md").write_text("# New\n\nSomething to encode.\n")
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "sitecustomize.py").write_text(
        "import noctule.pipeline.embedding.encoder as embed\n"
        "def full(*_, **__): raise MemoryError\n"
        "embed.TransformerEncoder.encode = full\n"
    )
    path = os.pathsep.join([str(tmp_path / "small"), str(REPOSITORY), str(REPOSITORY / "site")])
    small = CommandLine(tmp_path, tmp_path / "store", {"PYTHONPATH": path})
    done = small.run("index", str(vault), "--no-prefect", "--json")
    assert (done.code, done.error["kind"]) == (2, "OutOfMemory")
    assert "embed.batch_tokens" in done.error["hint"]
    assert command.run("check", "--deep", "--json").json["snapshot"] == before


@in_parts
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(("code", "for_ever"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_whatever_call_of_a_whole_build_fails_the_current_snapshot_is_whole(
    code: int, for_ever: bool, part: Part, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    old = build_edition(store, edition_of(tmp_path, 0), PlainDriver()).snapshot
    failed: set[str] = set()
    for nth in part.of(range(1, 100_000, EVERY)):
        vault, disk, error = edition_of(tmp_path, nth), FailingDisk(nth, code, for_ever), None
        with using(disk):
            try:
                built = build_edition(store, vault, PlainDriver()).snapshot
                assert store.current() == built, f"call {nth} failed in silence"
            except WriteFailed as failure:
                error = failure
        if error is not None:
            assert os.strerror(code) in error.what and str(store.root) in error.where and error.hint
            failed.update(disk.refused[:1])
        if error is not None and "is current" not in error.what:
            assert store.current() == old, f"call {nth} failed, and the new snapshot is current"
        old = store.current() or old
        with store.lock("the next run"):
            assert not list(store.root.rglob(".staging-*"))
        with store.open() as snapshot:
            assert snapshot.id == old
        if not disk.refused:
            break
        if EVERY > 1 and nth > 6 * EVERY:
            break
    assert len(failed) >= 2
    check_deep(store.path_of(old), old)


def test_the_order_of_snapshots_is_that_of_generations_whatever_the_clock_says(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ids = []
    for edition in range(3):
        ids.append(publish_tiny_snapshot(store, edition).snapshot_id)
        # The clock jumps back a year before each publish, and ahead for the files of the first.
        for path in [*store.root.rglob("*")]:
            os.utime(path, (10**9 - edition * 3 * 10**7,) * 2)
    assert [info.snapshot_id for info in store.snapshots()] == ids[::-1]
    assert [info.generation for info in store.snapshots()] == [3, 2, 1]
    assert store.rollback() == ids[1]


@pytest.fixture
def model() -> Path:
    return Path(small_model())


def _weights(model: Path, value: Callable[[np.ndarray], np.ndarray]) -> None:
    from safetensors.numpy import load_file, save_file

    tensors = {name: value(each) for name, each in load_file(model / "model.safetensors").items()}
    save_file(tensors, model / "model.safetensors", metadata={"format": "pt"})


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


DAMAGES: dict[str, Callable[[Path], None]] = {
    "weights cut": lambda model: _cut(model / "model.safetensors"),
    "weights gone": lambda model: (model / "model.safetensors").unlink(),
    "weights pickled": lambda model: (model / "model.safetensors").rename(model / "pytorch_model.bin"),
    "tokenizer cut": lambda model: _cut(model / "tokenizer.json"),
    "configuration cut": lambda model: (model / "config.json").write_text("{"),
    "not a number": lambda model: _weights(model, lambda each: np.full_like(each, np.nan)),
    "zero": lambda model: _weights(model, np.zeros_like),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_refused_and_the_snapshot_stays(damage: str, model: Path, tmp_path: Path) -> None:
    store, copy = Store(tmp_path / "store"), tmp_path / "model"
    before = publish_tiny_snapshot(store).snapshot_id
    shutil.copytree(model, copy)
    DAMAGES[damage](copy)
    _find.cache_clear()
    _file_sha256.cache_clear()
    expected = ArtifactError if damage in ("not a number", "zero") else ModelUnavailable
    with pytest.raises(expected) as caught:
        build_edition(store, edition_of(tmp_path, 0), PlainDriver(), model=str(copy))
    assert caught.value.hint and (isinstance(caught.value, ArtifactError) or str(copy) in caught.value.where)
    assert store.current() == before


def test_a_model_that_brings_code_is_refused_and_its_code_not_run(model: Path, tmp_path: Path) -> None:
    from noctule.pipeline.embedding.encoder import load_encoder

    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    (copy / "evil.py").write_text(f"open({str(tmp_path / 'was run')!r}, 'w')\nclass Evil: pass\n")
    modules = (copy / "modules.json").read_text()
    first = modules.index('"sentence_transformers.')
    (copy / "modules.json").write_text(
        modules[:first] + '"evil.Evil"' + modules[modules.index('"', first + 1) + 1 :]
    )
    with pytest.raises(ModelUnavailable, match="needs code from outside sentence-transformers"):
        load_encoder(Embed(model=str(copy)))
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_graph_of_hardly_anything_has_communities_or_none(count: int) -> None:
    names = [doc_id("c", name) for name in ("a", "b")[:count]]
    links = [ResolvedLink(one, other, "", "link", "x", "", 0, "resolved") for one in names for other in names]
    graph, settings = link_graph(names, links), Communities()
    clusters = find_clusters(graph, settings)
    labels = dict.fromkeys(clusters.members, ("word", "word"))
    found = named(clusters, graph, labels)
    numbers = [community.community_id for community in found.communities]
    assert numbers == sorted(set(numbers)) and set(numbers) == set(found.of.values())
    assert all(community.label and community.size > 1 for community in found.communities)
    assert set(found.of) <= set(names)
    again = link_graph(names[::-1], links[::-1])
    assert named(find_clusters(again, settings), again, labels) == found


def test_a_prefect_server_that_hangs_is_given_up_within_its_limit(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "uvicorn.py").write_text("import time\ntime.sleep(600)\n")
    program = (
        "import sys; from pathlib import Path; from noctule.flows.prefect_server.private import prefect_api\n"
        "from noctule.pipeline.errors import PrefectUnavailable\n"
        "try:\n    with prefect_api(Path(sys.argv[1]), start_limit_s=2): print('it started')\n"
        "except PrefectUnavailable as error: print(error.what, error.hint)\n"
    )
    history = tmp_path / "store" / "prefect" / "prefect.db"
    history.parent.mkdir(parents=True)
    history.write_bytes(b"the runs of a year")
    path = os.pathsep.join([str(tmp_path / "broken"), str(REPOSITORY), str(REPOSITORY / "site")])
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")],
        env={k: v for k, v in os.environ.items() if not k.startswith("PREFECT")} | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "did not answer within 2 s" in done.stdout and "--no-prefect" in done.stdout, done.stdout
    assert time.monotonic() - began < 60
    assert history.read_bytes() == b"the runs of a year"
