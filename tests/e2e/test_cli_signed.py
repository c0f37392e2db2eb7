"""Checks of a copy: signed ones are read by who trusts the key, quick ones say what they did not look at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import CommandLine

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def _key(folder: Path, name: str) -> Path:
    """Make a key, and a file that allows it; return the key."""
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text()
    (folder / f"{name}.allowed").write_text(f'builds@example.org namespaces="noctule-snapshot" {public}')
    return key


def test_a_signed_copy_is_read_by_who_trusts_its_key(tmp_path: Path) -> None:
    docs, target = tmp_path / "docs", tmp_path / "target"
    docs.mkdir()
    (docs / "a.md").write_text("# One\n\nA page about bats.\n")
    key, _ = _key(tmp_path, "key"), _key(tmp_path, "other")
    ours = CommandLine(tmp_path, tmp_path / "store")
    assert ours.run("index", str(docs), "--no-prefect").code == 0
    assert ours.run("publish", "--to", str(target), "--sign", str(key)).code == 0

    copy = CommandLine(tmp_path, target)
    checked = copy.run("check", "--json", "--require-signed", str(tmp_path / "key.allowed"))
    assert (checked.code, checked.json["signed_by"], checked.json["deep"]) == (0, "builds@example.org", True)
    found = copy.run("search", "bats", "--json", "--require-signed", str(tmp_path / "key.allowed"))
    assert [hit["title"] for hit in found.json["hits"]] == ["One"]
    for command in (("check",), ("search", "bats")):
        refused = copy.run(*command, "--json", "--require-signed", str(tmp_path / "other.allowed"))
        assert (refused.code, refused.error["kind"]) == (3, "NotSigned")
    unsigned = ours.run("check", "--json", "--require-signed", str(tmp_path / "key.allowed"))
    assert unsigned.code == 3


def test_a_quick_check_says_what_it_did_not_look_at(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n\nA page about bats.\n")
    command = CommandLine(tmp_path, tmp_path / "store")
    assert command.run("index", str(tmp_path / "docs"), "--no-prefect").code == 0
    table = next((tmp_path / "store").glob("snapshots/*/passages.parquet"))
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.chmod(0o644)
    table.write_bytes(content)
    quick = command.run("check", "--quick")
    assert quick.code == 0 and "no bytes were read" in quick.out
    assert command.run("check").code == 3
    back = command.run("rollback", "--json")
    assert (back.code, back.error["kind"]) == (2, "NoEarlierSnapshot")
