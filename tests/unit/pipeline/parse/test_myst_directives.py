"""Directives of MyST that describe objects, hold tables, or are unknown: what readers see and links find."""

from __future__ import annotations

import pytest

from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection


def read(text: str) -> Document:
    return parse(Source("c", "a.md", text.encode(), "0"), Collection(root="."))


def shown(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read(text).blocks]


OWL = """
```{py:module} birds
```

````{py:class} Owl(wings)
Has {py:meth}`fly`.

```{py:method} fly() -> None
Flies, as {class}`Owl`.
```
````

{func}`hatch`

:::{py:function} hatch(egg)
:module: eggs
Hatches.
:::
"""


def test_objects_have_the_anchors_of_reStructuredText() -> None:
    names = ["birds.Owl", "birds.Owl.fly", "eggs.hatch"]
    assert set(read(OWL).anchors) == {"py:birds", "module-birds", *names, *(f"py:{name}" for name in names)}


def test_a_signature_is_code_above_its_description() -> None:
    assert shown(OWL)[:3] == [("text", "Owl(wings)"), ("text", "Has fly()."), ("text", "fly() -> None")]
    assert read(":::{c:function} int fly(`x`)\n:::").blocks[0].code == "int fly(`x`)"


def test_roles_are_told_what_is_described_around_them() -> None:
    assert [link.target for link in read(OWL).links] == [
        "#object:fly:birds.Owl:birds",
        "#object:Owl:birds.Owl:birds",
        "#object:hatch::birds",
    ]


@pytest.mark.parametrize(
    ("fence", "signature"),
    [
        ("{py:function} async go()", "async go()"),
        ("{py:method} go()\n:async:", "async go()"),
        ("{py:attribute} go\n:type: int\n:value: 2", "go: int = 2"),
    ],
)
def test_a_signature_is_whole_and_its_name_the_anchor(fence: str, signature: str) -> None:
    page = read(f"```{fence}\n```")
    assert (page.anchors, page.blocks[0].text) == (("go", "py:go"), signature)


def test_type_and_default_of_a_setting_are_shown() -> None:
    page = read("```{confval} wings\n:type: int\n:default: *two*\nHow many.\n```")
    said = ["wings", "- Type", "- int", "- Default", "- two", "How many."]
    assert [block.text for block in page.blocks] == said


LONG = "a." * 200 + "a"


@pytest.mark.parametrize(
    "text",
    [
        f"```{{program}} {LONG}\n```\n\n```{{option}} -x\n```\n{{option}}`-y`",
        f"````{{py:class}} {LONG}\n```{{py:method}} x()\n```\n{{meth}}`y`\n````",
        f"```{{module}} {LONG}\n```\n\n```{{py:function}} x()\n```\n{{func}}`y`",
        f"```{{py:function}} x()\n:module: {LONG}\n```",
    ],
)
def test_a_name_that_is_too_long_is_not_repeated(text: str) -> None:
    page = read(text)
    assert page.anchors
    assert not [each for each in (*page.anchors, *(link.target for link in page.links)) if "a.a" in each]


def test_an_object_that_is_not_indexed_has_no_anchor() -> None:
    assert read("```{py:data} x\n:no-index:\n```").anchors == ()


def test_options_belong_to_the_program_before_them() -> None:
    page = read("```{program} git commit\n```\n\n```{option} --amend, -a\nSee {option}`-a`.\n```\n")
    assert "cmdoption-git-commit-amend" in page.anchors
    assert [link.target for link in page.links] == ["#object::option:git-commit:-a"]
    assert [block.text for block in page.blocks] == ["--amend, -a", "See -a."]


def test_variables_have_the_anchors_of_sphinx() -> None:
    page = read("```{envvar} HOME\n```\n\n{envvar}`HOME` {std:confval}`x`")
    assert page.anchors == ("std:envvar:HOME", "envvar-HOME")
    assert [link.target for link in page.links] == ["#object::envvar:HOME", "#object::confval:x"]


def test_a_style_is_no_class() -> None:
    assert shown("```{class} wide\nText.\n```") == [("text", "Text.")]


def test_a_table_of_lists_is_a_table() -> None:
    text = "```{list-table} Birds\n:header-rows: 1\n\n* - Name\n  - Call\n* - Owl\n  - *hoo*\n```\n"
    assert shown(text) == [("text", "Birds"), ("table", "Name | Call"), ("table", "Owl | hoo")]


@pytest.mark.parametrize("items", ["* a\n* b", "* - a\n\n  text\n* - b", "text\n\n* - a", ""])
def test_other_content_of_a_table_of_lists_is_kept(items: str) -> None:
    words = [
        word
        for _, text in shown(f"```{{list-table}}\n\n{items}\n```")
        for word in text.split()
        if word != "-"
    ]
    assert words == [word for word in items.split() if word not in "*-"]


def test_comma_separated_values_are_a_table() -> None:
    text = '```{csv-table} Birds\n:header: Name, Call\n\nOwl, "*hoo*, loud"\n```\n'
    assert shown(text) == [("text", "Birds"), ("table", "Name | Call"), ("table", "Owl | hoo, loud")]
    assert shown("```{csv-table}\n:delim: ;\n\na;b\n```") == [("table", "a | b")]
    assert shown("```{csv-table}\n:delim: space\n\na b\n```") == [("table", "a | b")]
    assert shown('```{csv-table}\n"a\nb",c\n```') == [("table", "a b | c")]
    assert shown("```{csv-table}\n:delim: too long\n\na;b\n```") == [("table", "a;b")]


def test_a_file_of_values_that_is_not_included_is_named_with_a_remark() -> None:
    page = read("```{csv-table} Birds\n:file: owls.csv\n```")
    assert [block.text for block in page.blocks] == ["Birds", "owls.csv"]
    assert page.notes == ("line 1: '{csv-table}' stands on the page as text",)


@pytest.mark.parametrize("name", ["kroki", "d2", "file", "altair-plot"])
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_what_an_unknown_directive_holds_in_a_fence_of_code_is_code(fence: str, name: str) -> None:
    page = read(f"Text.\n\n{fence}{{{name}}} of\n# *B*\n{fence}\n")
    assert [(block.kind, block.text) for block in page.blocks] == [("text", "Text."), ("code", "of\n# *B*")]
    assert page.notes == (f"line 3: '{{{name}}}' stands on the page as text",)


@pytest.mark.parametrize("name", ["epigraph", "aside", "topic", "margin", "prf:theorem", "exercise", "table"])
def test_prose_in_a_fence_of_code_is_prose(name: str) -> None:
    page = read(f"```{{{name}}}\nSome *prose*.\n```\n")
    assert ([block.text for block in page.blocks], page.notes) == (["Some prose."], ())


@pytest.mark.parametrize(
    ("button", "target"),
    [
        ("{button-ref} owls\n:ref-type: ref\n:color: primary", "#ref:owls"),
        ("{button-ref} owls.md\n:ref-type: doc", "owls.md"),
        ("{button-link} https://owls.org", "https://owls.org"),
    ],
)
def test_a_button_is_a_link(button: str, target: str) -> None:
    assert [(link.text, link.target) for link in read(f"```{button}\n\nTo owls\n```").links] == [
        ("To owls", target)
    ]


@pytest.mark.parametrize("fence", ["````", ":::"])
def test_what_an_unknown_directive_holds_is_prose(fence: str) -> None:
    page = read(f"Text.\n\n{fence}{{unheard-of}} of\n:option: 1\n\nSome *prose*.\n{fence}\n")
    assert [block.text for block in page.blocks] == ["Text.", "of", "Some prose."]
    assert page.notes == ("line 3: '{unheard-of}' stands on the page as text",)


@pytest.mark.parametrize("name", ["python", "r", "ojs", "code-cell", "webr-r", "raw", "html", "mermaid"])
def test_code_stays_code(name: str) -> None:
    page = read(f"```{{{name}}}\nx = *1*\n```\n")
    assert ([block.text for block in page.blocks], page.notes) == (["x = *1*"], ())


def test_what_is_for_the_generator_is_not_shown() -> None:
    assert shown("```{tabularcolumns} |l|\n```\n\n```{sectionauthor} Me\n```\n\n```{highlight} sh\n```") == []


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("{list-table} T\n---\nheader-rows: 1\n---\n* - a", [("text", "T"), ("table", "a")]),
        (
            "{py:function} f()\n---\nmodule: m\nno-index: true\n---\nText.",
            [("text", "f()"), ("text", "Text.")],
        ),
        ("{csv-table}\n---\nheader: [a, b]\n---\nc,d", [("table", "a | b"), ("table", "c | d")]),
        ("{epigraph}\n---\n---\nText.", [("text", "Text.")]),
        ("{note}\n---\nclass: tip\n---\nText.", [("text", "Text.")]),
        ("{epigraph}\n---\nno yaml\n---\nText.", [("text", "no yaml"), ("text", "Text.")]),
        ("{py:data} x\n:no-index:\n:no-index:\nText.", [("text", "x"), ("text", "Text.")]),
    ],
)
def test_options_above_the_content_are_no_text(text: str, blocks: list[tuple[str, str]]) -> None:
    assert shown(f"```{text}\n```") == blocks


def test_options_between_dashes_are_followed() -> None:
    page = read("```{py:function} f()\n---\nmodule: m\nno-index: false\n---\n```")
    assert page.anchors == ("m.f", "py:m.f")
