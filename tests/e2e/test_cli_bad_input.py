"""Bad input, a damaged store and a second run: each is told in one shape, and the current snapshot stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.disk import locks
from noctule.artifacts.disk.layout import CURRENT, FILES, LOCK, MANIFEST, SNAPSHOTS
from tests.command_line import CommandLine
from tests.e2e.conftest import Built


@pytest.fixture
def command(built: Built, tmp_path: Path) -> CommandLine:
    return built.copied_to(tmp_path)


def _stays(command: CommandLine, built: Built) -> None:
    listed = command.run("snapshots", "--json").json["snapshots"]
    assert [row["snapshot"] for row in listed if row["current"]] == [built.printed["snapshot"]]


def test_a_missing_folder_is_named_before_anything_is_written(command: CommandLine, built: Built) -> None:
    refused = command.run("index", "nowhere", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "MissingRoot")
    assert "nowhere" in refused.error["where"]
    assert refused.out == ""
    assert not (command.store / "prefect").exists()
    _stays(command, built)


def test_an_empty_collection_never_replaces_a_snapshot(command: CommandLine, built: Built) -> None:
    (command.folder / "empty").mkdir()
    refused = command.run("index", "empty", "--no-prefect", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "EmptyCollection")
    assert "--allow-empty" in refused.error["hint"]
    _stays(command, built)


def test_an_empty_collection_is_published_when_allowed(command: CommandLine) -> None:
    (command.folder / "empty").mkdir()
    done = command.run("index", "empty", "--no-prefect", "--json", "--allow-empty")
    assert (done.code, done.json["documents"]) == (0, 0)
    assert command.run("check", "--deep").code == 0


def test_every_wrong_key_of_a_settings_file_is_named_with_the_file(command: CommandLine) -> None:
    (command.folder / "noctule.toml").write_text("[chunk]\nmax_tokns = 3\n[serch]\n")
    refused = command.run("index", ".", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "SettingsError")
    assert "chunk.max_tokns: unknown key (did you mean max_tokens?)" in refused.error["what"]
    assert "serch: unknown key (did you mean search?)" in refused.error["what"]
    assert refused.error["where"].endswith("noctule.toml")


@pytest.mark.parametrize(
    ("flag", "valid"),
    [("--mode", "'hybrid', 'keyword', 'semantic', 'code'"), ("--encoder", "'full', 'static'")],
)
def test_a_wrong_value_is_told_with_the_right_ones(command: CommandLine, flag: str, valid: str) -> None:
    refused = command.run("search", "owl", flag, "fuzzy", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "UsageError")
    assert refused.error["what"] == f"Invalid value for '{flag}': 'fuzzy' is not one of {valid}."


def test_a_wrong_choice_of_shards_is_told_under_its_flag(command: CommandLine) -> None:
    refused = command.run("serve", "--shards", "abc", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "SettingsError")
    assert refused.error["where"] == "noctule serve --shards"
    assert "numbers and ranges" in refused.error["what"]


@pytest.mark.parametrize("name", ["index", "links"])
def test_no_folder_says_what_to_do(command: CommandLine, name: str) -> None:
    refused = command.run(name)
    assert refused.code == 2
    lines = refused.err.split("\n")
    assert lines[0].startswith("error: no folder of documents is named")
    assert lines[1].startswith("  where: ")
    assert "noctule init" in lines[2]


def test_wrong_flags_have_the_shape_of_every_error(command: CommandLine) -> None:
    for arguments in (("search",), ("index", "--bogus"), ("nonsense",), ("search", "x", "--mode", "psychic")):
        refused = command.run(*arguments, "--json")
        assert (refused.code, refused.error["kind"], refused.out) == (2, "UsageError", "")


def test_a_store_without_a_snapshot_says_how_to_make_one(tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    for arguments in (("search", "x"), ("check",), ("report",), ("rollback",), ("site",)):
        refused = command.run(*arguments, "--json")
        assert (refused.code, refused.error["kind"]) == (3, "NoSnapshot")
        assert "noctule index" in refused.error["hint"]


@pytest.mark.parametrize("name", [FILES[0], "vectors.faiss", MANIFEST])
def test_one_flipped_bit_is_found_and_the_file_named(command: CommandLine, built: Built, name: str) -> None:
    path = command.store / SNAPSHOTS / built.printed["snapshot"] / name
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for arguments in (("search", "owl", "--mode", "keyword"), ("check", "--deep")):
        refused = command.run(*arguments, "--json")
        assert (refused.code, refused.error["kind"], refused.out) == (3, "DamagedSnapshot", "")
        assert refused.error["where"].endswith(name)
        assert "rollback" in refused.error["hint"]


@pytest.mark.parametrize("garbage", [b"", b"garbage\n", b'{"id": "../../etc", "generation": 1}'])
def test_a_garbage_pointer_is_refused_and_rollback_mends_it(
    command: CommandLine, built: Built, garbage: bytes
) -> None:
    (command.store / CURRENT).write_bytes(garbage)
    refused = command.run("search", "owl", "--mode", "keyword", "--json")
    assert (refused.code, refused.error["kind"]) == (3, "DamagedSnapshot")
    assert built.printed["snapshot"] in refused.error["hint"]
    assert command.run("rollback", "--json").json == {"snapshot": built.printed["snapshot"]}
    assert command.run("search", "owl", "--mode", "keyword", "--json").json["hits"]


def test_a_second_run_ends_at_once_and_says_who_holds_the_lock(command: CommandLine, built: Built) -> None:
    with locks.exclusive(command.store / LOCK, "a test"):
        for arguments in (("index", str(built.vault)), ("prune",), ("rollback",)):
            refused = command.run(*arguments, "--json", timeout_s=30)
            assert (refused.code, refused.error["kind"]) == (4, "StoreBusy")
            assert "a test" in refused.error["what"]
        assert command.run("search", "owl", "--mode", "keyword").code == 0


def test_a_second_flow_ends_at_once_too(command: CommandLine, built: Built) -> None:
    with locks.exclusive(command.store / "prefect.lock", "a flow"):
        refused = command.run("index", str(built.vault), "--from", "parse", "--json", timeout_s=60)
    assert (refused.code, refused.error["kind"]) == (4, "StoreBusy")


def test_a_bug_is_said_to_be_one_and_its_traceback_kept(command: CommandLine) -> None:
    broken = command.folder / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import json, noctule.artifacts.store.store\n"
        "def snapshots(self): raise ZeroDivisionError('for a test')\n"
        "noctule.artifacts.store.store.Store.snapshots = snapshots\n"
    )
    strange = CommandLine(
        command.folder, command.store, {"PYTHONPATH": str(broken), "TMPDIR": str(command.folder)}
    )
    failed = strange.run("snapshots", "--json")
    assert (failed.code, failed.error["kind"]) == (1, "Bug")
    assert "ZeroDivisionError: for a test" in failed.error["what"]
    assert "ZeroDivisionError" in Path(failed.error["where"]).read_text()
    assert "Traceback" not in failed.err
    assert "Traceback" in strange.run("snapshots", "--debug").err
