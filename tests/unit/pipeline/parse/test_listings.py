"""Code blocks of markdown: what the index holds of them."""

from __future__ import annotations

from textwrap import indent

from noctule.pipeline.model import Block, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection


def _code(text: str, name: str = "a.md") -> list[Block]:
    document = parse(Source("c", name, text.encode(), "0"), Collection(root="."))
    return [block for block in document.blocks if block.kind == "code"]


def test_the_index_holds_title_and_code_without_marks() -> None:
    (block,) = _code('```ts {1} title="app.ts"\nlet a // [!code ++]\n```\n')
    assert (block.language, block.text, block.code) == ("ts", "app.ts\nlet a", "let a")


def test_the_colours_of_a_termy_box_are_not_indexed() -> None:
    termy = (
        '<div class="termy">\n\n```console\n$ <font color="#4E9A06">uvicorn</font> &lt;x&gt;\n```\n\n</div>\n'
    )
    assert [block.code for block in _code(termy)] == ["$ uvicorn <x>"]
    assert [block.code for block in _code("```console\n$ echo <b>x</b>\n```\n")] == ["$ echo <b>x</b>"]


_SESSION = """>>> a()  # doctest: +ELLIPSIS
x
<BLANKLINE>
>>> b = "# doctest: no"
"""
_SHOWN = '>>> a()\nx\n\n>>> b = "# doctest: no"'


def test_options_of_doctest_are_neither_shown_nor_indexed() -> None:
    (block,) = _code(f"```pycon\n{_SESSION}```\n")
    assert block.code == _SHOWN
    for written in (f"T\n=\n\n{_SESSION}", "T\n=\n\n::\n\n" + indent(_SESSION, "   ")):
        assert [each.code for each in _code(written, "a.rst")] == [_SHOWN]
    assert [each.code for each in _code("```py\na()  # doctest: +SKIP\n```\n")] == ["a()  # doctest: +SKIP"]


def test_options_of_doctest_stay_where_they_are_the_subject() -> None:
    line = ">>> a()  # doctest: +SKIP"
    for language in ("text", "md", "c"):
        assert [each.code for each in _code(f"```{language}\n{line}\n```\n")] == [line]
    for directive in ("code-block:: text", "doctest::\n   :no-trim-doctest-flags:"):
        written = f"T\n=\n\n.. {directive}\n\n   {line}\n"
        assert [each.code for each in _code(written, "a.rst")] == [line]
    said = ">>> b = '# doctest: +SKIP'"
    assert [each.code for each in _code(f"```pycon\n{said}\n```\n")] == [said]


def test_annotations_are_not_indexed_as_code() -> None:
    text = "```yaml\na: # (1)!\nb: 2 # (2)!\n```\n\n1. One\n2. Two\n"
    assert [block.code for block in _code(text)] == ["a:\nb: 2"]
    assert [block.code for block in _code("```yaml\na: # (1)!\n```\n\nText.\n")] == ["a: # (1)!"]


def test_lines_of_sphinx_keep_their_marks_for_the_page() -> None:
    text = "T\n=\n\n.. code-block:: python\n   :linenos:\n   :emphasize-lines: 2\n\n   a\n   b\n"
    document = parse(Source("c", "a.rst", text.encode(), "0"), Collection(root="."))
    assert '<pre class="language-python numbered-1 marked-2">' in document.html
