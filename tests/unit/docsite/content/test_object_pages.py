"""Roles for Python objects are links on pages, across documents; text that names none is code."""

from __future__ import annotations

import pytest
from bs4 import Tag

from tests.site_builder import page_of

API = (
    "API\n===\n\n.. module:: pkg\n\n.. class:: Owl(name)\n\n   Has :attr:`name`.\n\n   .. attribute:: name\n"
    "\n.. method:: Owl.fly()\n\n   Unlike :meth:`hoot`, :exc:`ValueError` and :func:`.run`.\n\n"
    ".. method:: Owl.hoot()\n\n.. function:: run()\n   :noindex:\n"
)
OTHERS = {"api.rst": API, "more.rst": "More\n====\n\n.. py:function:: more.run()\n"}


def links_of(page: str, **texts: str) -> list[Tag]:
    named = {name.replace("_", "."): text for name, text in texts.items()}
    return page_of({**OTHERS, **named}, page).select("article p > a:has(code)")


@pytest.mark.parametrize(
    ("written", "shown", "target"),
    [
        (":class:`pkg.Owl`", "pkg.Owl", "api.html#pkg.Owl"),
        (":py:meth:`~pkg.Owl.fly`", "fly()", "api.html#pkg.Owl.fly"),
        (":class:`an owl <pkg.Owl>`", "an owl", "api.html#pkg.Owl"),
        (":obj:`.Owl`", "Owl", "api.html#pkg.Owl"),
        (":mod:`pkg`", "pkg", "api.html#py:pkg"),
        (".. currentmodule:: pkg\n\nOf :class:`Owl`", "Owl", "api.html#pkg.Owl"),
    ],
)
def test_a_name_leads_to_its_description(written: str, shown: str, target: str) -> None:
    (link,) = links_of("page.html", page_rst=f"Page\n====\n\n{written}\n")
    assert (link.text, str(link["href"]).replace("%3A", ":")) == (shown, target)
    assert page_of(OTHERS, "api.html").find(id=target.partition("#")[2]) is not None


def test_a_module_that_ends_in_myst_and_one_that_is_shown_are_none() -> None:
    ended = "```{currentmodule} more\n```\n\n```{currentmodule} None\n```\n\n"
    shown = "````\n```{currentmodule} more\n```\n````\n\n"
    for text in (ended, shown):
        assert links_of("page.html", page_md=f"# Page\n\n{text}By {{func}}`run`.\n") == []
    assert "{currentmodule} more" in page_of({"page.md": f"# Page\n\n{shown}"}, "page.html").text


@pytest.mark.parametrize(
    "written", [":class:`Owl`", ":class:`!pkg.Owl`", ":exc:`KeyError`", ":c:func:`pkg.run`"]
)
def test_what_leads_nowhere_is_code_and_no_broken_link(written: str) -> None:
    page = page_of({**OTHERS, "page.rst": f"Page\n====\n\nSee {written}.\n"}, "page.html")
    assert page.select("article p a") == [] and len(page.select("article p > code")) == 1
    assert page.select("article .broken, article .missing") == []


def test_members_are_looked_for_in_the_class_whose_description_names_them() -> None:
    assert [(link.text, link["href"]) for link in links_of("api.html")] == [
        ("name", "#pkg.Owl.name"),
        ("hoot()", "#pkg.Owl.hoot"),
        ("run()", "more.html#more.run"),
    ]


@pytest.mark.parametrize(
    ("written", "shown", "target"),
    [
        ("{class}`pkg.Owl`", "pkg.Owl", "api.html#pkg.Owl"),
        ("{py:func}`~more.run`", "run()", "more.html#more.run"),
        ("{meth}`flies <pkg.Owl.fly>`", "flies", "api.html#pkg.Owl.fly"),
        ("it.\n\n```{py:currentmodule} more\n```\n\nBy {func}`run`.", "run()", "more.html#more.run"),
        (
            "it.\n\n````{class} Owl()\n```{method} fly()\nAs {meth}`fly`.\n```\n````\n",
            "fly()",
            "#Owl.fly",
        ),
        ("it.\n\n:::{module} other\n:synopsis: a\n:::\n\nOf {mod}`other`.", "other", "#py:other"),
    ],
)
def test_roles_of_myst_do_too(written: str, shown: str, target: str) -> None:
    (link,) = links_of("page.html", page_md=f"# Page\n\nSee {written}.\n")
    assert (link.text, str(link["href"]).replace("%3A", ":")) == (shown, target)
    assert links_of("page.html", page_md="# Page\n\nSee {class}`!pkg.Owl` and {class}`Crow`.\n") == []
