from __future__ import annotations

import pytest

from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.parse.front_matter import NONE, FrontMatter, read_front_matter


def read(yaml: str) -> FrontMatter:
    return read_front_matter(f"---\n{yaml}\n---\nbody\n", "c:x.md")


def test_known_keys_are_read_in_every_spelling() -> None:
    front = read(
        "title: A  title\nsummary: about\ntags: one, '#two' three\nalias: [x y, z]\nkeywords: k1, k 2\n"
        "authors: [{name: Ada}, Bob]\nlang: fr\nslug: a/b"
    )
    assert (front.title, front.description, front.author) == ("A title", "about", "Ada, Bob")
    assert (front.aliases, front.keywords, front.language, front.slug) == (
        ("x y", "z"),
        ("k1", "k 2"),
        "fr",
        "a/b",
    )


def test_titles_and_descriptions_may_hold_entities_of_html() -> None:
    found = read("title: A &amp; B\ndescription: new &mdash;&#10;and old\nslug: a&amp;b\n")
    assert (found.title, found.description, found.slug) == ("A & B", "new \u2014 and old", "a&amp;b")


def test_the_latest_date_wins_in_utc() -> None:
    assert (
        read("date: 2024-01-02\nupdated: 2024-03-04T23:30:00-05:00\ncreated: 2030-01-01").modified
        == "2024-03-05"
    )
    assert read("updated: 1615845600370").modified == "2021-03-15"
    assert read("date: soon").modified is None


def test_the_json_is_canonical_and_holds_everything() -> None:
    assert read("b: {x: [1, 2.5]}\na: 2024-01-02\nn: .nan\n1: null").json == (
        '{"1":null,"a":"2024-01-02","b":{"x":[1,2.5]},"n":"nan"}'
    )


def test_the_body_begins_after_the_block() -> None:
    text = "---\ntitle: x\n---\nbody\n"
    assert text[read_front_matter(text, "").end :] == "body\n"


@pytest.mark.parametrize("text", ["body", "---\n\nA rule, then text.\n\n---\n", "--- x\n", "---\n"])
def test_a_thematic_break_is_no_front_matter(text: str) -> None:
    assert read_front_matter(text, "") == FrontMatter()


@pytest.mark.parametrize(
    ("yaml", "line", "reason"),
    [
        ("a: &x 1\nb: *x", 2, "anchors"),
        ("ok: 1\nb: !!python/object:os.system x", 3, "tag"),
        ("a: " + "[" * 20 + "]" * 20, 2, "deeper"),
        ("a: 1\nb: [", 4, "did not find"),
        ("a: 1\ntitle: [x]", 3, "title must be one value"),
        ("a: 1\ntags: {x: y}", 3, "tags must be a flat list"),
        ("a: " + "x" * 70_000, 1, "characters"),
        ("date: 2024-02-30", 1, "day is out of range"),
        ("n: " + "9" * 5_000, 1, "not YAML"),
    ],
)
def test_what_cannot_be_read_names_its_line(yaml: str, line: int, reason: str) -> None:
    text = f"---\n{yaml}\n---\nbody\n"
    found = read_front_matter(text, "c:x.md")
    assert f"line {line}:" in found.fault and reason in found.fault
    assert text[found.end :] == "body\n" and found == FrontMatter(end=found.end, fault=found.fault)
    for key in (
        "draft: true",
        "publish: false",
        "search: {exclude: true}",
        "unlisted: true",
        "Draft: [yes",
        "sitemap_exclude: true",
    ):
        with pytest.raises(RejectedDocument, match="front matter, line"):
            read(f"{yaml}\n{key}")


def test_an_unclosed_block_is_rejected() -> None:
    with pytest.raises(RejectedDocument, match="never closed"):
        read_front_matter("---\ntitle: x\n\nbody", "")


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("draft: true", "draft: true"),
        ("Draft: 'YES'", "draft: yes"),
        ("draft: on", "draft: true"),
        ("headless: true", "headless: true"),
        ("build: {render: never, list: never}", "build.render: never"),
        ("_build:\n  render: false", "_build.render: false"),
        ("build: {render: link}", "build.render: link"),
        ("draft: 1", "draft: 1"),
        ("publish: false", "publish: false"),
        ("published: no", "published: false"),
        ("published: 'False'", "published: false"),
        ("title: x\npublish: true\ndraft: True", "draft: true"),
    ],
)
def test_what_its_own_tool_would_not_publish_is_a_draft(yaml: str, said: str) -> None:
    assert read(yaml).draft == said


@pytest.mark.parametrize(
    "yaml",
    [
        "draft: false",
        "headless: false\nbuild: {render: always, list: never}",
        "build: never",
        "draft: 'no'",
        "draft:",
        "draft: second",
        "publish: true",
        "publish:",
        "published: 2024-01-02",
        "published: yes",
        "a: {draft: true}",
        "draft: [true]",
    ],
)
def test_all_else_is_published(yaml: str) -> None:
    assert read(yaml).draft == ""


TOML = """+++
title = "Owls"
draft = false
date = 2024-05-01T10:00:00Z
tags = ["birds", "night"]
weight = 3
[build]
list = "never"
+++
body
"""


def test_toml_between_plus_signs_is_read_as_hugo_does() -> None:
    found = read_front_matter(TOML, "c:x.md")
    assert (found.title, found.tags, found.modified) == ("Owls", ("birds", "night"), "2024-05-01")
    assert TOML[found.end :] == "body\n"
    assert '"build":{"list":"never"}' in found.json


def test_a_draft_in_toml_is_a_draft() -> None:
    assert read_front_matter("+++\ndraft = true\n+++\n", "").draft == "draft: true"


@pytest.mark.parametrize("text", ["+++\n\nA cell.\n\n+++\n", "+++\ntitle = 'x'\n", "+++ x\n+++\n"])
def test_what_stands_between_plus_signs_may_be_no_front_matter(text: str) -> None:
    assert read_front_matter(text, "") == FrontMatter()


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("title = 1\ntags = ]", "line 3: not TOML"),
        ("tags = [[1]]", "line 2: tags must be a flat list"),
        ("a = " + "[" * 40 + "]" * 40, "nested deeper than"),
        ("a = " + "[" * 9_000 + "]" * 9_000, "front matter, line"),
        ("a = '" + "x" * 70_000 + "'", "more than 65536 characters"),
    ],
)
def test_wrong_toml_is_a_fault_with_the_line(head: str, said: str) -> None:
    assert said in read_front_matter(f"+++\n{head}\n+++\n", "c:x.md").fault
    with pytest.raises(RejectedDocument, match=said):
        read_front_matter(f"+++\n{head}\ndraft = true\n+++\n", "c:x.md")


def test_a_colon_in_a_plain_value_needs_no_quotation_marks() -> None:
    front = read_front_matter('---\ntitle: Actions: an "introduction"\ndraft: true\n---\n', "x.md")
    assert (front.title, front.draft) == ('Actions: an "introduction"', "draft: true")
    wrong = read_front_matter("---\ntitle: Actions: two\ntags: [a\n---\n", "x.md")
    assert wrong.fault.startswith("front matter, line 2: mapping")
    assert read_front_matter(f"---\ntitle: a{' ' * 60_000}: b\ntags: [a\n---\n", "x.md").fault


@pytest.mark.parametrize(
    "written",
    [
        "last_update:\n  date: 2026-11-25\n  author: Ada",
        "last_update: {date: 2026-11-25T10:00:00Z}\ndate: 2024-01-01",
        "lastUpdated: 2026-11-25",
    ],
)
def test_a_last_change_is_read_as_docusaurus_and_starlight_write_it(written: str) -> None:
    assert read(f"title: A\n{written}").modified == "2026-11-25"


def test_a_last_change_without_a_date_is_none() -> None:
    assert read("last_update: {author: Ada}\nlastUpdated: false").modified is None


@pytest.mark.parametrize(
    "text",
    [
        "---\n  draft: true\n---\n",
        '---\n{"draft": true}\n---\n',
        '---\n{\n  "title": "x",\n  "draft": true\n}\n---\n',
        "---yaml\ntitle: x\ndraft: true\n---\n",
        '---json\n{"draft": true}\n---\n',
        "---toml\ndraft = true\n---\n",
        "\n\n---\ndraft: true\n---\n",
        " \n+++\ndraft = true\n+++\n",
        "---\n? draft\n: true\n---\n",
        '{\n  "draft": true,\n  "title": "x"\n}\n',
        '{"draft": true}\n',
    ],
)
def test_a_draft_is_one_in_whichever_language_and_place_its_tool_reads(text: str) -> None:
    front = read_front_matter(f"{text}body\n", "c:x.md")
    assert front.draft == "draft: true"
    assert f"{text}body\n"[front.end :] == "body\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\n# a remark\ndraft: true\n\nbody\n", 1),
        ("+++\ndraft = true\n\nbody\n", 1),
        ("---\ndraft:true\n---\nbody\n", 2),
        ("\n---\na: [\ndraft: true\n---\n", 5),
        ('{\n  "title": "x"\n  "draft": true\n}\nbody\n', 3),
        ('{"title": "x", "draft": true} body\n', 1),
        ('---\n{"title": "x" "draft": true}\n---\nbody\n', 2),
        ('---json\n{"title": "x" "draft": true}\n---\nbody\n', 2),
    ],
)
def test_what_may_be_a_draft_and_cannot_be_read_is_not_published(text: str, line: int) -> None:
    with pytest.raises(RejectedDocument, match=f"front matter, line {line}:"):
        read_front_matter(text, "c:x.md")


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n**The list:** a\n\n---\n",
        "+++\n\nA cell of a notebook.\n",
        '{"a"}\n',
        "{/* draft: true */}\n",
        '---\n{"a" b}\n---\n',
        "{\n  draft: true\n}\n",
        "---\n\n# Title\n\nThe draft: true story.\n",
    ],
)
def test_what_only_looks_like_front_matter_is_text(text: str) -> None:
    assert read_front_matter(text, "") == FrontMatter()


@pytest.mark.parametrize("text", ["---\n---\n", "---\n\n---\n", "---yaml\n---\n"])
def test_an_empty_block_is_no_text(text: str) -> None:
    assert read_front_matter(f"{text}body\n", "") == FrontMatter(end=len(text))


@pytest.mark.parametrize("text", ['{"name": "x"}\n\nbody', '{\n  "a": {"b": 1}\n}\nbody'])
def test_an_example_of_json_at_the_head_of_a_document_is_text(text: str) -> None:
    assert read_front_matter(text, "") == NONE


def test_keys_with_escapes_are_read_in_json() -> None:
    assert read_front_matter('{"dr\\u0061ft": true}\nbody', "").draft == "draft: true"


def test_an_expiry_that_cannot_be_read_keeps_the_document_private() -> None:
    with pytest.raises(RejectedDocument):
        read_front_matter("---\nexpiryDate: 2001-01-01\nbad: [\n---\n", "")


def test_json_in_braces_is_read_as_hugo_does() -> None:
    text = '{\n  "title": "Owls", "tags": ["a", "b"],\n  "n": {"x": 1}\n}\nbody\n'
    front = read_front_matter(text, "c:x.md")
    assert (front.title, front.tags, text[front.end :]) == ("Owls", ("a", "b"), "body\n")
    wrong = read_front_matter('{"title": ["x"]}\nbody\n', "c:x.md")
    assert wrong.end and "line 1: title must be one value" in wrong.fault


def test_a_tag_may_be_an_object_with_a_label() -> None:
    text = "---\ntags:\n  - label: Field Owls\n    permalink: /owls\n  - plain\n---\n"
    assert read_front_matter(text, "a.md").tags == ("Field Owls", "plain")
