"""Broken links by the command: named with their line, without a store, and read as ``index`` reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.errors import SettingsError
from tests.command_line import CommandLine

PAGES = {
    "a.md": "# A\n\n[b](b.md), [part](b.md#part)\n\n[nowhere](none.md) ![x](no.png) [h](b.md#nope)\n",
    "b.md": "# B\n\n## Part\n\n[[A]] [[Gone]] ![y](y.png) [out](https://example.org)\n",
    "page.html": "<title>C</title><h1>C</h1><p>See <a href='a.md'>A</a> and <a href='d.html'>D</a>.</p>",
    "latin.md": "caf\xe9",
}
SETTINGS = '[collections.docs]\nroot = "docs"\n'


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).write_bytes(text.encode("latin-1" if name == "latin.md" else "utf-8"))
    (tmp_path / "docs" / "y.png").write_bytes(b"\x89PNG")
    return CommandLine(tmp_path, tmp_path / "store")


def test_links_that_lead_nowhere_are_named_with_their_line(line: CommandLine) -> None:
    found = line.run("links", "docs")
    assert found.code == 2
    assert found.out.splitlines() == [
        "docs/a.md:5: no such document: none.md",
        "docs/a.md:5: no such asset: no.png",
        "docs/a.md:5: no such heading: b.md#nope",
        "docs/b.md:5: no such document: Gone",
        "docs/page.html:1: no such document: d.html",
    ]
    assert "left out: docs:latin.md" in found.err and "broken: 5 of 11 links in 3 documents" in found.err
    assert not line.store.exists()


def test_settings_name_the_folders_and_json_holds_all(line: CommandLine) -> None:
    (line.folder / "noctule.toml").write_text(SETTINGS)
    found = line.run("links", "--json", "--warn")
    assert found.code == 0 and len(found.json["broken"]) == 5 and found.json["links"] == 11
    assert found.json["broken"][0] == {
        "path": "docs/a.md", "line": 5, "target": "none.md", "missing": "document",
    }  # fmt: skip


def test_links_to_former_addresses_are_not_broken(line: CommandLine) -> None:
    moved = '[site.redirects]\n"none.md" = "b.md"\n"d.html" = "https://example.org/"\n'
    (line.folder / "noctule.toml").write_text(f"{SETTINGS}{moved}")
    found = line.run("links", "--json", "--warn")
    assert [each["target"] for each in found.json["broken"]] == ["no.png", "b.md#nope", "Gone"]


def test_without_the_package_that_reads_a_file_the_command_says_what_to_install(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noctule.flows.report import broken_links
    from noctule.pipeline.settings.reading import parse

    def lacking(*_: object) -> None:
        raise ModuleNotFoundError(name="bs4")

    monkeypatch.setattr(broken_links, "parse", lacking)
    settings = parse({"collections": {"docs": {"root": str(line.folder / "docs")}}}, where="test")
    with pytest.raises(SettingsError, match="not installed: bs4"):
        broken_links.broken_links(settings)
