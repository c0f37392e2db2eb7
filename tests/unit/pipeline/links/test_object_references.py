"""References to Python objects lead to what Sphinx would make them lead to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from noctule.pipeline.identity import doc_id
from noctule.pipeline.links.linking_documents import LinkingDocument
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Link
from noctule.pipeline.parse.python_objects import object_address, shown_name
from noctule.pipeline.settings.collection import Collection

OBJECTS = {
    "api.rst": ("pkg", "pkg.run", "pkg.Owl", "pkg.Owl.fly", "pkg.Owl.run"),
    "birds.rst": ("birds.Owl", "birds.Owl.fly", "birds.hatch"),
    "print.rst": ("print",),
}


def resolved(address: str) -> tuple[str, str] | None:
    documents = [
        LinkingDocument(
            doc_id("c", path), "c", path, "", path, (),
            ("print", *(f"py:{name}" for name in names), *names), (),
        )
        for path, names in OBJECTS.items()
    ]  # fmt: skip
    source = LinkingDocument(
        doc_id("c", "a.rst"), "c", "a.rst", "", "a", (), ("run",), (Link("link", address, "", 0),)
    )
    links = resolve_links([source, *documents], {"c": Collection(root=".")})
    return next(((str(link.target_id).removeprefix("c:"), link.fragment) for link in links), None)


@pytest.mark.parametrize(
    ("role", "target", "holder", "module", "found"),
    [
        ("class", "pkg.Owl", "", "", ("api.rst", "pkg.Owl")),
        ("py:meth", "pkg.Owl.fly()", "", "", ("api.rst", "pkg.Owl.fly")),
        ("class", "~pkg.Owl", "", "", ("api.rst", "pkg.Owl")),
        ("class", "Owl", "", "", None),
        ("class", "Owl", "", "birds", ("birds.rst", "birds.Owl")),
        ("meth", "fly", "pkg.Owl", "pkg", ("api.rst", "pkg.Owl.fly")),
        ("func", "run", "pkg.Owl", "pkg", ("api.rst", "pkg.Owl.run")),
        ("func", "print", "", "pkg", ("print.rst", "print")),
        ("mod", "pkg", "", "", ("api.rst", "pkg")),
        ("mod", "Owl", "", "pkg", None),
        ("func", ".hatch", "", "", ("birds.rst", "birds.hatch")),
        ("func", "~.hatch", "", "", ("birds.rst", "birds.hatch")),
        ("class", ".Owl", "", "", None),
        ("class", ".Owl", "", "birds", ("birds.rst", "birds.Owl")),
        ("meth", ".Owl.fly", "", "", None),
        ("meth", ".atch", "", "", None),
        ("func", "run", "", "", None),
    ],
)
def test_a_name_is_looked_for_as_sphinx_does(
    role: str, target: str, holder: str, module: str, found: tuple[str, str] | None
) -> None:
    assert resolved(object_address(role, target, holder, module)) == found


@pytest.mark.parametrize(
    ("role", "target"),
    [("c:func", "run"), ("made-up", "run"), ("class", "kombu:kombu.Queue"), ("class", "a b")],
)
def test_what_names_no_object_of_python_has_no_address(role: str, target: str) -> None:
    assert object_address(role, target) == ""


def test_what_several_documents_describe_is_one_object() -> None:
    documents = [
        LinkingDocument(
            doc_id("c", path), "c", path, "", "", (), ("py:pkg.Owl",), (Link("link", "#object:.Owl", "", 0),)
        )
        for path in ("b.rst", "a.rst")
    ]
    links = resolve_links(documents, {"c": Collection(root=".")})
    assert [(link.target_id, link.fragment) for link in links] == [("c:a.rst", "py:pkg.Owl")] * 2


@pytest.mark.parametrize(
    ("role", "target", "shown"),
    [
        ("class", "pkg.Owl", "pkg.Owl"),
        ("class", "~pkg.Owl", "Owl"),
        ("class", "~.Owl", "Owl"),
        ("class", ".Owl", "Owl"),
        ("func", "run", "run()"),
        ("py:meth", "~pkg.Owl.fly()", "fly()"),
        ("meth", "!fly", "fly()"),
        ("attr", "!name", "name"),
        ("c:func", "run", "run"),
    ],
)
def test_a_role_shows_what_it_shows_in_sphinx(role: str, target: str, shown: str) -> None:
    assert shown_name(role, target) == shown


class _CountedAnchors(tuple[str, ...]):
    """Anchors that count how often they are gone through."""

    passes = 0

    def __iter__(self) -> Iterator[str]:
        type(self).passes += 1
        return super().__iter__()

    def __contains__(self, name: object) -> bool:
        type(self).passes += 1
        return super().__contains__(name)


@pytest.mark.parametrize("written", ["#object:.Owl{}", "#object:birds.Owl{}"])
def test_the_objects_of_a_page_are_listed_once_for_all_its_roles(written: str) -> None:
    _CountedAnchors.passes = 0
    anchors = _CountedAnchors(f"py:birds.Owl{number}" for number in range(500))
    roles = tuple(Link("link", written.format(number), "", 0) for number in range(500))
    page = LinkingDocument("c:a.rst", "c", "a.rst", "", "a", (), anchors, roles)
    links = resolve_links([page], {"c": Collection(root=".")})
    assert [link.fragment for link in links] == list(anchors)
    assert 0 < _CountedAnchors.passes < 20
