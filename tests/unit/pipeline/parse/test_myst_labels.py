"""What MyST's directives and formulas are named, and terms of glossaries, are anchors that links lead to."""

from __future__ import annotations

import pytest

from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds


def _parsed(text: str) -> Document:
    return parse(Source("c", "a.md", text.encode(), "0" * 64), Collection(root="."))


def _blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text.strip("- ")) for block in _parsed(text).blocks]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":::{figure} a.png\n:label: eq:x\nCaption\n:::\n", [("text", "Caption")]),
        ("```{code} sh\n:name: eq:x\nls\n```\n", [("code", "ls")]),
        ("````{note}\n```{math}\n:label: eq:x\ny\n```\n````\n", [("code", "y")]),
        (":::{math}\n:name: eq:x\n\ny\n:::\n", [("code", "y")]),
        ("Text\n```{code-block}\n:linenos:\n:name: eq:x\ny\n```\n", [("text", "Text"), ("code", "y")]),
        ("$$\ny\n$$ (eq:x)\n", [("text", "$$\ny\n$$")]),
        ("(eq:x)=\nText\n", [("text", "Text")]),
        ("- Text\n  :::{note}\n  :name: eq:x\n  B\n  :::\n", [("list", "Text"), ("list", "B")]),
        ("Text\n(eq:x)=\n# A\n", [("text", "Text")]),
    ],
)
def test_a_name_is_an_anchor_and_no_text(text: str, shown: list[tuple[str, str]]) -> None:
    assert _parsed(text).anchors == ("eq:x", "ref:eqx") and _blocks(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "````md\n:::{figure} a.png\n:label: x\n:::\n````\n",
        "```{code-block} md\n:::{note}\n:name: x\n:::\n```\n",
        "::::{tab-set}\n:::{tab-item} A\n:name: x\nOne\n:::\n::::\n",
        "```\n$$ y $$ (x)\n```\n",
        "That is $$5 (x) and (x)= too.\n",
    ],
)
def test_examples_cells_and_sums_of_money_name_nothing(text: str) -> None:
    document = _parsed(text)
    assert document.anchors == () and document.text.strip() == text.strip()


GLOSSARY = "```{glossary}\n:sorted:\n\nC++\nC#\n  A *language*,\n  or two.\n\nOwl : bird\n    Flies.\n```\n"


def test_terms_of_a_glossary_are_told_apart() -> None:
    assert _blocks(GLOSSARY) == [
        ("list", "C++, C#"), ("list", "A language, or two."), ("list", "Owl"), ("list", "Flies."),
    ]  # fmt: skip
    names = _parsed(GLOSSARY).anchors
    ours = [f"ref:glossary-term-{name}" for name in ("c-plus-plus", "c-sharp", "owl")]
    assert names == (*ours, "term-Owl")  # as Sphinx has it, where that tells terms apart
    links = _parsed("{term}`c++`, {term}`them <Owl>`, {term}`C`").links
    assert [link.target.removeprefix("#") for link in links] == [names[0], names[2], "ref:glossary-term-c"]
    assert [link.text for link in links] == ["c++", "them", "C"]


def test_a_glossary_in_markdown_has_anchors_too() -> None:
    document = _parsed(":::{glossary}\nOwl `x`\n: Flies.\n\n  Far.\n:::\n\n(term-owl-x)=\nText.\n")
    assert [block.text for block in document.blocks] == ["- Owl x", "- Flies.", "Far.", "Text."]
    assert document.anchors == ("term-owl-x", "ref:term-owl-x", "ref:glossary-term-owl-x", "term-Owl-x")


@pytest.mark.parametrize("line", ["$$ a ", "```{a}\n:name: b\n", "(a)=\n", ":::{glossary}\na\n", "$$ (a)\n"])
def test_hostile_names_take_linear_time(line: str) -> None:
    begun = processor_seconds()
    _parsed(line * (40_000 // len(line)))
    assert processor_seconds() - begun < 6


@pytest.mark.parametrize("number", ["1", "2.1", "3a"])
def test_the_number_of_a_formula_stays_beside_it(number: str) -> None:
    found = _parsed(f"Energy:\n\n$$E = mc^2$$ ({number})\n\nSee ({number}).\n")
    assert any(f"({number})" in block.text for block in found.blocks if "E = mc^2" in block.text)


def test_examples_in_indented_code_are_as_written() -> None:
    code = "```{note}\n:name: n\nText\n```"
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    assert _blocks(f"An example:\n\n{indented}\nEnd.\n")[1] == ("code", code)
    assert "ref:n" not in _parsed(f"An example:\n\n{indented}\nEnd.\n").anchors


def test_a_term_with_underscores_is_found_by_its_name() -> None:
    found = _parsed("```{glossary}\nsnake_case\n: Words.\n```\n\nSee {term}`snake_case`.\n")
    targets = [link.target.removeprefix("#") for link in found.links]
    assert targets and set(targets) <= set(found.anchors)
