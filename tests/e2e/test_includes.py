"""A book whose code lies beside it: on its pages, in its search, and parsed again when the code changes."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import CommandLine

SETTINGS = """
[collections.book]
root = "src"
snippet_folders = ["."]
[static_encoder]
phrases = 20
spans = 20
passages = 50
"""


def test_included_code_is_on_the_page_and_in_search_and_its_change_is_noticed(tmp_path: Path) -> None:
    for folder in ("src", "listings"):
        (tmp_path / folder).mkdir()
    (tmp_path / "noctule.toml").write_text(SETTINGS)
    code = tmp_path / "listings/main.rs"
    code.write_text("// ANCHOR: loop\nlet vespertilio = hunt();\n// ANCHOR_END: loop\n")
    (tmp_path / "src/one.md").write_text(
        "# Hunting\n\n```rust\n{{#rustdoc_include ../listings/main.rs:loop}}\n```\n\n{{#include gone.md}}\n"
    )
    (tmp_path / "src/two.md").write_text("# Resting\n\nNothing is included here.\n")
    command = CommandLine(tmp_path, tmp_path / "store")

    def index() -> dict[str, object]:
        done = command.run("index", "--config", "noctule.toml", "--no-prefect", "--json")
        assert done.code == 0, done.err
        return dict(done.json)

    first = index()
    found = command.run("search", "vespertilio", "--json").json["hits"]
    assert found[0]["path"] == "one.md"
    report = command.run("report").out
    assert "line 7: 'gone.md' is not included: there is no such file" in " ".join(report.split())
    assert command.run("site", "--config", "noctule.toml", "--out", "site", "--no-prefect").code == 0
    page = (tmp_path / "site/one.html").read_text()
    assert "vespertilio" in page and "{{#" not in page and "ANCHOR" not in page

    assert index()["snapshot"] == first["snapshot"]
    code.write_text(code.read_text().replace("vespertilio", "plecotus"))
    second = index()
    assert second["snapshot"] != first["snapshot"]
    assert command.run("search", "plecotus", "--json").json["hits"][0]["path"] == "one.md"
