"""Queries of Obsidian's plugins are left out with a remark; fields of Dataview are shown as key and value."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context, Project
from noctule.pipeline.includes.tool_folders import Tool, tools_of
from tests.processor_time import processor_seconds


def expanded(text: str, tool: Tool | None = "obsidian") -> ExpandedText:
    def find(_target: str, _included_by: str) -> IncludedFile:
        raise NotIncluded("there is no such file")

    context = Context(Project("/vault", frozenset({tool} if tool else ())), path="/vault/note.md")
    return expand(text, "/vault/note.md", find, 1_000_000, context)


@pytest.mark.parametrize("kind", ["dataview", "dataviewjs", "tasks", "query", "base", "datacorejsx"])
def test_a_block_that_only_obsidian_can_answer_is_left_out_and_named_by_its_line(kind: str) -> None:
    found = expanded(f"Before.\n\n```{kind}\nTABLE x\n```\n\nAfter.\n")
    assert found.text.split() == ["Before.", "After."]
    assert found.notes == (
        f"line 3: the block {kind} is a query that only Obsidian can answer: it is left out",
    )


def test_elsewhere_a_block_of_queries_is_an_example() -> None:
    text = "```query\n{ users }\n```\n\n```tasks\nx\n```\n\nSet `= 1` and <% x %>.\n"
    assert expanded(text, None) == ExpandedText(text, ())


@pytest.mark.parametrize(
    "query", ["`= this.file.name`", "`$= dv.current().x`", '`= dateformat(this.day, "d")`']
)
@pytest.mark.parametrize("tool", ["obsidian", None])
def test_a_query_in_a_line_is_left_out(query: str, tool: Tool | None) -> None:
    found = expanded(f"This is {query}, now.", tool)
    assert found.text == "This is , now."
    assert "only Obsidian can answer" in found.notes[0]


def test_a_template_of_a_vault_is_left_out_and_one_in_code_stays() -> None:
    assert expanded("a <% tp.date.now() %> b `<% x %>`").text == "a  b `<% x %>`"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("author:: Ada [[x]]\nyear:: 1843", "**author:** Ada [[x]]  \n**year:** 1843  "),
        ("- **Due Date**:: now", "- **Due Date:** now  "),
        ("- [ ] mow (due:: [[2026-01-01]])", "- [ ] mow [[2026-01-01]]"),
        ("Rated [rating:: 9] of 10", "Rated **rating:** 9 of 10"),
        ("- item\n\n    due:: now", "- item\n\n    **due:** now  "),
        ("!!! note\n\n    due:: now", "!!! note\n\n    **due:** now  "),
        ("a\n    due:: now", "a\n    **due:** now  "),
    ],
)
def test_a_field_is_its_key_and_its_value(written: str, shown: str) -> None:
    assert expanded(written, None).text == shown


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: "[a:: b]"\n---\nx',
        "`a:: b` and `[a:: b]`",
        "```\na:: b\n```",
        "std::vec",
        "::: note\nx\n:::",
        "An example:\n\n    a:: b\n\n    [a:: b] and <% x %> and `= this.x`",
        "\ta:: b\n\nText.",
        "- item\n\n      a:: b",
        "> quoted\n>\n>     a:: b",
        "Text.\n\n    ```dataview\n    TABLE x\n    ```\n\nText.",
    ],
)
def test_what_is_no_field_stays(text: str) -> None:
    assert expanded(text).text == text


@pytest.mark.parametrize(
    "piece", ["[a:: ", "(a:: [[", "a:: b\n", "`= a", "<% ", "> - ", "a b ", "```query\n"]
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded(":: " + (piece * 80_000)[:80_000])
    assert processor_seconds() - start < 5


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[[docs|dendron.topic.tags#colors]]", "[[dendron.topic.tags#colors|docs]]"),
        ("![[|dendron://vault/a.b]]", "![[dendron://vault/a.b|]]"),
        (r"| [[docs\|a.b]] |", r"| [[a.b\|docs]] |"),
        ("[[a.b]] and `[[docs|a.b]]`", "[[a.b]] and `[[docs|a.b]]`"),
    ],
)
def test_a_link_of_dendron_has_its_text_first(written: str, read: str) -> None:
    assert expanded(written, "dendron").text == read
    assert expanded(written, "obsidian").text == written


def test_the_content_of_quartz_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    assert tools_of([tmp_path / "content"]) == frozenset()
    (tmp_path / "quartz.config.ts").write_text("")
    assert tools_of([tmp_path / "content"]) == {"obsidian", "quartz"}


def test_settings_of_another_program_make_no_folder_of_hugo(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("server:\n  baseURL: https://e.org/\n")
    assert tools_of([tmp_path]) == frozenset()
    (tmp_path / "config.yaml").write_text("baseURL: https://e.org/\n")
    assert tools_of([tmp_path]) == {"hugo"}


DRAWING = """---
excalidraw-plugin: parsed
tags: [excalidraw]
---
A plan of mine.

## Drawing

By hand.

==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== You can decompress it.

# Excalidraw Data

## Text Elements
Door 1.2 m ^abc12345

[[Shed]] ^def67890

## Embedded Files
5f1c: [[photo.png]]

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATL
```
%%
"""


@pytest.mark.parametrize("tool", ["obsidian", None])
def test_of_a_drawing_only_what_people_wrote_is_shown(tool: Tool | None) -> None:
    found = expanded(DRAWING, tool)
    texts = "A plan of mine. ## Drawing By hand. Door 1.2 m ^abc12345 [[Shed]] ^def67890"
    assert " ".join(found.text.partition("---\n")[2].partition("---\n")[2].split()) == texts
    assert found.notes == ("line 20: the drawing is Excalidraw's and only its texts are shown",)
    note = DRAWING.replace("excalidraw-plugin: parsed\n", "")
    assert expanded(note, tool).text == note
