"""Formulas, tabs and diagrams as pages show them, and as the index reads them."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.content.formulas import formula_html
from noctule.pipeline.parse.markdown.parser import read_markdown
from tests.site_builder import content_of


def _soup(text: str, **others: str) -> BeautifulSoup:
    return BeautifulSoup(content_of(text, **others), "html.parser")


@pytest.mark.parametrize("written", ["$x^2$", "a $x_1$, b", "($x$)", r"$\frac{1}{2}$!", "$a*b*c$", "$f(x)$"])
def test_a_formula_in_a_line_is_mathml(written: str) -> None:
    (formula,) = _soup(written).select("p > span.formula > math")
    assert formula["display"] == "inline" and formula.parent["data-latex"] in written


@pytest.mark.parametrize(
    "written",
    [
        "$5 and $10",
        "costs $5",
        "US$ and C$",
        "$HOME/$PATH here",
        "`$x^2$`",
        r"\$x^2\$",
        "$ x^2 $",
        "5$ or 6$, x",
        "$5-$6",
        "a $b\n\nc$ d",
    ],
)
def test_money_and_names_are_no_formulas(written: str) -> None:
    assert not _soup(written).select("math, .formula")


def test_a_formula_on_lines_of_its_own_may_hold_what_would_begin_a_list() -> None:
    soup = _soup("Before\n\n$$\nx\n- y\n= \\sqrt{2}\n$$\n\nafter $$z$$.\n")
    assert [m["display"] for m in soup.select(".display > math")] == ["block", "block"]
    assert not soup.select("ul, h1, h2") and soup.select_one("msqrt") is not None


def test_a_fence_of_mathematics_is_a_formula() -> None:
    assert _soup("```math\n\\sum_{i=0}^n i\n```\n").select_one("math msubsup, math munderover") is not None


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<script>alert(1)</script>}", r"\href{javascript:alert(1)}{x}",
        r"\class{x" + '" onclick="alert(1)' + r"}{y}",
        r"\style{color:red}{x}", r"\color{red;background:url(//evil.example)}{x}", r"\frac{", "{" * 900,
        "x" * 9000, r"\sqrt" * 2000,
        r"\begin{matrix}" * 200, "<img src=x onerror=alert(1)>", "&lt;script&gt;", r"\def\a{\a\a}\a",
    ],
)  # fmt: skip
def test_no_formula_holds_anything_but_signs(latex: str) -> None:
    soup = BeautifulSoup(formula_html(latex, False), "html.parser")
    assert not soup.select("script, img, a, style, [href], [onclick], [style], [mathcolor], [mathbackground]")
    assert soup.select_one(".formula")["class"][0] == "formula"


def test_what_is_no_latex_is_shown_as_it_is_written() -> None:
    code = _soup(r"See $\frac{$ here").select_one("code.unread")
    assert code is not None and code.text == r"\frac{"


def test_headings_with_formulas_keep_their_names() -> None:
    assert [h.get("id") for h in _soup("# On $x^2$\n\n## Area $\\pi r^2$\n\ntext\n").select("h1, h2")] == [
        "on-x2",
        "area-pi-r2",
    ]


TABS = (
    '=== "pip"\n\n    Use [this](page.md).\n\n    ```sh\n    pip\n    ```\n\n=== "uv"\n\n'
    "    Another.\n\nAfter.\n"
)


def test_tabs_are_boxes_with_titles_that_read_without_scripts() -> None:
    soup = _soup(TABS)
    boxes = soup.select("div.callout-tab")
    assert [box.select_one(".callout-title").text for box in boxes] == ["pip", "uv"]
    assert boxes[0].a["href"] == "page.html" and boxes[0].select_one(".code") is not None
    assert [p.text for p in soup.find_all("p", recursive=False)] == ["After."]


@pytest.mark.parametrize(
    "written", ["/// tab | pip\nx\n///\n", "=== 'pip'\n    x\n", '- a\n\n    === "pip"\n\n        x\n']
)
def test_tabs_may_be_written_in_several_ways(written: str) -> None:
    assert _soup(written).select_one(".callout-tab > .callout-title").text == "pip"


@pytest.mark.parametrize("written", ["Title\n===\n", "=== pip\n\n    code\n", '    === "code"\n'])
def test_what_only_looks_like_tabs_is_left_alone(written: str) -> None:
    assert not _soup(written).select(".callout-tab")


def test_the_index_reads_tabs_and_formulas_as_text() -> None:
    found = read_markdown(TABS + "\nSay $a_1*b*c$.\n", 0, "x")
    assert [link.target for link in found.links] == ["page.md"]
    assert [b.text for b in found.blocks if b.kind == "code"] == ["pip"]
    assert "Say $a_1*b*c$." in [b.text for b in found.blocks]


def test_a_diagram_stays_as_its_source() -> None:
    block = _soup("```mermaid\nflowchart LR\n  A --> B<script>\n```\n").select_one(".code.diagram code")
    assert block is not None and block.text == "flowchart LR\n  A --> B<script>\n"


@pytest.mark.parametrize(
    ("written", "formulas"),
    [
        ("\\begin{align}\na &= b \\\\\n- c &= d_1*e_1\n\\end{align}\n", 1),
        ("Say \\begin{equation*} x_1*y*z \\end{equation*} here.\n", 1),
        ("> \\begin{pmatrix}\n> a & b\n> \\end{pmatrix}\n", 1),
        ("\\begin{align}\na\n\nb\n\\end{align}\n", 0),
        ("\\begin{pmatrix}\n\\begin{pmatrix} a \\end{pmatrix}\n\\end{pmatrix}\n", 1),
        ("\\begin{itemize}\na\n\\end{itemize}\n", 0),
        ("`\\begin{align}a\\end{align}`\n", 0),
        ("    \\begin{align}\n    a\n    \\end{align}\n", 0),
    ],
)
def test_environments_of_amsmath_are_formulas(written: str, formulas: int) -> None:
    soup = _soup(written)
    assert len(soup.select("span.formula.display math")) == formulas
    assert ("begin" in soup.get_text()) is not bool(formulas) and not soup.select("em, li")
