"""Numbers of figures and tables, references to them, and options of cells, as Quarto shows them."""

from __future__ import annotations

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context
from tests.processor_time import processor_seconds
from tests.site_builder import content_of

NAMED = (
    "![An owl](a.png){#fig-owl}\n\n::: {#fig-two}\nx\n:::\n\n| a |\n|---|\n| 1 |\n\n"
    ": Birds {#tbl-x .striped}\n\n## The start {#sec-a}\n\n$$\nx\n$$ {#eq-one}\n\n"
    "## Of [owls](owls.md) a[0][^1] x {#sec-b}\n\n"
    "````\n```{r}\n#| label: fig-example\n```\n![x](a.png){#fig-example}\n````\n"
)


def expanded(text: str) -> ExpandedText:
    def find(_target: str, _included_by: str) -> IncludedFile:
        raise NotIncluded("there is no such file")

    return expand(text, "/docs/page.qmd", find, 1_000_000, Context(path="/docs/page.qmd"))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("@fig-owl", "[Figure 1](#fig-owl)"),
        ("@tbl-x", "[Table 1](#tbl-x)"),
        ("@sec-a", "[The start](#sec-a)"),
        ("@eq-one", "[Equation 1](#eq-one)"),
        ("[-@fig-two]", "[2](#fig-two)"),
        ("[Fig @fig-two]", "[Fig 2](#fig-two)"),
        ("[@fig-owl; @fig-two]", "[Figure 1](#fig-owl), [Figure 2](#fig-two)"),
        ("@fig-other and a@fig-owl", "@fig-other and a@fig-owl"),
        ("`@fig-owl`", "`@fig-owl`"),
        ("\\@fig-owl", "\\@fig-owl"),
        ("@sec-b", "[Of owls a[0] x](#sec-b)"),
        ("@fig-example", "@fig-example"),
    ],
)
def test_a_reference_is_a_link_with_the_number(written: str, shown: str) -> None:
    assert expanded(f"{NAMED}\nSee {written}.\n").text.endswith(f"\nSee {shown}.\n")


def test_captions_have_numbers_and_nothing_of_the_names_is_text() -> None:
    page = content_of(f"# Page\n\n{expanded(NAMED + chr(10) + 'See @fig-owl and @tbl-x.').text}\n")
    assert "<em>Figure 1: An owl</em>" in page and "Table 1: Birds" in page
    assert "{#" not in page.replace("{#fig-example}", "") and 'id="tbl-x"' in page


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ("![An owl](a.png){#fig-o width=50%}", "fig-o"),
        ("![](a.png){#fig-o width=50%}", "fig-o"),
        ('```{#lst-o .python lst-cap="Owls"}\nx\n```', "lst-o"),
    ],
)
def test_a_reference_leads_to_what_has_other_attributes_too(named: str, name: str) -> None:
    page = content_of(f"# Page\n\n{expanded(f'{named}{chr(10)}{chr(10)}See @{name}.').text}\n")
    assert page.count(f'id="{name}"') == 1 and f'href="#{name}"' in page
    assert "Owls" in page or name == "fig-o"


def test_a_named_image_that_nothing_refers_to_may_be_of_another_tool() -> None:
    assert expanded("![An owl](a.png){#fig-owl}\n").text == "![An owl](a.png){#fig-owl}\n"


def test_options_of_cells_are_no_code_and_hidden_cells_are_not_shown() -> None:
    cell = "```{python}\n#| code-fold: true\n#| tbl-cap:\n#|   - a\nx = 1 #| y\n```\n"
    assert expanded(cell).text == "```{python}\nx = 1 #| y\n```\n\na\n"
    plot = '```{r}\n#| label: fig-p\n#| fig-cap: "A plot"\n#| echo: false\nplot(1)\n```\n\nSee @fig-p.\n'
    found = expanded(plot)
    assert found.text == "[](){ #fig-p }Figure 1: A plot\n\nSee [Figure 1](#fig-p).\n"
    assert found.notes == ("line 1: what a cell makes is not shown: no program is run",)
    shown = plot.replace("echo: false", "echo: true")
    assert expanded(shown).text.startswith("```{r}\nplot(1)\n```\n\n[](){ #fig-p }Figure 1: A plot\n\nSee")
    listed = "- a\n\n  " + plot.replace("\n", "\n  ")
    assert "\n  [](){ #fig-p }" in expanded(listed).text
    long = plot.replace('"A plot"', ">\n#|   A\n#|   plot").replace("echo: false", "echo: true")
    assert ": A plot\n" in expanded(long).text
    for false in ("FALSE", "no", "false # in print"):
        assert "secret" not in expanded(f"```{{r}}\n#| include: {false}\nsecret\n```\n").text
    hidden = expanded("A\n\n```{r}\n#| include: false\nsecret\n```\n\nB\n")
    assert (hidden.text, hidden.notes) == ("A\n\n\n\nB\n", ())


@pytest.mark.parametrize(
    "piece",
    [
        "@fig-a ",
        "[@fig-a;",
        "![a](b){#fig-a\n",
        ": a {#tbl-a\n",
        "$$ {#eq-",
        "```{python}\n#| a: b\n",
        "#| ",
        " ",
    ],
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded("x {#fig-b}\n# " + (piece * 60_000)[:60_000])
    assert processor_seconds() - start < 5
