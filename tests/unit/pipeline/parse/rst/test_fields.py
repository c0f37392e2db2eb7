"""Names of types in fields of a description lead to what Sphinx would make them lead to."""

from __future__ import annotations

import pytest

from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection

OWL = """
.. module:: birds

.. class:: Owl

   {}
"""


def read(field: str, owl: str = OWL) -> Document:
    return parse(Source("c", "a.rst", owl.format(field).encode(), "0"), Collection(root="."))


def linked(document: Document) -> list[str]:
    found = resolve_links([linking_document(document, ())], {"c": Collection(root=".")})
    return [link.text for link in found if link.fragment == "birds.Owl"]


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        (":param Owl x: One.", "x · Owl"),
        (":param x: One.\n   :type x: Owl or None", "x · Owl or None"),
        (":type x: dict[str, Owl] | None", "x · dict[str, Owl] | None"),
        (":rtype: ~birds.Owl", "Owl"),
        (":rtype: :class:`~birds.Owl` of the night", "Owl of the night"),
        (":raises ValueError, Owl: Loud.", "ValueError, Owl"),
        (":vartype owl: birds.Owl", "owl · birds.Owl"),
    ],
)
def test_a_type_in_a_field_is_a_link(field: str, shown: str) -> None:
    document = read(field)
    assert f"- {shown}" in [block.text for block in document.blocks]
    assert linked(document) == ["birds.Owl" if "birds." in shown else "Owl"]


@pytest.mark.parametrize(
    "field", [":param Owl: A name.", ":rtype: int", ":rtype: !Owl", ":statuscode Owl: No."]
)
def test_what_is_no_type_is_none(field: str) -> None:
    assert linked(read(field)) == []


def test_types_of_other_languages_are_text() -> None:
    assert read(":param Owl x: One.", ".. js:function:: Owl\n\n   {}\n").links == ()


def test_a_type_is_one_piece_of_code() -> None:
    link = '<a href="#object:.Owl:birds.Owl:birds">Owl</a>'
    assert f"<code>list[{link}]</code>" in read(":rtype: list[Owl]").html


MEMBERS = """
.. class:: Owl

   .. method:: set()
   .. method:: optional()
   .. attribute:: None

   {}

.. class:: np.ndarray
"""


@pytest.mark.parametrize(
    ("field", "names"),
    [
        (":rtype: set", []),
        (":param set optional: One.", []),
        (":type x: Owl, optional", ["Owl"]),
        (":rtype: None", []),
        (":rtype: np.ndarray of Owl or None", ["np.ndarray", "Owl"]),
    ],
)
def test_a_type_is_no_method_of_its_name(field: str, names: list[str]) -> None:
    links = resolve_links([linking_document(read(field, MEMBERS), ())], {"c": Collection(root=".")})
    assert [link.fragment for link in links if link.target_id] == names


def test_types_after_a_hundred_are_text() -> None:
    document = read(f":rtype: {' | '.join(['Owl'] * 200)} | ~a.Owl")
    assert (len(document.links), document.text.count("Owl")) == (100, 202)
    assert "| ~a.Owl" in document.text


def test_the_name_of_a_function_stands_after_what_it_is() -> None:
    assert read("", ".. py:function:: async go()\n{}").anchors == ("go", "py:go")
