"""Directives that stand as text are found outside code, whatever their tool, and named with their line."""

from __future__ import annotations

import pytest

from noctule.pipeline.directives import is_fault, require_followed
from noctule.pipeline.errors import DirectivesLeft
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def read(text: str, path: str = "a.md") -> Document:
    return parse(Source("c", path, text.encode(), "0" * 64), Collection(root="."))


@pytest.mark.parametrize(
    ("remark", "hint"),
    [
        ("line 1: '{own}' stands on the page as text", "plugins and programs are not run"),
        ("line 1: 'a.md' is not included: there is no such file", "snippet_folders"),
    ],
)
def test_the_error_says_what_to_do(remark: str, hint: str) -> None:
    with pytest.raises(DirectivesLeft) as failed:
        require_followed([("c:a.md", remark)])
    assert hint in failed.value.hint


@pytest.mark.parametrize(
    "directive",
    [
        "{{#include a.md}}",
        "{{< figure src='a_b_c' >}}",
        "{{% note %}}",
        "{% include x.html %}",
        "{{ site.title }}",
        "**{{ name }}**",
        "[x]({{ site.url }}/a)",
        "[x]({{site.url}}/a)",
        '<a href="{{ url }}">x</a>',
        "<div>\n{{ name }}\n</div>",
        '--8<-- "a.md"',
        "{* a.py ln[1] *}",
        "{!a.md!}",
        "<<< @/a.ts",
        "::: unknown-and-never-closed",
    ],
)
def test_a_directive_that_is_shown_is_a_remark_with_its_line(directive: str) -> None:
    notes = read(f"---\ntitle: x\n---\n# A\n\nText.\n\n{directive}\n").notes
    assert len(notes) == 1 and is_fault(notes[0]), notes
    assert int(notes[0].removeprefix("line ").partition(":")[0]) in (8, 9)


@pytest.mark.parametrize(
    "text",
    [
        "`{{ x }}` and ``{% y %}``",
        "```\n{{ x }}\n```\n\n    {% indented %}\n\n~~~jinja\n{{< z >}}\n~~~",
        "<pre>{{ x }}</pre>",
        "<code>{% x %}</code> <!-- {{ y }} -->",
        "\\{{ x }} \\{% y %}",
        "$x^{{2}}$ and $$\n{{a}}\n$$",
        "{x} {} {{}} {{{ and }}} a::: b",
        "::: tip\nText.\n:::",
    ],
)
def test_examples_and_formulas_are_none(text: str) -> None:
    assert [note for note in read(f"{text}\n").notes if is_fault(note)] == []


def test_a_page_of_html_is_what_it_is() -> None:
    assert read("<p>{{ x }}</p>", "a.html").notes == ()


def test_many_are_counted_and_not_listed() -> None:
    notes = read("{{ x }}\n\n" * 1_000).notes
    assert len(notes) == 51
    assert notes[-1].startswith("950 more")


def test_the_first_is_the_error_and_the_others_are_counted() -> None:
    first, second = read("{{ x }} {{ y }}\n").notes
    require_followed([("c:a.md", "is excluded from search")])
    with pytest.raises(DirectivesLeft) as raised:
        require_followed([("c:a.md", "is excluded from search"), ("c:b.md", first), ("c:b.md", second)])
    assert (raised.value.where, raised.value.exit_code) == ("c:b.md", 2)
    assert raised.value.what == "line 1: '{{ x }}' stands on the page as text (and 1 more)"


@pytest.mark.parametrize("piece", ["{%", "{{<", "{{", "{{ x }}", "{: ", "{* a", "{!a", ":::a\n", "%7B%7B"])
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    read((piece * 80_000)[:80_000])
    assert processor_seconds() - start < 8
