"""Options, variables and settings have the anchors that Sphinx gives them, and roles lead there."""

from __future__ import annotations

import pytest

from noctule.pipeline.identity import doc_id
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.parse.standard_objects import option_names
from noctule.pipeline.settings.collection import Collection

OPTIONS = """
.. envvar:: OWL.PATH

   Where.

.. confval:: wings
   :type: ``int``
   :default: *two*

   How many.

.. option:: --loud, -l

   Without a program.

.. program:: owl fly

.. cmdoption:: -h=<metres>, --height <metres>
.. option:: height, +v
.. std:option:: /W[=level]

.. program:: None

.. option:: --quiet
   :no-index:
"""


def read(text: str, path: str = "a.rst") -> Document:
    return parse(Source("c", path, text.encode(), "0"), Collection(root="."))


def leads_to(role: str, declared: str = "") -> str | None:
    """Return the anchor of the object that a role in another document leads to."""
    documents = [read(declared + OPTIONS), read(f"{declared}See {role}.\n", "b.rst")]
    linking = [linking_document(each, ()) for each in documents]
    links = resolve_links(linking, {"c": Collection(root=".")})
    return next((link.fragment for link in links if link.target_id == doc_id("c", "a.rst")), None)


@pytest.mark.parametrize(
    "anchor",
    [
        "envvar-OWL.PATH", "confval-wings", "cmdoption-loud", "cmdoption-l", "cmdoption-owl-fly-h",
        "cmdoption-owl-fly-height", "cmdoption-owl-fly-arg-height", "cmdoption-owl-fly-arg-v",
        "cmdoption-owl-fly-W",
    ],
)  # fmt: skip
def test_a_description_has_the_anchor_of_sphinx(anchor: str) -> None:
    assert anchor in read(OPTIONS).anchors


def test_a_description_that_is_not_indexed_has_none() -> None:
    assert not [anchor for anchor in read(OPTIONS).anchors if "quiet" in anchor]


@pytest.mark.parametrize(
    ("role", "anchor"),
    [
        (":envvar:`OWL.PATH`", "std:envvar:OWL.PATH"),
        (":envvar:`owl.path`", None),
        (":envvar:`the path <OWL.PATH>`", "std:envvar:OWL.PATH"),
        (":std:confval:`wings`", "std:confval:wings"),
        (":option:`--loud`", "std:option::--loud"),
        (":option:`--loud=yes`", "std:option::--loud"),
        (":option:`owl fly --height`", "std:option:owl-fly:--height"),
        (":option:`how high <owl fly -h>`", "std:option:owl-fly:-h"),
        (":option:`owl fly -H`", None),
        (":option:`-h`", None),
        (":option:`!--loud`", None),
    ],
)
def test_a_role_leads_to_the_description(role: str, anchor: str | None) -> None:
    assert leads_to(role) == anchor


def test_options_after_a_program_are_its_own() -> None:
    page = read(OPTIONS.replace(".. program:: None", "Not :option:`-h`."))
    assert [link.target for link in page.links] == ["#object::option:owl-fly:-h"]


def test_a_type_and_a_default_are_said_beside_a_setting() -> None:
    html = read(OPTIONS).html
    assert "<dt>Type</dt><dd><p><code>int</code></p></dd>" in html
    assert "<dt>Default</dt><dd><p><em>two</em></p></dd>" in html


DECLARED = (
    ".. declared-objects:: setting setting place, tag templatetag text, cmd command program,"
    " option flag option\n\n"
)
OWN = """
.. setting:: LOUD

Loud
----

.. templatetag:: for
   each

.. command:: hoot [times]

   Hoots.

.. flag:: --at HOUR
"""


def test_types_of_a_project_have_anchors_and_show_what_sphinx_shows() -> None:
    html = read(DECLARED + OWN).html
    heading = (
        'id="source-loud"><span id="source-std:setting:LOUD"></span><span id="source-setting-LOUD"></span>'
    )
    assert f"<h1 {heading}Loud</h1>" in html and "LOUD</p>" not in html
    assert 'id="source-templatetag-for"' in html and "<code>for</code>" in html
    assert 'id="source-command-hoot"' in html and "<code>hoot [times]</code>" in html
    assert 'id="source-cmdoption-hoot-at"' in html


@pytest.mark.parametrize(
    ("role", "address"),
    [
        (":setting:`LOUD`", "#object::setting:LOUD"),
        (":tag:`for`", "#object::templatetag:for"),
        (":std:cmd:`hoot`", "#object::command:hoot"),
    ],
)
def test_roles_of_a_project_name_its_objects(role: str, address: str) -> None:
    assert [link.target for link in read(f"{DECLARED}{role}\n").links] == [address]


def test_what_one_document_is_told_no_other_knows() -> None:
    read(DECLARED + OWN)
    later = read(".. flag:: --at\n\n:tag:`for`\n")
    assert ([link.target for link in later.links], later.anchors) == (
        ["#object::tag:for"],
        ("std:flag:--at", "flag-at"),
    )


def test_an_extension_that_is_not_there_may_have_declared_a_type() -> None:
    page = read(".. sig:: QUIT\n\n:sig:`QUIT` :sig:`!QUIT` :c:sig:`QUIT`\n")
    assert [link.target for link in page.links] == ["#object::sig:QUIT"]
    assert page.anchors == ("std:sig:QUIT", "sig-QUIT")
    assert page.blocks[0].text == "QUIT"


def test_a_directive_with_content_is_no_such_object() -> None:
    assert read(".. birds:: Owl\n\n   Text.\n").anchors == ()


def test_a_command_of_a_project_is_not_the_role_of_docutils() -> None:
    page = read(".. declared-objects:: command command place\n\n.. command:: hoot\n\n:command:`hoot`\n")
    assert [link.target for link in page.links] == ["#object::command:hoot"]


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("-o FILE, --output=FILE", ["-o", "--output"]),
        ("--color[=WHEN]", ["--color"]),
        ("module[=name", ["module["]),
        ("", []),
        ("-a, " * 9_999, ["-a"] * 100),
    ],
)  # fmt: skip
def test_names_of_an_option(signature: str, names: list[str]) -> None:
    assert option_names(signature) == names


def test_a_program_whose_name_is_too_long_is_none() -> None:
    page = read(f".. program:: {'x ' * 200}\n\n.. option:: --loud\n")
    assert page.anchors == ("std:option::--loud", "cmdoption-loud")
