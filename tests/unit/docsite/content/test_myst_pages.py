"""What MyST names is found on its page: equations, figures, terms of a glossary."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.site_builder import page_of

OTHERS = {
    "terms.md": "# Terms\n\n```{glossary}\nC++\nC#\n  A language.\n\nOwl\n  A bird.\n```\n",
    "sums.md": "# Sums\n\n$$\na = b\n$$ (eq:sum)\n\n:::{figure} owl.png\n:label: fig-owl\nAn owl.\n:::\n",
}


@pytest.mark.parametrize(
    ("written", "shown", "page"),
    [
        ("{term}`C++`", "C++", "terms.html"),
        ("{term}`birds <owl>`", "birds", "terms.html"),
        ("{eq}`eq:sum`", "(eq:sum)", "sums.html"),
        ("[the sum](#eq:sum)", "the sum", "sums.html"),
        ("{numref}`the owl <fig-owl>`", "the owl", "sums.html"),
    ],
)
def test_a_reference_leads_to_what_has_the_name(written: str, shown: str, page: str) -> None:
    (link,) = page_of({"page.md": f"# Page\n\nSee {written}.\n", **OTHERS}, "page.html").select(
        "article p > a"
    )
    target, _, anchor = str(link["href"]).partition("#")
    assert (link.text, target) == (shown, page)
    assert page_of(OTHERS, page).find(id=unquote(anchor)) is not None


@pytest.mark.parametrize(
    "fence", ["```{option}", "- ```{option}", "::: {option}", "1. > ~~~{option}", "-   ::::\t{option}"]
)
def test_an_object_is_found_wherever_its_directive_stands(fence: str) -> None:
    texts = {"page.md": "# Page\n\nSee {option}`--only`.\n", "cli.md": f"# CLI\n\n{fence} --only\n"}
    (link,) = page_of(texts, "page.html").select("article p > a")
    target, _, anchor = str(link["href"]).partition("#")
    assert target == "cli.html" and page_of(texts, "cli.html").find(id=unquote(anchor)) is not None


def test_a_term_that_no_glossary_has_is_text_and_formulas_in_boxes_are_drawn() -> None:
    page = page_of(
        {"page.md": "# Page\n\nSee {term}`bat`.\n\n:::{math}\n:label: one\n\nx^2\n:::\n"}, "page.html"
    )
    assert page.select("article p > a") == [] and len(page.select("article .formula")) == 1
    assert page.find(id="one") is not None and ":label:" not in page.text


def test_a_reference_to_a_place_on_its_own_page_shows_the_title_there() -> None:
    text = "# Page\n\nSee {ref}`of-owls`.\n\n(of-owls)=\n## Of owls and others\n\nText.\n"
    (link,) = page_of({"page.md": text}, "page.html").select("article p > a")
    assert link.text == "Of owls and others"


def test_comments_in_directives_are_the_authors_own() -> None:
    text = "# Page\n\n````{note}\n% Include [it](gone.md)\n```{tip}\nOwls\n% who\nfly.\n```\n````\n"
    page = page_of({"page.md": text}, "page.html")
    assert "Owls" in page.text and "Include" not in page.text and "who" not in page.text
    in_list = page_of({"page.md": "# Page\n\n- Owls\n\n  %secret\n\n````{note}\nText.\n````\n"}, "page.html")
    assert "Owls" in in_list.text and "secret" not in in_list.text


@pytest.mark.parametrize(
    "text",
    [
        "!!! note\n    % of owls\n",
        'Use `{name}`.\n\n=== "Tab"\n\n    Share:\n\n    % of owls, 5\n',
        "Use `{name}`.\n\n::: tip\n- a\n\n  % of owls\n:::\n",
        "Use `{name}`.\n\n% of owls\n",
    ],
)
def test_a_percent_sign_begins_no_comment_outside_of_myst(text: str) -> None:
    assert "% of owls" in page_of({"page.md": f"# Page\n\n{text}"}, "page.html").text


@pytest.mark.parametrize(
    ("written", "shown"), [('"bool"', "bool"), ("'a'", "a"), ('"a" or "b"', '"a" or "b"')]
)
def test_options_of_directives_are_read_as_yaml(written: str, shown: str) -> None:
    text = f"# Page\n\n```{{confval}} owls\n:type: {written}\n\nHow many.\n```\n"
    assert [each.text for each in page_of({"page.md": text}, "page.html").select("dd p")] == [shown]
