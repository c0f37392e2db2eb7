"""What Sphinx's directives become on a page: formulas, tabs, pictures, parsed literals, fields."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from tests.pictures import png
from tests.site_builder import content_of, page_of

_EQUATION = "\\frac{1}{2}"


def _page(text: str, **others: str) -> BeautifulSoup:
    texts = {"page.rst": f"Page\n====\n\n{text}\n"} | {f"{n}.rst": other for n, other in others.items()}
    return page_of(texts, "page.html", assets={"owl.png": png(800, 600)})


def test_formulas_are_drawn_as_those_of_markdown() -> None:
    page = _page(f"In :math:`{_EQUATION}` text.\n\n.. math:: {_EQUATION}\n")
    markdown = BeautifulSoup(
        content_of(f"In ${_EQUATION}$ text.\n\n```math\n{_EQUATION}\n```\n"), "html.parser"
    )
    drawn = [str(each) for each in page.select("article span.formula")]
    assert drawn == [str(each) for each in markdown.select("span.formula")] and len(drawn) == 2
    assert page.select("article code") == []


def test_formulas_below_each_other_are_aligned_or_apart_and_have_names() -> None:
    page = _page(".. math::\n   :label: one\n\n   a &= b \\\\\n   c &= d\n\n   y = 1\n\nSee :eq:`one`.")
    first, second = page.select("article .formula")
    assert len(first.select("mtr")) == 2 and "&" not in first.text and not second.select("mtr")
    (link,) = page.select("article p > a")
    name = str(link["href"]).removeprefix("#")
    assert link.text == "(one)" and page.find(id=name) is not None


def test_an_aligned_formula_of_markdown_is_drawn_without_its_signs() -> None:
    page = BeautifulSoup(
        content_of("$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$\n"), "html.parser"
    )
    assert len(page.select(".formula mtr")) == 2 and "&" not in page.select_one("math").text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        ".. tab-set::\n\n   .. tab-item:: One\n      :sync: a\n\n      First.\n\n"
        "   .. tab-item:: Two\n\n      Last.\n",
        ".. tabs::\n\n   .. group-tab:: One\n\n      First.\n\n   .. tab:: Two\n\n      Last.\n",
        ".. tab:: One\n\n   First.\n\n.. tab:: Two\n\n   Last.\n",
    ],
)
def test_tabs_are_those_of_the_site(text: str) -> None:
    page = _page(text)
    assert [each.text for each in page.select(".callout-tab > .callout-title")] == ["One", "Two"]
    assert [each.text for each in page.select(".callout-tab > p:last-child")] == ["First.", "Last."]


def test_blocks_of_code_may_be_tabs() -> None:
    page = _page(
        ".. tabs::\n\n   .. code-tab:: py\n\n      x = 1\n\n   .. code-tab:: js Node\n\n      let x\n\n"
        ".. tab-set-code::\n\n   .. code-block:: rust\n\n      let y;\n"
    )
    assert [each.text for each in page.select(".callout-tab > .callout-title")] == ["py", "Node", "rust"]
    assert len(page.select(".callout-tab > .code")) == 3


def test_boxes_that_fold_are_details() -> None:
    page = _page(
        ".. dropdown:: One\n   :open:\n\n   First.\n\n.. dropdown::\n\n   Second.\n\n"
        ".. note::\n   :class: dropdown\n\n   Third.\n"
    )
    boxes = page.select("article details.callout")
    assert [box.summary.text for box in boxes if box.summary] == ["One", "Details", "Note"]
    assert ["open" in box.attrs for box in boxes] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "width", "height"),
    [
        ("   :scale: 50 %\n", "400", "300"),
        ("   :width: 50%\n", "50%", None),
        ("   :width: 200px\n   :scale: 50\n", "100", "75"),
        ("   :height: 60\n", "80", "60"),
        ("   :width: 2in\n", "192", "144"),
        ("   :width: wide\n", "800", "600"),
    ],
)
def test_pictures_have_the_size_that_their_options_say(options: str, width: str, height: str | None) -> None:
    (image,) = _page(f".. image:: owl.png\n{options}").select("article img")
    assert (image.get("width"), image.get("height")) == (width, height)


def test_pictures_stand_at_a_side_and_figures_have_captions() -> None:
    page = _page(
        ".. image:: owl.png\n   :align: right\n   :width: 20px\n   :target: https://example.org\n"
        "   :alt: An owl\n\n"
        ".. figure:: owl.png\n   :align: center\n   :width: 300\n\n   The *caption*.\n\n   A legend.\n"
    )
    beside, inside = page.select("article img")
    assert (beside["class"], beside["alt"]) == (["align-right"], "An owl")
    assert beside.parent is not None and beside.parent["href"] == "https://example.org"
    figure = page.select_one("article figure.align-center")
    assert figure is not None and figure.find("img") == inside
    assert str(figure.figcaption) == "<figcaption>The <em>caption</em>.</figcaption>"
    assert "A legend." in figure.text


def test_markdown_images_stand_at_a_side_too() -> None:
    texts = {"page.md": '![a](owl.png){ align=left width=50 } <img src="owl.png" align="right" width="20">'}
    images = page_of(texts, "page.html", assets={"owl.png": png(800, 600)}).select("article a")
    assert [image["class"] for image in images] == [["enlarge", "align-left"], ["enlarge", "align-right"]]


def test_parsed_literals_keep_markup_and_fill_in_names() -> None:
    page = _page(
        ".. |release| replace:: 1.2\n\n.. parsed-literal::\n\n   get owl==\\ |release|\n"
        "   **now** :doc:`the page <other>`\n",
        other="Other\n=====\n",
    )
    code = page.select_one("article .code code")
    assert code is not None and code.text == "get owl==1.2\nnow the page\n"
    link = code.find("a")
    assert link is not None and link["href"] == "other.html" and code.find("strong") is not None


def test_fields_of_an_object_are_lists() -> None:
    page = _page(
        ".. py:function:: hoot(times, loud)\n\n   Hoot.\n\n   :param times: how *often*\n"
        "   :type times: int\n   :param bool loud: or not\n   :returns: the hoots\n"
        "   :rtype: str\n   :raises ValueError: if not\n"
        "   :meta private:\n   :since: 2\n"
    )
    assert [each.text for each in page.select("article p > strong")] == ["Parameters", "Returns", "Raises"]
    assert [each.text for each in page.select("article dt")] == [
        "times · int",
        "loud · bool",
        "str",
        "ValueError",
        "since",
    ]
    assert [each.text for each in page.select("article dd")] == [
        "how often",
        "or not",
        "the hoots",
        "if not",
        "2",
    ]
    assert "private" not in page.select("article")[0].text
