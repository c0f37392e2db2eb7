"""Lines of paragraphs in vaults of Obsidian and graphs of Logseq end where they are written to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.includes.source import read_source
from noctule.pipeline.includes.vaults.line_breaks import with_line_breaks
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile
from tests.processor_time import processor_seconds
from tests.site_builder import content_of


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("a\nb\nc\n\nd\n", "a  \nb  \nc\n\nd\n"),
        ("---\na: b\nc: d\n---\na\nb\n", "---\na: b\nc: d\n---\na  \nb\n"),
        ("> [!note] T\n> a\n> b\n", "> [!note] T\n> a  \n> b\n"),
        ("- a\n  b\n- c\n", "- a  \n  b\n- c\n"),
        ("a  \nb\\\nc<br>\nd\n", "a  \nb\\\nc<br>\nd\n"),
        ("A\nb\n===\n\n# C\nd\ne\n", "A\nb\n===\n\n# C\nd  \ne\n"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("```\na\nb\n```\n\n    c\n    d\n", "```\na\nb\n```\n\n    c\n    d\n"),
        ("$$\nx\ny\n$$\na\nb\n", "$$\nx\ny\n$$\na  \nb\n"),
        ("<div>\na\nb\n</div>\n", "<div>\na\nb\n</div>\n"),
    ],
)
def test_a_line_is_broken_where_markdown_would_join_it(text: str, broken: str) -> None:
    assert with_line_breaks(text) == broken


def test_what_is_hidden_between_lines_stays_hidden() -> None:
    page = content_of(with_line_breaks("a\n%% secret\nsecret %%\nb <!-- secret\nsecret -->\nc ^name\nd\n"))
    assert "secret" not in page
    assert "^name<" not in page
    assert page.count("<br") == 2


@pytest.mark.parametrize(
    ("files", "has_breaks"),
    [
        ({".obsidian/app.json": "{}"}, True),
        ({".obsidian/app.json": "["}, True),
        ({".obsidian/x": ""}, True),
        ({".obsidian/app.json": '{"strictLineBreaks": false}'}, True),
        ({".obsidian/app.json": '{"strictLineBreaks": true}'}, False),
        ({".obsidian/x": "", "mkdocs.yml": ""}, False),
        ({".obsidian/x": "", "_config.yml": ""}, False),
        ({"quartz.config.ts": ""}, False),
        ({"logseq/config.edn": "{}"}, True),
        ({}, False),
    ],
)
def test_the_folder_tells_whether_lines_break(
    files: dict[str, str], has_breaks: bool, tmp_path: Path
) -> None:
    for name, text in (files | {"a.md": "a\nb\n"}).items():
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text(text, "utf-8")
    found = FoundFile("c", "a.md", str(tmp_path / "vault/a.md"), 4)
    read = read_source(found, Collection(root=str(tmp_path / "vault"))).content.decode()
    assert read.endswith("a  \nb\n" if has_breaks else "a\nb\n")


@pytest.mark.parametrize(
    "piece", ["a\n", "> ", "- a\n", "$$\n", "[!", "* ", "| a\n", " \n", "[a]: b\n", "a[^1]:\n"]
)
def test_a_long_text_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    with_line_breaks((piece * 60_000)[:60_000])
    assert processor_seconds() - start < 6
