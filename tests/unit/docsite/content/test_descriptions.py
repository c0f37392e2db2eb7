"""What is said of an object stands in a box of its own below its signatures."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from noctule.docsite.content.definitions import descriptions
from noctule.pipeline.includes.python_blocks import DESCRIPTIONS_END
from noctule.pipeline.parse.markdown.syntax import markdown_parser
from tests.site_builder import page_of

RST = (
    "API\n===\n\n.. class:: Owl(name)\n            Owl(name, age)\n\n   A bird.\n\n   .. method:: fly()\n\n"
    "      Far.\n\n.. envvar:: OWLS\n\nAfter.\n"
)
MYST = "# API\n\n::::{py:class} Owl(name)\nA bird.\n\n:::{py:method} fly()\nFar.\n:::\n::::\n\nAfter.\n"


def _below(html: BeautifulSoup, name: str) -> str:
    place = html.find(id=name)
    assert place is not None
    description = place.find_parent(class_="description")
    assert description is not None
    inside = description.find(class_="description-content", recursive=False)
    return " ".join(inside.stripped_strings) if inside else ""


@pytest.mark.parametrize(("written", "name"), [(RST, "api.rst"), (MYST, "api.md")])
def test_members_stand_within_the_description_of_their_class(written: str, name: str) -> None:
    page = page_of({name: written}, "api.html")
    assert _below(page, "Owl") == "A bird. fly() Far."
    assert _below(page, "Owl.fly") == "Far."
    (after,) = (each for each in page.select("article p") if each.text == "After.")
    assert after.find_parent(class_="description") is None


def test_all_signatures_stand_above_and_an_object_without_a_description_has_no_box() -> None:
    page = page_of({"api.rst": RST}, "api.html")
    signatures = page.select(".description > p")
    assert [each.text for each in signatures] == ["Owl(name)", "Owl(name, age)", "fly()", "OWLS"]
    assert len(page.select(".description-content")) == 2


def _boxes(text: str) -> list[str]:
    boxes = page_of({"api.md": f"# API\n\n{text}"}, "api.html").select(".description-content")
    return [" ".join(part.text for part in box.find_all("p")) for box in boxes]


def _object(marks: str, name: str) -> str:
    return f"{marks} {name}\n\n```python signature\n{name}\n```\n\nOf {name}.\n\n"


def test_an_api_page_has_members_within_their_class_and_what_follows_outside() -> None:
    text = _object("##", "Owl") + _object("###", "fly") + _object("##", "Barn") + "# Other\n\nText.\n"
    assert _boxes(text) == ["Of Owl. Of fly.", "Of fly.", "Of Barn."]


def test_footnotes_and_signatures_without_a_heading_are_in_no_box() -> None:
    assert _boxes(_object("##", "Owl") + "See.[^1]\n\n[^1]: Note.\n") == ["Of Owl. See.[1]"]
    assert _boxes("Text.\n\n```python signature\nrun()\n```\n\nText.\n") == []
    assert _boxes("- ## Owl\n\n  ```python signature\n  Owl\n  ```\n\n  Text.\n") == []


def test_a_description_ends_at_the_mark_below_it() -> None:
    tokens = markdown_parser().parse(f"{_object('##', 'Owl')}\n{DESCRIPTIONS_END}\n\nText.\n")
    kinds = [token.type for token in descriptions(tokens)]
    assert kinds.index("group_close") < kinds.index("html_block") < kinds.index("paragraph_close", -3)
