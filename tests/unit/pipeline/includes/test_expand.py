"""Directives of every tool are replaced by what they name, and no directive is left."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from noctule.pipeline.includes.expand import (
    MARKDOWN_MARKS,
    ExpandedText,
    IncludedFile,
    NotIncluded,
    expand,
    has_directives,
)
from tests.processor_time import processor_seconds

MAIN_RS = """// ANCHOR: here
fn main() {
    // ANCHOR: in
    go();
    // ANCHOR_END: in
}
// ANCHOR_END: here
"""
APP_PY = (
    '"""App."""\n\n@route\nclass App:\n    def run(self):\n        return 1\n\n\nclass Other:\n    pass\n'
)
# The first is a tab, and takes its title from the file.
HOT = "```javascript{}\nhot();\n```"
HOT_TABS = f"::: code-group\n{HOT.format(' [app.js]')}\n:::\n{HOT.format('')}"


def expanded(
    text: str, files: Mapping[str, str], path: str = "/docs/page.md", most: int = 100_000
) -> ExpandedText:
    def find(target: str, _included_by: str) -> IncludedFile:
        if target not in files:
            raise NotIncluded("there is no such file")
        return IncludedFile(f"/docs/{target}", files[target])

    assert has_directives(text.encode(), path)
    return expand(text, path, find, most)


@pytest.mark.parametrize(
    ("path", "written", "shown"),
    [
        (
            "/docs/page.md",
            "````{note}\n```{csv-table} Owls\n:file: a.txt\n:widths: 1\n```\n````",
            "````{note}\n```{csv-table} Owls\n:widths: 1\n\none\ntwo\nthree\nfour\n```\n````",
        ),
        (
            "/docs/page.md",
            "```{csv-table} Owls\n---\nfile: 'a.txt'\nwidths: 1\n---\n```",
            "```{csv-table} Owls\n:widths: 1\n\none\ntwo\nthree\nfour\n```",
        ),
        (
            "/docs/page.md",
            "```{literalinclude} a.txt\n---\nlanguage: sh\nlinenos: true\nlines: 2-3\n---\n```",
            "```sh linenos\ntwo\nthree\n```",
        ),
        ("/docs/page.md", "````md\n```{csv-table}\n:file: a.txt\n```\n````", None),
        ("/docs/page.md", "````{code-block} md\n```{csv-table}\n:file: a.txt\n```\n````", None),
        ("/docs/page.md", "```{csv-table} Owls\n:delim: ;\n\na;b\n```", None),
        (
            "/docs/page.rst",
            ".. csv-table:: Owls\n   :file: a.txt\n",
            ".. csv-table:: Owls\n\n   one\n   two\n   three\n   four\n",
        ),
        ("/docs/page.rst", "::\n\n   .. csv-table::\n      :file: a.txt\n", None),
    ],
)
def test_a_table_holds_the_values_of_its_file(path: str, written: str, shown: str | None) -> None:
    found = expanded(written, {"a.txt": "one\ntwo\nthree\nfour\n"}, path)
    assert (found.text, found.notes) == (shown or written, ())


@pytest.mark.parametrize(
    ("directive", "shown"),
    [
        ("{{#include a.txt}}", "one\ntwo\nthree\nfour"),
        ("{{#include a.txt:2}}", "two"),
        ("{{#include a.txt:2:3}}", "two\nthree"),
        ("{{#include a.txt:3:}}", "three\nfour"),
        ("{{#include a.txt::2}}", "one\ntwo"),
        ("{{#include main.rs:here}}", "fn main() {\n    go();\n}"),
        ("{{#rustdoc_include main.rs:in}}", "    go();"),
        ("{{#playground main.rs:in editable}}", "```rust\n    go();\n```"),
        ("{{#title A page}}", ""),
        ("\\{{#include a.txt}}", "{{#include a.txt}}"),
        ("`{{#include a.txt}}`", "`{{#include a.txt}}`"),
        ("{{#if it}} {{else}}", "{{#if it}} {{else}}"),
        ('--8<-- "a.txt"', "one\ntwo\nthree\nfour"),
        ('--8<-- "a.txt:2:3"', "two\nthree"),
        ('--8<-- "a.txt:3"', "three\nfour"),
        ('--8<-- "a.txt:1:1,4:4"', "one\nfour"),
        ('--8<-- "parts.md:use"', "Use it."),
        ("  --8<-- 'a.txt:1:2'", "  one\n  two"),
        (';--8<-- "a.txt"', '--8<-- "a.txt"'),
        ("--8<--\na.txt\n; b.txt\nparts.md:use\n--8<--", "one\ntwo\nthree\nfour\nUse it."),
        ("{* a.txt ln[2:3] hl[3] *}", "```text {2}\ntwo\nthree\n```"),
        ('{* a.txt ln[1:1] title["app/a.txt"] *}', '```text title="app/a.txt"\none\n```'),
        ("{!a.txt!}", "one\ntwo\nthree\nfour"),
        ("{!> a.txt!}", "one\ntwo\nthree\nfour"),
        ("{!a.txt!lines=1 3-4}", "one\nthree\nfour"),
        ("<<< app.js#hot{1 ts} [app]", "```ts{1} [app]\nhot();\n```"),
        ("<<< app.js#hot{1-2 js:line-numbers}", "```js{1-2}:line-numbers\nhot();\n```"),
        ("::: code-group\n<<< app.js#hot\n:::\n<<< app.js#hot", HOT_TABS),
        ("<<< app.js", "```javascript\ncold();\n// #region hot\nhot();\n// #endregion hot\n```"),
        ("<!--@include: ./a.txt{3,}-->", None),
        ("<!--@include: app.js#hot{,1}-->", "hot();"),
        ("<!--@include: a.txt{3,}-->", "three\nfour"),
        ("!!!include(a.txt)!!!", "one\ntwo\nthree\nfour"),
        (
            "```{literalinclude} app.py\n:pyobject: App.run\n:dedent:\n```",
            "```python\ndef run(self):\n    return 1\n```",
        ),
        ("```{include} a.txt\n:start-line: 3\n```", "four"),
    ],
)  # fmt: skip
def test_a_directive_of_markdown_becomes_what_it_names(directive: str, shown: str | None) -> None:
    files = {
        "a.txt": "one\ntwo\nthree\nfour\n",
        "main.rs": MAIN_RS,
        "app.py": APP_PY,
        "app.js": "cold();\n// #region hot\nhot();\n// #endregion hot\n",
        "parts.md": "<!-- --8<-- [start:use] -->\nUse it.\n<!-- --8<-- [end:use] -->\nNot this.\n",
    }
    found = expanded(f"Before.\n\n{directive}\n\nAfter.\n", files)
    assert found.text == f"Before.\n\n{shown or ''}\n\nAfter.\n"
    assert len(found.notes) == (shown is None)


@pytest.mark.parametrize(
    ("directive", "shown"),
    [
        (".. include:: a.txt\n", "one\ntwo\nthree\nfour\n"),
        (".. include:: a.txt\n   :start-after: one\n   :end-before: four\n", "two\nthree\n"),
        (".. include:: a.txt\n   :code: text\n   :end-line: 1\n", ".. code-block:: text\n\n   one\n"),
        (
            ".. literalinclude:: app.py\n   :pyobject: App\n   :caption: The app\n",
            ".. code-block:: python\n   :caption: The app\n\n"
            "   @route\n   class App:\n       def run(self):\n           return 1\n",
        ),
        (
            ".. literalinclude:: app.py\n   :lines: 1\n   :caption:\n   :number-lines:\n",
            '.. code-block:: python\n   :caption: app.py\n   :number-lines: \n\n   """App."""\n',
        ),
        (
            ".. literalinclude:: app.py\n   :pyobject: App.run\n   :dedent:\n   :lineno-match:\n",
            ".. code-block:: python\n   :lineno-start: 5\n\n   def run(self):\n       return 1\n",
        ),
        ("  .. literalinclude:: app.py\n     :lines: 1\n", '  .. code-block:: python\n\n     """App."""\n'),
    ],
)  # fmt: skip
def test_a_directive_of_restructuredtext_becomes_what_it_names(directive: str, shown: str) -> None:
    files = {"a.txt": "one\ntwo\nthree\nfour\n", "app.py": APP_PY}
    found = expanded(f"Before.\n\n{directive}\nAfter.\n", files, "/docs/page.rst")
    assert (found.text, found.notes) == (f"Before.\n\n{shown}\nAfter.\n", ())


@pytest.mark.parametrize(
    ("directive", "reason"),
    [
        ("{{#include none.rs}}", "there is no such file"),
        ("{{#include a.txt:9}}", "it has 1 lines, none of which is in '9'"),
        ("{{#include a.txt:part}}", "it has no part 'part'"),
        ('--8<-- "a.txt:x-y"', "it has no part 'x-y'"),
        ("{* a.txt ln[1-2] *}", "'1-2' is not a range of lines"),
        ("```{literalinclude} a.txt\n:pyobject: f\n```", "it is not Python"),
        ("```{literalinclude} a.txt\n:end-at: nowhere\n```", "it has no line with 'nowhere' (end-at)"),
        ("```{include} a.txt\n:start-line: x\n```", "start-line and end-line must be numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_removed_and_named_with_its_line(directive: str, reason: str) -> None:
    found = expanded(f"A.\n\n{directive}\n\nB.\n", {"a.txt": "one is (not) python\n"})
    assert found.text == "A.\n\n\n\nB.\n"
    (note,) = found.notes
    assert note.startswith("line 3: ") and note.endswith(reason)


def test_what_a_tool_makes_itself_is_no_text_of_the_page() -> None:
    found = expanded("# A\n\n[TOC]\n\n```text\n[TOC]\n```\n", {})
    assert (found.text, found.notes) == ("# A\n\n\n\n```text\n[TOC]\n```\n", ())


def test_included_text_is_expanded_too_and_its_faults_name_the_file() -> None:
    files = {"b.md": "{{#include c.md}}\n", "c.md": "deep\n{{#include gone}}\n"}
    found = expanded("{{#include b.md}}\n", files)
    assert found.text == "deep\n\n"
    assert found.notes == ("line 2 of c.md: 'gone' is not included: there is no such file",)


RST_EXAMPLE = "::\n\n     .. include:: gone\n\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("page.rst", f"Use{RST_EXAMPLE}.. include:: a.txt\n"),
        (
            "page.rst",
            ".. code-block:: rst\n   :name: x\n\n   .. include:: gone\n\n.. include:: a.txt\n",
        ),
        ("page.rst", f"- Use{RST_EXAMPLE}  .. include:: a.txt\n"),
        ("page.rst", f"2. Use:\n\n   {RST_EXAMPLE}   .. include:: a.txt\n"),
        ("page.rst", ":field: Use::\n\n      .. include:: gone\n\n   .. include:: a.txt\n"),
        ("page.rst", "- .. code:: rst\n\n     .. include:: gone\n\n  .. include:: a.txt\n"),
        ("page.rst", f"Term\n   Use{RST_EXAMPLE}   .. include:: a.txt\n"),
        ("page.rst", f".. note::\n\n   .. include:: a.txt\n\nUse{RST_EXAMPLE}"),
        ("page.md", "````md\n```{include} gone\n```\n````\n\n```{include} a.txt\n```\n"),
        ("page.md", "````{code-block} md\n```{include} gone\n```\n````\n```{include} a.txt\n```\n"),
        ("page.md", "````{note}\n```{include} a.txt\n```\n````\n~~~\n```{include} gone\n```\n~~~\n"),
    ],
)
def test_directives_in_code_are_examples(path: str, text: str) -> None:
    found = expanded(text, {"a.txt": "owls\n"}, f"/docs/{path}")
    assert "owls" in found.text and "gone" in found.text and "a.txt" not in found.text and found.notes == ()


def test_literal_blocks_cost_time_in_proportion() -> None:
    began = processor_seconds()
    expanded("a::\n\n b\n" * 30_000 + ".. include:: a.txt\n", {"a.txt": "x"}, "/docs/page.rst", 1_000_000)
    assert processor_seconds() - began < 3


def test_a_page_may_show_its_own_source() -> None:
    text = "Owls.\n\n.. literalinclude:: page.rst\n   :language: rst\n"
    found = expanded(text, {"page.rst": text}, "/docs/page.rst")
    assert found.notes == () and found.text.count("Owls.") == 2
    myst = "Owls.\n\n```{literalinclude} page.md\n```\n"
    assert expanded(myst, {"page.md": myst}).text.count("Owls.") == 2


def test_a_page_may_show_a_part_of_its_own_again() -> None:
    marked = "<!-- a -->\nOwls.\n<!-- b -->\n"
    again = "```{include} page.md\n:start-after: <!-- a -->\n:end-before: <!-- b -->\n```\n"
    found = expanded(marked + again, {"page.md": marked + again})
    assert found.notes == () and found.text.count("Owls.") == 2
    around = "{{#include page.md:1:2}}\nOwls.\nMore.\n"
    assert expanded(around, {"page.md": around}).notes[0].endswith("the file includes itself")


def test_loops_depth_and_size_are_bounded() -> None:
    loop = expanded("{{#include b.md}}", {"b.md": "x {{#include page.md}}", "page.md": "{{#include b.md}}"})
    assert (loop.text, loop.notes[0].rpartition(": ")[2]) == ("x ", "the file includes itself")
    chain = {f"{n}.md": f"{n} {{{{#include {n + 1}.md}}}}" for n in range(20)}
    deep = expanded("{{#include 0.md}}", chain)
    assert deep.notes[0].endswith("it is included through more than 10 files")
    # A tree of includes that doubles at each level ends at the limit.
    tree = {f"{n}.md": f"{{{{#include {n + 1}.md}}}}" * 2 for n in range(9)} | {"9.md": "x" * 1000}
    wide = expanded("{{#include 0.md}}", tree, most=20_000)
    assert len(wide.text) <= 20_000
    assert wide.notes[0].endswith("the document would become larger than max_bytes")


def test_hidden_lines_of_rust_go_and_others_stay() -> None:
    python = "```python\n# a comment\n```\n"
    hidden = (
        "```rust,no_run\n# use std::io;\n#\n#[derive(Debug)]\nlet s = 1;\n    # hidden();\n## shown\n```\n"
    )
    shown = "```rust,no_run\n#[derive(Debug)]\nlet s = 1;\n# shown\n```\n"
    assert expanded(f"# Title\n\n{hidden}\n{python}", {}).text == f"# Title\n\n{shown}\n{python}"


def test_hidden_lines_of_rust_go_in_a_quotation_too() -> None:
    quoted = "> ```rust\n> # use std::io;\n> #\n> let s = 1;\n> ## shown\n> ```\n"
    assert expanded(quoted, {}).text == "> ```rust\n> let s = 1;\n> # shown\n> ```\n"


def test_an_included_code_block_keeps_its_place_in_a_list_and_its_fence_holds() -> None:
    found = expanded("- item\n\n    ```text\n    {{#include a.txt}}\n    ```\n", {"a.txt": "x\ny\n"})
    assert found.text == "- item\n\n    ```text\n    x\n    y\n    ```\n"
    fenced = expanded("{* a.md *}\n", {"a.md": "```py\n1\n```\n"})
    assert fenced.text == "````markdown\n```py\n1\n```\n````\n"


def test_examples_in_code_stay_as_they_are() -> None:
    text = "```text\n<<< a.js\n{* a.js *}\n<!--@include: a.js-->\n```\n"
    assert expanded(text, {"a.js": "no"}).text == text


@pytest.mark.timeout(20)
def test_a_long_text_of_near_directives_takes_time_in_proportion() -> None:
    for piece in ("{{#include ", "--8<--\n", "{* a ", "{!", "<<< ", "```{include} a\n:x: ", "`"):
        expanded("{{#include a}}" + piece * 20_000, {"a": ""}, most=10_000_000)


@pytest.mark.parametrize("mark", [*MARKDOWN_MARKS, *(mark.title() for mark in MARKDOWN_MARKS)])
def test_a_file_has_directives_where_one_of_their_marks_is_in_it(mark: str) -> None:
    assert has_directives(f"Some text, {mark} and more.".encode(), "a.md") is any(
        each in mark for each in MARKDOWN_MARKS
    )


def test_lines_of_a_large_file_are_not_read_again_and_again() -> None:
    """Five megabytes of such directives once took hours: each looks at all of the file."""
    looked = 0

    def find(target: str, _included_by: str) -> IncludedFile:
        nonlocal looked
        looked += 1
        return IncludedFile(f"/docs/{target}", "a line\n" * 10_000)

    done = expand("{{#include big.md:1:1}}\n" * 2_000, "/docs/page.md", find, 100_000)
    assert 10 < looked < 20 and done.text.count("a line") == looked
    assert "have over 10 times max_bytes" in done.notes[0]


def test_files_that_include_each_other_and_hold_nothing_end_soon() -> None:
    looked = 0

    def find(target: str, _included_by: str) -> IncludedFile:
        nonlocal looked
        looked += 1
        depth = int(target[1])
        return IncludedFile(
            f"/docs/{target}", f"{{{{#include d{depth + 1}.md}}}}\n" * 30 if depth < 9 else ""
        )

    expand("{{#include d1.md}}\n" * 30, "/docs/d0.md", find, 1_000_000)
    assert 1_000 < looked <= 10_000


def test_commands_that_a_tool_would_describe_are_left_out_with_a_remark() -> None:
    text = (
        "A\n\n::: mkdocs-click\n    :module: hatch.cli\n    :command: hatch\n\n```\n::: mkdocs-click\n```\n"
    )
    found = expanded(text, {})
    assert found.text == "A\n\n# hatch\n\n```\n::: mkdocs-click\n```\n"
    assert found.notes == ("line 3: the commands of hatch.cli are not described: mkdocs-click would run it",)


def test_code_that_a_tool_would_run_is_left_out_with_a_remark_unless_it_is_to_be_shown() -> None:
    text = 'A\n\n```python exec="yes"\n--8<-- "gone.py"\n```\n\nB\n\n```sh exec="1" source="above"\nls\n```\n'
    found = expanded(text, {})
    assert found.text == 'A\n\n\n\nB\n\n```sh exec="1" source="above"\nls\n```\n'
    assert found.notes == ("line 3: what this code prints is left out: nothing is run",)
    quoted = '````md\n```python exec="on"\n1\n```\n````\n'
    assert expanded(quoted, {}).text == quoted


@pytest.mark.timeout(120)
def test_a_part_that_is_included_thousands_of_times_is_looked_for_once() -> None:
    part = "<!-- --8<-- [start:a] -->\nowl\n<!-- --8<-- [end:a] -->\n"
    text = part + '--8<-- "page.md:a"\n' * 2_000
    began = processor_seconds()
    shown = expanded(text, {"page.md": text}, most=10_000_000).text
    assert processor_seconds() - began < 2  # each time, it took four seconds, and now a twentieth
    assert shown.count("owl\n") == 2_001


@pytest.mark.parametrize(
    "form", ["```{{csv-table}} x\n:file: a{}b\n```\n", "```{{include}} a.md\n---\nlines: 1{}b\n---\n```\n"]
)
def test_blanks_in_an_option_take_time_in_proportion(form: str) -> None:
    began = processor_seconds()
    expanded(form.format(" \t" * 50_000), {})
    assert processor_seconds() - began < 2  # a fifth of them took six seconds
