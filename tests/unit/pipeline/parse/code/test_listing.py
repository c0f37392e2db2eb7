"""What is written in code for the tool leaves the text; hostile code is read in linear time."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.code.listing import plain_code, read_listing, with_notes
from noctule.pipeline.parse.code.terminal import Run, ansi_runs, html_runs, text_of
from tests.processor_time import processor_seconds


def test_comments_of_vitepress_mark_lines_and_are_no_code() -> None:
    code = "a // [!code ++]\nb /* [!code --] */\n# [!code focus:2]\nc\nd <!-- [!code hl] -->\n"
    listing = read_listing("js", code)
    assert listing.text == "a\nb\nc\nd"
    assert listing.info.lines == {"added": {1}, "removed": {2}, "focused": {3, 4}, "marked": {4}}


def test_comments_of_docusaurus_mark_lines_and_are_no_code() -> None:
    code = "a\n// highlight-next-line\nb\n{/* highlight-start */}\nc\nd\n{/* highlight-end */}\ne"
    listing = read_listing("jsx {1}", code)
    assert listing.text == "a\nb\nc\nd\ne"
    assert listing.info.lines == {"marked": {1, 2, 3, 4}}


def test_lines_of_a_session_of_python_are_as_its_whole_has_them() -> None:
    assert plain_code(">>> a()  # doctest: +SKIP\n<BLANKLINE>", ">>> a()\n\n>>> b()") == ">>> a()\n"
    assert plain_code("a()  # doctest: +SKIP", "a()  # doctest: +SKIP\nb()") == "a()  # doctest: +SKIP"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["#", " ", "# ", "#\t doctest:", "\n <BLANKLINE"])
def test_sessions_of_python_cost_linear_time(piece: str) -> None:
    before = processor_seconds()
    read_listing("pycon", ">>> doctest: <BLANKLINE>" + piece * (400_000 // len(piece)))
    assert processor_seconds() - before < 5


def test_options_of_myst_are_no_code() -> None:
    listing = read_listing("{code-block} python", ":linenos:\n:emphasize-lines: 1\n:caption: Cap\n\nx = 1\n")
    assert (listing.text, listing.info.title, listing.info.first_number) == ("x = 1", "Cap", 1)
    assert listing.info.lines == {"marked": {1}}
    assert read_listing("yaml", ":key: value\n").text == ":key: value"


def test_annotations_leave_the_code_where_a_list_explains_them() -> None:
    code = "x = 1  # (1)!\ny  # why (2)\nf(1)\nz(2)!\n<a> <!-- (2)! -->"
    listing = with_notes(read_listing("py", code), 2)
    assert listing.text == "x = 1\ny  # why\nf(1)\nz(2)!\n<a>"
    assert listing.notes == {1: (1,), 2: (2,), 5: (2,)}
    assert with_notes(read_listing("py", "x  # (3)!"), 2).notes == {}


def test_escapes_colour_a_terminal_and_are_no_text() -> None:
    runs = ansi_runs("\x1b[31mred\x1b[0m \x1b[1;38;5;21mblue\x1b[2K\x1b[39;22m plain\x1b]0;title\x07")
    assert runs == (Run("red", ("red",)), Run(" "), Run("blue", ("blue", "bold")), Run(" plain"))
    assert read_listing("ansi", "\u241b[32mok").text == "ok"


def test_html_colours_a_terminal_and_is_no_text() -> None:
    runs = html_runs(
        '<font color="#4E9A06">ok</font> <b><u>x</u></b> &lt;tag&gt; <T> <span style="color: red;">r'
    )
    assert text_of(runs) == "ok x <tag> <T> r"
    assert runs[0] == Run("ok", ("green",)) and runs[2].styles == ("bold", "underlined")
    on_colour = html_runs(
        '<span style="background-color:#009485"><font color="#D3D7CF"> FastAPI </font></span>'
    )
    assert on_colour == (Run(" FastAPI ", ("inverse", "white")),)


def test_a_part_of_a_block_is_cleaned_like_the_whole() -> None:
    assert plain_code("$ <b>ls</b> &lt;", "$ ls <") == "$ ls <"
    assert plain_code("<b>x</b>", "say <b>x</b>") == "<b>x</b>"
    assert plain_code("a // [!code ++]", "a") == "a"


_PIECES = [
    "(1)",
    " ",
    "/",
    "#",
    "[!code ++]",
    "// [!code hl:",
    "\x1b[3",
    "<b>",
    "<b",
    "&",
    "{1,",
    '"',
    "[",
    "a",
]


@pytest.mark.parametrize("piece", _PIECES)
def test_hostile_code_takes_linear_time(piece: str) -> None:
    code, begun = piece * (80_000 // len(piece)), processor_seconds()
    with_notes(read_listing(code, code), 9)
    read_listing("js", f"highlight-\n{code}", in_html=True)
    plain_code(f"{code}</", "")
    assert processor_seconds() - begun < 2
