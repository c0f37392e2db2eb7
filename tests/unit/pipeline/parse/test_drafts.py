"""A document that says that it is not published is not, in each format, however its front matter is written:
it is left out, or quarantined with the reason where the block cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from noctule.pipeline.errors import DraftDocument, RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.includes.front_matter_blocks import find_block
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def read(content: str, path: str = "a.md") -> Document:
    given = content.encode()
    return parse(Source("c", path, given, sha256_hex(given)), Collection(root="unused"))


def notebook(source: str, kind: str, *tags: str) -> str:
    first = {"cell_type": kind, "metadata": {"tags": tags}, "source": source}
    return json.dumps({"nbformat": 4, "cells": [first, {"cell_type": "markdown", "source": "Body."}]})


FORMATS: dict[str, tuple[str, Callable[[str], str]]] = {
    "markdown": ("a.md", str),
    "MDX": ("a.mdx", str),
    "HTML": ("a.html", str),
    "reStructuredText": ("a.rst", str),
    "text": ("a.txt", str),
    "notebook, raw": ("a.ipynb", lambda text: notebook(text, "raw")),
    "notebook, markdown": ("a.ipynb", lambda text: notebook(text, "markdown")),
    "notebook, unseen": ("a.ipynb", lambda text: notebook(text, "raw", "remove-cell")),
}
YAML = (
    "draft: true", '"draft": true', "'draft': true", "DRAFT: true", "draft : true", "draft:\ttrue",
    'draft: "true"', "draft: on", "draft: 1", "draft: 2", "draft: 1.0", "draft: t", "draft: y",
    "draft: true # not yet", "draft:\n  true", "draft: >-\n  true", "draft: !!bool true", "!!str draft: true",
    '"dr\\u0061ft": true', '"dr\\x61ft": true', '"\\U00000064raft": true', "? draft\n: true",
    "? draft # why\n: true", '? "dr\\\n  aft"\n: true', "? >-\n  draft\n: true", "{draft: true}",
    '{"dr\\u0061ft": true}', "x: &x {draft: true}\n<<: *x", "<<: &x {draft: true}", "k: &k draft\n*k : true",
    "&k draft: true", "!!binary ZHJhZnQ=: true", "draft: true\ndraft: false", "draft: false\ndraft: true",
    "# a remark\ndraft: true", "# a remark\n\ndraft: true", "publish: off", "publish: 0", "published: n",
    'published: "0"', "headless: t", 'build: {render: "no"}', '"build": {"r\\u0065nder": "never"}',
)  # fmt: skip
TOML = (
    "draft = true", '"draft" = true', "'draft' = true", '"dr\\u0061ft" = true', "DRAFT=true", 'draft = "t"',
    "publish = false", 'build = {render = "never"}', 'build.render = "never"',
    '[build]\n"r\\u0065nder" = "never"',
)  # fmt: skip
JSON = (
    '"draft": true', '"dr\\u0061ft": true', '"Draft" : true', '"\\u0064raft":true', '"draft": 1.0',
    '"publish": false', '"build": {"r\\u0065nder": "never"}', '"draft": true, "draft": false',
    '"title": "x",\n"draft": true',
)  # fmt: skip
BLOCKS = {
    "YAML": ("---\n{}\n---\nBody.\n", YAML),
    "YAML that ends in dots": ("---\n{}\n...\nBody.\n", YAML),
    "YAML that cannot be read": ("---\n{}\na: [\n---\nBody.\n", YAML),
    "YAML that is never closed": ("---\n{}\n\nBody.\n", YAML),
    "YAML after two marks": ("\ufeff\ufeff---\n{}\n---\nBody.\n", YAML),
    "YAML after what is not seen": ("\n\u200b---\n{}\n---\nBody.\n", YAML),
    "TOML": ("+++\n{}\n+++\nBody.\n", TOML),
    "TOML between dashes": ("---toml\n{}\n---\nBody.\n", TOML),
    "TOML that cannot be read": ("+++\n{}\na = [\n+++\nBody.\n", TOML),
    "TOML that is never closed": ("+++\n{}\n\nBody.\n", TOML),
    "JSON": ("{{{}}}\nBody.\n", JSON),
    "JSON that cannot be read": ('{{{}, "a": [}}\nBody.\n', JSON),
    "JSON that is never closed": ("{{{}\n\nBody.\n", JSON),
    "JSON after two marks": ("\ufeff\ufeff{{{}}}\nBody.\n", JSON),
    "JSON between dashes": ("---\n{{{}}}\n---\nBody.\n", JSON),
    "JSON between dashes that cannot be read": ('---\n{{{} "a": [}}\n---\nBody.\n', JSON),
    "JSON between dashes that is never closed": ("---\n{{{}\n\nBody.\n", JSON),
    "JSON that is named": ("---json\n{{{}}}\n---\nBody.\n", JSON),
    "what programs write": ("---js\n{{{}}}\n---\nBody.\n", ("draft: true", "title: f(),\ndraft: true")),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("block", BLOCKS)
def test_no_draft_is_published_however_it_is_written(block: str, kind: str) -> None:
    (path, given), (around, heads) = FORMATS[kind], BLOCKS[block]
    for head in heads:
        with pytest.raises((DraftDocument, RejectedDocument), match=r"draft|front matter"):
            pytest.fail(f"{head!r} is published: {read(given(around.format(head)), path).text!r}")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "head",
    [
        "draft: false",
        "draft: 0",
        "draft: 'off'",
        "draft: f",
        "publish: 1",
        "published: y",
        "title: '\\u0061'",
    ],
)
def test_what_is_no_draft_is_published_without_its_front_matter(head: str, kind: str) -> None:
    path, given = FORMATS[kind]
    document = read(given(f"---\n{head}\ntags: [owl]\n---\nBody.\n"), path)
    assert document.tags == ("owl",) and document.blocks[0].text.strip("\n") == "Body."


def test_what_is_written_after_a_block_in_an_unseen_cell_stays_unseen() -> None:
    source = "---\ntags: [owl]\n---\nSecret.\n"
    document = read(notebook(source, "raw", "remove-cell"), "a.ipynb")
    assert document.tags == ("owl",) and "Secret" not in document.text
    assert "Secret" not in read(notebook("---\n\nSecret.\n", "raw", "remove-cell"), "a.ipynb").text


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("---\nFrom: owl\nTo: bat\n\nText.\n", "a.txt"),
        ("---\n\n# The list\n\nIndex: none\n", "a.md"),
        ("---\n\n# A draft\n\nDraft: a text that is not ready\n", "a.md"),
        ("---js\nlet a\n---\n\nText.\n", "a.md"),
        ("---\nA\n---\n\nText.\n", "a.rst"),
    ],
)
def test_what_only_looks_like_front_matter_is_text(text: str, path: str) -> None:
    document = read(text, path)
    assert document.front_matter == "{}"
    assert " ".join(block.text for block in document.blocks).split()[-1] in text.split()[-2:]


def test_properties_of_a_canvas_are_its_front_matter() -> None:
    canvas = {"nodes": [{"type": "text", "text": "Body."}], "metadata": {"frontmatter": {"tags": ["owl"]}}}
    assert read(json.dumps(canvas), "a.canvas").tags == ("owl",)
    canvas["metadata"] = {"frontmatter": {"publish": False}}
    with pytest.raises(DraftDocument, match="publish: false"):
        read(json.dumps(canvas), "a.canvas")


@pytest.mark.parametrize("key", ["draft", "unlisted", "search", "publishDate"])
def test_a_key_that_may_hide_and_is_there_twice_is_a_fault(key: str) -> None:
    for text in (f"---\n{key}: 1\n{key}: 2\n---\n", f'{{"{key}": 1, "{key}": 2}}\n'):
        with pytest.raises(RejectedDocument, match=f"{key} is there twice"):
            read(text)
    assert read("---\ntitle: a\ntitle: b\n---\nBody.\n").title == "b"


def test_an_orphan_keeps_what_its_front_matter_says() -> None:
    document = read("---\ntags: [owl]\n---\n\n:orphan:\n\nBody.\n", "a.rst")
    assert json.loads(document.front_matter) == {"orphan": True, "tags": ["owl"]}


def test_a_comment_costs_time_in_proportion_to_its_length() -> None:
    block = find_block(f"---\ntitle: [\n{'list #' * 40_000}\n---\n")
    assert block is not None
    begin = processor_seconds()
    assert not block.may_hide
    assert processor_seconds() - begin < 1.5  # 4 s when each was read to its end
