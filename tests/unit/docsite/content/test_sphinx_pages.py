"""What Sphinx's directives become on a page: formulas, tabs, pictures, parsed literals, fields."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from noctule.pipeline.navigation.toctree import toctrees
from noctule.pipeline.parse.rst.parser import rst_page
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


GLOSSARY = """Terms
=====

.. glossary::

   Wing beat
   flap
      One stroke.

   roost : noun
      Where bats sleep.

   C
      A language.

   C++
      Another.
"""


@pytest.mark.parametrize(
    ("name", "shown"), [("wing beat", "wing beat"), ("flap", "flap"), ("a <Roost>", "a"), ("C++", "C++")]
)
def test_a_term_leads_to_its_entry_in_the_glossary(name: str, shown: str) -> None:
    (link,) = _page(f"See :term:`{name}`.", terms=GLOSSARY).select("article p > a")
    page, _, anchor = str(link["href"]).partition("#")
    entry = page_of({"terms.rst": GLOSSARY}, "terms.html").find(id=unquote(anchor))
    assert (link.text, page) == (shown, "terms.html")
    assert entry is not None and entry.parent is not None and entry.parent.name == "dt"
    assert "+" not in name or entry.parent.text.startswith("C++")


def test_a_term_of_another_projects_glossary_is_text() -> None:
    page = _page("See :term:`iterator`, and :term:`flap` here.\n\n.. glossary::\n\n   flap\n      Stroke.")
    assert [link.text for link in page.select("article p > a")] == ["flap"]
    assert page.select(".missing-link") == [] and "See iterator, and" in page.text


def test_a_hidden_table_of_contents_is_on_no_page_and_orders_the_site() -> None:
    tree = (
        '.. toctree::\n   :hidden:\n   :caption: The "owls"\n\n'
        "   terms\n   Issues <https://example.org/a?b=c>\n"
    )
    page = _page(f"{tree}\nAfter.\n", terms=GLOSSARY)
    assert page.select("article li") == [] and "After." in page.text
    html = rst_page(f"Page\n====\n\n{tree}", "test").html
    assert "Issues" not in BeautifulSoup(html, "html.parser").text
    (listed,) = toctrees("", html)
    assert listed.title == 'The "owls"'
    assert [(each.title, each.target) for each in listed.children] == [
        ("", "terms"),
        ("Issues", "https://example.org/a?b=c"),
    ]


def test_what_is_said_to_a_theme_is_not_on_the_page() -> None:
    page = page_of({"page.rst": ":layout: landing\n:hide-toc:\n:Version: 2\n\nText.\n"}, "page.html")
    assert [each.text for each in page.select("article dt")] == ["Version"]


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


@pytest.mark.parametrize(
    ("name", "numbered"), [("code-block", ":linenos:\n   :lineno-start: 9"), ("code", ":number-lines: 9")]
)
def test_a_block_of_code_has_its_title_its_numbers_and_its_marked_lines(name: str, numbered: str) -> None:
    options = f'   :caption: Of *owls* & "bats"\n   {numbered}\n   :emphasize-lines: 2\n'
    page = _page(f".. {name}:: python\n{options}\n   a = 1\n   b = 2\n")
    (figure,) = page.select("article figure.code.numbered")
    (title,) = figure.select("figcaption.code-title")
    assert title.text == 'Of owls & "bats"' and page.select("article p strong") == []
    assert [(each["class"], each["data-line"]) for each in figure.select(".line")] == [
        (["line"], "9"),
        (["line", "marked"], "10"),
    ]


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


def test_what_is_for_other_builders_is_left_out() -> None:
    page = _page(
        ".. only:: html\n\n   Shown.\n\n.. only:: latex or man\n\n   Hidden.\n\n"
        ".. only:: not (latex or man)\n\n   Seen.\n\n.. only:: :\n\n   Odd.\n"
    )
    assert [each for each in ("Shown", "Hidden", "Seen", "Odd") if each in page.text] == [
        "Shown",
        "Seen",
        "Odd",
    ]


def test_terms_of_a_glossary_may_share_a_definition() -> None:
    page = _page(".. glossary::\n\n   owl\n   night bird\n      A bird.\n\n   cat\n      A pet.\n")
    shown = [(each.name, each.text) for each in page.select("article dl > *")]
    assert shown == [("dt", "owl"), ("dt", "night bird"), ("dd", "A bird."), ("dt", "cat"), ("dd", "A pet.")]


def test_roles_show_what_sphinx_shows() -> None:
    page = _page(
        ":guilabel:`&Open && Go`, :menuselection:`&File --> New`, :file:`/usr/{name}/x`, :samp:`run {x}`, "
        ":numref:`Figure %s <fig>`, :ref:`fig`\n\n.. _fig:\n\n.. figure:: owl.png\n\n   Owls at night\n"
    )
    assert page.p is not None
    said = page.select("article p")[0].text
    assert said == "Open & Go, File ‣ New, /usr/name/x, run x, Figure, Owls at night"


def test_downloads_are_links_to_files() -> None:
    texts = {"page.rst": "Page\n====\n\nGet :download:`the picture <owl.png>` or :download:`owl.png`.\n"}
    links = page_of(texts, "page.html", assets={"owl.png": png(8, 6)}).select("article p > a")
    assert [link.text for link in links] == ["the picture", "owl.png"]
    assert all(str(link["href"]).startswith("_files/owl.") for link in links)


def test_patterns_of_a_toctree_are_not_shown() -> None:
    assert "*" not in _page(".. toctree::\n   :glob:\n\n   guide/*\n").select("article")[0].text


@pytest.mark.parametrize(
    ("written", "shown", "name"),
    [
        (".. py:data:: X\n   :type: int\n   :value: 3\n", "X: int = 3", "X"),
        (".. py:method:: go(x)\n   :async:\n   :abstractmethod:\n", "abstractmethod async go(x)", "go"),
        (".. c:function:: PyObject *PyType_New(int n)\n", "PyObject *PyType_New(int n)", "PyType_New"),
        (".. cpp:function:: bool ns::run(int n)\n", "bool ns::run(int n)", "ns::run"),
        (".. py:function:: f()\n   :module: a.b\n", "f()", "a.b.f"),
    ],
)
def test_options_complete_a_signature(written: str, shown: str, name: str) -> None:
    page = _page(written)
    assert page.select("article code")[0].text == shown
    assert page.find(id=name) is not None


def test_members_are_named_after_their_class() -> None:
    page = _page(
        ".. py:module:: pkg\n\n.. py:class:: Owl\n\n   .. py:method:: fly()\n\n"
        "   .. py:method:: Owl.hoot()\n\n"
        "   .. py:class:: Nest\n\n      .. py:attribute:: size\n\n.. py:function:: run()\n\n"
        ".. py:class:: birds.Crow\n\n   .. py:method:: birds.Crow.caw()\n"
    )
    names = [str(each["id"]) for each in page.select("article span[id]")]
    assert [name for name in names if name.startswith("pkg")] == [
        "pkg.Owl",
        "pkg.Owl.fly",
        "pkg.Owl.hoot",
        "pkg.Owl.Nest",
        "pkg.Owl.Nest.size",
        "pkg.run",
        "pkg.birds.Crow",
        "pkg.birds.Crow.caw",
    ]


def test_an_object_comes_before_a_heading_that_is_spelt_alike() -> None:
    page = _page(
        "SPEED\n-----\n\n.. py:class:: Speed\n\n.. py:function:: go(to: Speed)\n\n   :type to: Speed\n"
    )
    assert [each["href"] for each in page.select("article dl a")] == ["#Speed"]


def test_cards_and_sidebars_are_boxes_and_grids_stand_side_by_side() -> None:
    page = _page(
        ".. grid:: 2\n\n   .. grid-item-card:: One\n      :link: https://example.org\n\n"
        "      First.\n      +++\n      Foot.\n\n"
        "   .. grid-item-card::\n\n      Second.\n\n.. sidebar:: Side\n\n   Beside.\n"
    )
    card = page.select_one("article div.grid > .callout-card")
    assert card is not None and [each.text for each in card.select("p")] == ["One", "First.", "Foot."]
    assert card.select_one(".callout-title > a[href='https://example.org']") is not None
    assert [each.text for each in page.select(".callout-sidebar p")] == ["Side", "Beside."]
    assert "Second." in page.text
