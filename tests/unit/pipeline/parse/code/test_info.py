"""Info strings of code blocks in every tool's spelling."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.code.info import CodeInfo, code_classes, code_info, read_info


@pytest.mark.parametrize(
    ("info", "language", "title", "first", "marked"),
    [
        ('python title="x" linenums="1" hl_lines="2-3 5"', "python", "x", 1, {2, 3, 5}),
        ('js {1,3-4} title="x" showLineNumbers', "js", "x", 1, {1, 3, 4}),
        ("js{1,3-4}:line-numbers [file.js]", "js", "file.js", 1, {1, 3, 4}),
        ("js:line-numbers=5", "js", "", 5, set()),
        ("rust,ignore,editable", "rust", "", None, set()),
        ('go {linenos=table,hl_lines=[1,"3-4"],linenostart=199}', "go", "", 199, {1, 3, 4}),
        ('{#mycode .haskell .numberLines startFrom="100"}', "haskell", "", 100, set()),
        ('cs title="Issue #12 .NET"', "cs", "Issue #12 .NET", None, set()),
        ('{.python #id .numberLines startFrom="5"}', "python", "", 5, set()),
        ('{ .dockerfile .annotate hl_lines="10  13" }', "dockerfile", "", None, {10, 13}),
        ('{1,3} title="x"', "", "x", None, {1, 3}),
        ('hl_lines="4"', "", "", None, {4}),
        ("{code-block} python", "python", "", None, set()),
        ("{r, echo=FALSE}", "r", "", None, set()),
        ("{python}", "python", "", None, set()),
        ("C++", "c++", "", None, set()),
        ("js-nolint live-sample", "js", "", None, set()),
        ("js showLineNumbers{5}", "js", "", 5, set()),
        ('ts index.ts icon="/icons/ts.svg" lines highlight={2}', "ts", "index.ts", None, {2}),
        ('bash icon="terminal" terminal', "bash", "terminal", None, set()),
        ('js /word/ A title icon="x" {2} more', "js", "A title more", None, {2}),
        ('js /a word/ src/a/b.js icon="x"', "js", "src/a/b.js", None, set()),
        ('js /src/a/b.js icon="x"', "js", "/src/a/b.js", None, set()),
        ("js src/app.test.js", "js", "src/app.test.js", None, set()),
        ("js Output", "js", "Output", None, set()),
        ("rust,E0277", "rust", "", None, set()),
        ("js switcher", "js", "", None, set()),
        ("", "", "", None, set()),
    ],
)
def test_every_tool_is_read(
    info: str, language: str, title: str, first: int | None, marked: set[int]
) -> None:
    said = read_info(info)
    assert (said.language, said.title, said.first_number) == (language, title, first)
    assert said.lines.get("marked", frozenset()) == marked


def test_lines_that_were_added_and_removed_and_words_are_read() -> None:
    said = read_info("js ins={2} del={3,4} /word/ wrap")
    assert said.lines == {"added": {2}, "removed": {3, 4}}
    assert (said.words, said.wraps) == (("word",), True)


@pytest.mark.parametrize(
    ("info", "title"),
    [
        ("{quiz} what's new?", "what's new?"),
        ("{quiz} Some words", "Some words"),
        ("{r} echo=FALSE", ""),
        ("{code-cell} ipython3", ""),
        ("{testcode} group", ""),
        ("{1,3} js", ""),
    ],
)
def test_what_is_beside_the_name_of_an_unknown_directive_is_the_title(info: str, title: str) -> None:
    assert read_info(info).title == title


def test_an_endless_range_ends() -> None:
    assert len(read_info("js {1-999999}").lines["marked"]) == 2_000


def test_the_attributes_of_an_element_keep_what_is_said_of_lines() -> None:
    said = CodeInfo("py", first_number=7, lines={"marked": frozenset({2, 3, 9})})
    assert code_info("py", f' class="language-py {code_classes(said)}"') == said
    assert code_classes(CodeInfo("py")) == ""


@pytest.mark.parametrize(
    "info", ["{literalinclude} /etc/secret.py", "{raw} latex", "{ifconfig} draft", "{comment} secret"]
)
def test_a_file_a_format_and_a_condition_beside_a_directive_are_no_title(info: str) -> None:
    assert not read_info(info).title
