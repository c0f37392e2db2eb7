"""``index --dry-run`` says what a run would do, and does none of it."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import CommandLine, write_vault
from tests.e2e.conftest import Built


def _state(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_files_against_the_current_snapshot_by_their_content(built: Built, tmp_path: Path) -> None:
    command, vault = built.copied_to(tmp_path), write_vault(tmp_path / "vault")
    (vault / "new.md").write_text("# New\n\nA page that was not there.\n")
    (vault / "install.md").write_text("# Install\n\nOther words.\n")
    (vault / "guide" / "cancel.md").rename(vault / "stop.md")
    (vault / "guide" / "owls.md").unlink()
    (vault / "index.md").touch()
    before = _state(command.store)
    done = command.run("index", "vault", "--dry-run", "--json")
    assert done.code == 0, done.err
    changes = done.json["collections"][0]
    assert (changes["new"], changes["changed"]) == (["new.md"], ["install.md"])
    assert (changes["moved"], changes["removed"]) == (["stop.md"], ["guide/owls.md"])
    assert (changes["unchanged"], changes["refused"]) == (1, 1)
    assert done.json["time"]["runs"] == 1
    assert 0 < done.json["time"]["least"] <= done.json["time"]["seconds"] <= done.json["time"]["most"]
    assert _state(command.store) == before


def test_a_change_of_settings_is_said_before_and_by_the_run_itself(built: Built, tmp_path: Path) -> None:
    command, vault = built.copied_to(tmp_path), write_vault(tmp_path / "vault")
    (tmp_path / "noctule.toml").write_text(
        f'[collections.vault]\nroot = "{vault}"\n[lexical]\nk1 = 2.0\n[communities]\nseed = 3\n'
    )
    planned = command.run("index", "--dry-run")
    assert planned.code == 0, planned.err
    lines = [line for line in planned.out.split("\n") if line.endswith(" rebuilt")]
    assert [line.split(" ")[0] for line in lines] == ["communities.seed", "lexical.k1"]
    assert "Nothing was written." in planned.out
    run = command.run("index", "--no-prefect")
    assert run.code == 0, run.err
    said = [line for line in run.err.split("\n") if line.endswith(" rebuilt")]
    assert [line.split(" ", 1)[1] for line in said] == lines


def test_it_tells_that_the_shrink_guard_would_stop_the_run(built: Built, tmp_path: Path) -> None:
    command, vault = built.copied_to(tmp_path), write_vault(tmp_path / "vault")
    for name in ("install.md", "guide/owls.md"):
        (vault / name).unlink()
    told = command.run("index", "vault", "--dry-run")
    assert (
        "vault would fail, so the run would stop: collection 'vault' would lose 2 of its 4 documents"
        in told.out
    ), told.err
    accepted = command.run("index", "vault", "--dry-run", "--accept-shrink", "--json").json
    assert (accepted["stopped"], accepted["stops"]) == ({}, False)
    for path in vault.rglob("*.*"):
        path.unlink()
    emptied = command.run("index", "vault", "--dry-run", "--json").json
    assert "holds no file" in emptied["stopped"]["vault"] and emptied["stops"]


def test_it_refuses_to_begin_where_the_run_would_refuse(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    refused = CommandLine(tmp_path, tmp_path / "store").run(
        "index", "vault", "--from", "links", "--dry-run", "--json"
    )
    assert (refused.code, refused.error["what"]) == (2, "vault: not in the parse cache")


def test_it_tells_what_a_run_that_begins_later_takes(built: Built, tmp_path: Path) -> None:
    command = built.copied_to(tmp_path)
    write_vault(tmp_path / "vault")
    embedded, linked = (
        command.run("index", "vault", "--from", start, "--dry-run", "--json").json
        for start in ("embed", "links")
    )
    assert embedded["texts"] > linked["texts"] == 0
    assert (embedded["time"]["kind"], linked["collections"]) == ("full", [])
    assert (
        "No file would be read, from links on"
        in command.run("index", "vault", "--from", "links", "--dry-run").out
    )
