"""Autodoc's directives describe objects of declared packages, whose docstrings are reStructuredText."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.address import heading_slugs
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, PythonModule
from noctule.pipeline.parse import parse
from noctule.pipeline.python_api.autodoc import with_autodoc
from noctule.pipeline.settings.collection import Api, Collection
from noctule.pipeline.source_files import FoundFile
from tests.processor_time import processor_seconds

CORE = '''
class Base:
    def close(self):
        """Close it."""

class Client(Base):
    """A client of *things*.

    :param str url: where it is
    :type url: str
    :returns: nothing

    ::

        Client("x").send(1)
    """
    def __init__(self, url: str, *, retries: int = 3): ...
    def send(self, what, **more) -> bool:
        """Send it.

        Parameters
        ----------
        what : int
            The thing.
        """
    def _hidden(self):
        """Never shown."""
    def bare(self): ...

def run():
    """Run all."""
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("from .core import Client as Client\n")
    (tmp_path / "pkg/core.py").write_text(CORE)
    return tmp_path


def read(folder: Path, text: str, name: str = "api.rst") -> Document:
    (folder / name).write_text(text)
    collection = Collection(root=str(folder), api=Api(packages=(str(folder / "pkg"),)))
    return parse(read_source(FoundFile("c", name, str(folder / name), 0), collection), collection)


def test_a_class_is_described_with_its_members_and_can_be_linked(package: Path) -> None:
    page = read(package, "API\n===\n\n.. module:: pkg\n\n.. autoclass:: Client\n   :members:\n\nAfter.\n")
    assert "pkg.Client(url: str, *, retries: int = 3)" in page.text
    assert "pkg.Client.send(what, **more) -> bool" in page.text
    assert {"pkg.Client", "pkg.Client.send"} <= set(page.anchors)
    assert [block.code for block in page.blocks if block.kind == "code"] == ['Client("x").send(1)']
    assert (
        "<dt><code>url</code> · <code>str</code></dt>" in page.html
        and "Returns" in page.text
        and "<strong>Parameters</strong>" in page.html
    )
    assert not any(word in page.text for word in ("hidden", "bare", "close", "autoclass", ":param"))
    assert page.text.rstrip().endswith("After.")


def test_names_in_a_docstring_are_looked_for_in_its_class_and_module(package: Path) -> None:
    (package / "pkg/core.py").write_text(
        'def run():\n    """Run."""\n\nclass Client:\n    """Has :meth:`send`, as :func:`run`."""\n'
        '    def send(self):\n        """Send."""\n'
    )
    page = read(package, "API\n===\n\n.. automodule:: pkg.core\n   :members:\n")
    linking = linking_document(page, heading_slugs(page.headings))
    links = resolve_links([linking], {"c": Collection(root=str(package))})
    assert [link.fragment for link in links] == ["pkg.core.Client.send", "pkg.core.run"]


@pytest.mark.parametrize(
    "docstring",
    [
        "Args:\n        what (int): The\n            thing.\n        *more: Others.\n\n"
        "    Returns:\n        bool: Done.\n\n    Raises:\n        OSError: Never.\n\n"
        "    Note:\n        Slow.\n",
        "Parameters\n    ----------\n    what : int\n        The\n        thing.\n    *more\n"
        "        Others.\n\n"
        "    Returns\n    -------\n    bool\n        Done.\n\n    Raises\n    ------\n"
        "    OSError\n        Never.\n\n"
        "    Notes\n    -----\n    Slow.\n",
        ":param what: The\n        thing.\n    :type what: int\n    :param \\\\*more: Others.\n"
        "    :returns: Done.\n    :rtype: bool\n    :raises OSError: Never.\n\n    .. note:: Slow.\n",
    ],
)
def test_sections_of_every_style_are_lists(package: Path, docstring: str) -> None:
    (package / "pkg/core.py").write_text(
        f'def run(what, *more):\n    """Run *all*.\n\n    {docstring}    """\n'
    )
    page = read(package, "API\n===\n\n.. autofunction:: pkg.core.run\n")
    assert "<em>all</em>" in page.html
    lists = [block.text for block in page.blocks if block.kind == "list"]
    assert [*map(str.split, lists)] == [
        *map(str.split, ("- what · int", "- The thing.", "- *more", "- Others.", "- bool", "- Done.")),
        *map(str.split, ("- OSError", "- Never.")),
    ]
    assert "Slow." in page.text and not any(
        word in page.text for word in ("Args", "---", ":param", ":class:")
    )


@pytest.mark.parametrize(
    ("directive", "shown", "left_out"),
    [
        (".. autoclass:: pkg.Client", "A client of things", "Send it"),
        (".. autoclass:: pkg.Client\n   :members: bare", "pkg.Client.bare()", "Send it"),
        (".. autoclass:: pkg.Client\n   :members:\n   :exclude-members: send", "A client", "Send it"),
        (".. autoclass:: pkg.Client\n   :members:\n   :inherited-members:", "Close it", "hidden"),
        (".. automodule:: pkg.core\n   :members:", "Run all", "hidden"),
        (".. autofunction:: pkg.core.run", "pkg.core.run()", "A client"),
        (".. automethod:: pkg.Client.send", "pkg.Client.send(what", "A client"),
        (".. autoclass:: pkg.Client\n\n   More about it.", "More about it", "Send it"),
        (".. autoclass:: pkg.Gone", "pkg.Gone", "A client"),
        (".. autoclass:: other.Thing", "other.Thing", "A client"),
    ],
)
def test_options_decide_what_is_described(package: Path, directive: str, shown: str, left_out: str) -> None:
    page = read(package, f"API\n===\n\n{directive}\n")
    assert shown in page.text and left_out not in page.text


@pytest.mark.parametrize(
    "written",
    [
        "```{eval-rst}\n.. autofunction:: pkg.core.run\n```",
        "```{autofunction} pkg.core.run\n```",
        ":::{py:currentmodule} pkg.core\n:::\n\n```{autofunction} run\n```",
    ],
)
def test_myst_describes_too(package: Path, written: str) -> None:
    page = read(package, f"# API\n\n{written}\n\nAfter.\n", "api.md")
    assert "Run all." in page.text and "pkg.core.run()" in page.text


def test_a_link_of_myst_to_a_described_object_leads_to_it(package: Path) -> None:
    api = read(package, "# API\n\n```{autofunction} pkg.core.run\n```\n", "api.md")
    guide = read(package, "# Guide\n\n[run](pkg.core.run) and [no](pkg.core.gone)\n", "guide.md")
    documents = [linking_document(each, heading_slugs(each.headings)) for each in (api, guide)]
    links = resolve_links(documents, {"c": Collection(root=str(package))})
    assert [(link.target_id, link.fragment, link.status) for link in links] == [
        ("c:api.md", "pkg.core.run", "resolved"),
        (None, "", "missing-asset"),
    ]


def test_a_result_of_several_lines_is_one_and_the_colons_of_roles_end_no_type(package: Path) -> None:
    said = (
        "Returns:\n        A pair ``(a, b)``, where\n"
        "        ``b`` is bytes. Since :class:`Owl`\n        flies.\n"
    )
    (package / "pkg/core.py").write_text(f'def run():\n    """Run.\n\n    {said}    """\n')
    page = read(package, "API\n===\n\n.. autofunction:: pkg.core.run\n")
    assert "A pair (a, b), where b is bytes. Since Owl flies." in page.text


def test_docstrings_have_the_links_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(
        '''def run():
    """Run it, see :issue:`5`, :ref:`the try
    statement <python:try>` and :quote:`6`.

    Args:
        what: As in :issue:`7`.
    """
'''
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/conf.py").write_text(
        'extlinks = {"issue": ("https://example.org/%s", "#%s"), "quote": ("https://a.org/%s", \'"""%s\')}\n'
        'intersphinx_mapping = {"python": ("https://python.example.org/", None)}\n'
    )
    document = read(tmp_path, ".. autofunction:: pkg.run\n", "docs/api.rst")
    external = [link.target for link in document.links if "example.org" in link.target]
    assert external == ["https://example.org/5", "https://python.example.org/", "https://example.org/7"]
    assert "see #5, the try" in " ".join(document.text.split()) and "#ref:" not in str(document.links)


def test_members_in_the_description_of_a_class_are_named_by_it(package: Path) -> None:
    page = read(
        package,
        "API\n===\n\n.. currentmodule:: pkg.core\n\n"
        ".. autoclass:: Client\n\n   About it.\n\n   .. automethod:: send\n\n"
        ".. class:: pkg.core.Base\n\n   .. automethod:: close\n\n"
        ".. autofunction:: run\n\n.. automethod:: bare\n",
    )
    assert {"pkg.core.Client.send", "pkg.core.Base.close", "pkg.core.run"} <= set(page.anchors)
    assert [note for note in page.notes if "described" in note] == [
        "pkg.core.bare is not described: pkg.core.bare is not in the packages of the collection"
    ]


def test_an_inherited_member_is_described_by_the_name_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("from .night import Owl as Owl\n")
    (tmp_path / "pkg/night.py").write_text("from .bird import Bird\n\nclass Owl(Bird):\n    wings = 2\n")
    (tmp_path / "pkg/bird.py").write_text(
        'class Bird:\n    eggs: int = 3\n\n    def fly(self, far: int):\n        """Leave."""\n'
    )
    page = read(
        tmp_path, "API\n===\n\n.. automethod:: pkg.Owl.fly\n\n.. autoattribute:: pkg.Owl.eggs\n\n"
        ".. automethod:: pkg.Owl.swim\n"
    )  # fmt: skip
    assert "pkg.Owl.fly(far: int)" in page.text and "Leave." in page.text
    assert {"pkg.Owl.fly", "pkg.Owl.eggs"} <= set(page.anchors)
    assert [note for note in page.notes if "described" in note] == [
        "pkg.Owl.swim is not described: pkg.night.Owl.swim is not in the packages of the collection"
    ]


def test_a_directive_in_code_is_an_example(package: Path) -> None:
    page = read(package, "API\n===\n\nWrite::\n\n   .. autofunction:: pkg.core.run\n")
    assert [each.code for each in page.blocks if each.code] == [".. autofunction:: pkg.core.run"]
    assert page.anchors == ("api",)


def test_a_module_that_is_described_has_the_anchor_of_sphinx(package: Path) -> None:
    written = "Page\n====\n\n.. automodule:: pkg.core\n   :members: run\n"
    assert {"py:pkg.core", "module-pkg.core", "py:pkg.core.run"} <= set(read(package, written).anchors)
    unindexed = read(package, f"{written}   :no-index:\n")
    assert not {"py:pkg.core", "module-pkg.core", "py:pkg.core.run"} & set(unindexed.anchors)


@pytest.mark.parametrize(
    ("directive", "shown"),
    [
        (".. autoclass:: pkg.core.Client()\n   :show-inheritance:", ["Client()", "Bases: Base"]),
        (".. autoclass:: pkg.core.Client\n   :show-inheritance:", ["(url: str, *,", "Bases: Base"]),
        (".. autoclass:: pkg.core.Base\n   :show-inheritance:", ["Bases: object"]),
        (".. autofunction:: pkg.core.run(what, ...)", ["run(what, ...)"]),
    ],
)
def test_parameters_as_written_and_bases_are_shown(package: Path, directive: str, shown: list[str]) -> None:
    text = read(package, f"Page\n====\n\n{directive}\n").text
    assert all(each in text for each in shown)
    assert ("(url" in text) == ("(url" in str(shown))


NAMED_TWICE = """
def call(loud: bool): 'Call.'

hoot = shout = call

class Bird:
    def __init__(self, wings: int): ...

class Owl(Bird): 'An owl.'

class Egg:
    'An egg.'
    def __init__(self, size): ...
    def hatch(self): 'Hatch it.'

Egg = sealed(
    Egg, of="shell"
)
after: int = 1
"after all"

class Wing:
    side = "left"
    "Which."
    size: int | None = None
    "How long."
    feathers = count()
    "How many."
    names = ["%s"]
    "All."
    def __init__(self):
        self.bent = True
        "Whether."
"""


@pytest.mark.parametrize(
    ("directive", "shown"),
    [
        ("autofunction:: pkg.hoot", "pkg.hoot(loud: bool) Call."),
        ("autofunction:: pkg.shout", "pkg.shout(loud: bool) Call."),
        ("autoclass:: pkg.Owl", "pkg.Owl(wings: int) An owl."),
        ("autoclass:: pkg.Egg\n   :members:", "pkg.Egg(size) An egg. pkg.Egg.hatch() Hatch it."),
        ("autodata:: pkg.after", "pkg.after: int = 1 after all"),
        ("autoattribute:: pkg.Wing.side", "pkg.Wing.side = 'left' Which."),
        ("autoattribute:: pkg.Wing.size", "pkg.Wing.size: int | None = None How long."),
        ("autoattribute:: pkg.Wing.feathers", "pkg.Wing.feathers How many."),
        ("autoattribute:: pkg.Wing.bent", "pkg.Wing.bent Whether."),
        ("autoattribute:: pkg.Wing.names", "pkg.Wing.names All."),
    ],
)
def test_what_a_name_was_given_to_later_is_described(tmp_path: Path, directive: str, shown: str) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(NAMED_TWICE.replace("%s", "x" * 200))
    assert " ".join(read(tmp_path, f".. {directive}\n").text.split()) == shown


MODULE = """
'''
Of owls
=======

Owls fly.

Usage example
-------------

Ask one.

Notes
-----

They hoot.
'''

class Owl:
    '''An owl.

    Usage example
    -------------

    Feed it.
    '''
"""


def test_titles_in_the_docstring_of_a_module_are_headings(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(MODULE)
    page = read(tmp_path, ".. automodule:: pkg\n   :members:\n")
    assert [(each.level, each.text) for each in page.headings] == [(1, "Of owls"), (2, "Usage example")]
    assert page.title == "Of owls"
    assert "<strong>Notes</strong>" in page.html and "<strong>Usage example</strong>" in page.html


NESTED = """
'''
Of owls
=======

.. autoclass:: Owl
   :members:
'''

class Owl:
    'An owl.'
    def fly(self): 'Fly.'
"""


def test_directives_in_docstrings_are_followed_up_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(NESTED)
    page = read(tmp_path, ".. automodule:: pkg\n")
    assert "An owl." in page.text and "pkg.Owl.fly() Fly." in " ".join(page.text.split())
    assert "py:pkg.Owl.fly" in page.anchors
    (tmp_path / "pkg/wings.py").write_text("'Of wings.'\n")
    (tmp_path / "pkg/__init__.py").write_text("'''Birds.\n\n.. automodule:: pkg.wings\n'''\n")
    page = read(tmp_path, ".. automodule:: pkg\n")
    assert "Of wings." in page.text and not page.notes
    (tmp_path / "pkg/__init__.py").write_text(
        NESTED.replace("   :members:\n", "\n.. autoclass:: Owl\n" * 300)
    )
    before = processor_seconds()
    assert 2 <= read(tmp_path, ".. automodule:: pkg\n").text.count("An owl.") <= 100
    assert processor_seconds() - before < 60
    after = read(tmp_path, ".. automodule:: pkg\n\n.. autofunction:: pkg.Owl.fly\n")
    assert "Fly." in after.text  # the bound is one of docstrings


CLASS = """
class Owl:
    'An owl.'
    def __init__(self, wings: int): 'Hatch it.'
    def fly(self): 'Fly.'
    def _hide(self): 'Hide.'
    def bare(self): ...

def hatch(): 'Hatch all.'
"""


@pytest.mark.parametrize(
    ("conf", "directive", "shown", "left_out"),
    [
        ("", "autoclass:: birds.Owl", ["An owl"], ["Fly", "Hatch it"]),
        ("autodoc_default_options = {'members': True}", "autoclass:: birds.Owl", ["Fly"], ["bare", "Hide"]),
        ("autodoc_default_options = {'members': None}", "automodule:: birds", ["Hatch all", "Fly"], ["Hide"]),
        ("autodoc_default_options = {'members': 'fly'}", "autoclass:: birds.Owl", ["Fly"], ["Hide"]),
        (
            "autodoc_default_options = {'members': True}",
            "autoclass:: birds.Owl\n   :no-members:",
            [],
            ["Fly"],
        ),
        ("autodoc_default_options = {'members': False}", "autoclass:: birds.Owl", [], ["Fly"]),
        (
            "autodoc_default_flags = ['members', 'private-members']",
            "autoclass:: birds.Owl",
            ["Hide"],
            ["bare"],
        ),
        (
            "autodoc_default_options = {'members': True, 'undoc-members': True, 'exclude-members': 'fly'}",
            "autoclass:: birds.Owl",
            ["bare"],
            ["Fly"],
        ),
        (
            "autodoc_default_options = {'members': True, 'exclude-members': 'fly'}",
            "autoclass:: birds.Owl\n   :undoc-members:\n   :exclude-members: +bare",
            ["An owl"],
            ["Fly", "bare"],
        ),
        ("", "autoclass:: birds.Owl\n   :members:\n   :exclude-members: +fly", ["An owl"], ["Fly"]),
        (
            "autodoc_default_options = {'show-inheritance': True}",
            "autoclass:: birds.Owl",
            ["Bases: object"],
            [],
        ),
        ("autoclass_content = 'both'", "autoclass:: birds.Owl", ["An owl", "Hatch it"], ["Fly"]),
        ("autoclass_content = 'init'", "autoclass:: birds.Owl", ["Hatch it"], ["An owl"]),
        ("", "autoclass:: birds.Owl\n   :class-doc-from: both", ["An owl", "Hatch it"], []),
    ],
)
def test_options_of_conf_py_hold_for_every_directive(
    tmp_path: Path, conf: str, directive: str, shown: list[str], left_out: list[str]
) -> None:
    (tmp_path / "birds.py").write_text(CLASS)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/conf.py").write_text(conf)
    (tmp_path / "docs/api.rst").write_text(f"Page\n====\n\n.. {directive}\n")
    collection = Collection(root=str(tmp_path), api=Api(packages=(str(tmp_path / "birds.py"),)))
    file = FoundFile("c", "docs/api.rst", str(tmp_path / "docs/api.rst"), 0)
    text = parse(read_source(file, collection), collection).text
    assert all(each in text for each in shown)
    assert not any(each in text for each in left_out)


@pytest.mark.parametrize(
    "conf", [f"default_role = 0x{'f' * 6_000}", "autodoc_default_options = {'exclude-members': '\\ud800'}"]
)
def test_values_that_are_no_text_of_a_page_cost_nothing(package: Path, conf: str) -> None:
    (package / "conf.py").write_text(conf)
    assert "A client" in read(package, ".. autoclass:: pkg.Client\n").text


PRIVATE = """
class Owl:
    'An owl.'
    def _hide(self): 'Hide.'
    def _seek(self): 'Seek.'
    def __call__(self): 'Call.'
    def nest(self):
        '''Nest.

        :meta private:
        '''

KEY = 'abc123'
'''A key.

:meta hide-value:
'''
OTHER = 'def456'
'Another.'
"""


@pytest.mark.parametrize(
    ("directive", "shown", "left_out"),
    [
        ("autoclass:: pkg.Owl\n   :members:", [], ["Nest", "Hide", "Call"]),
        ("autoclass:: pkg.Owl\n   :members:\n   :private-members: _hide", ["Hide"], ["Seek", "Nest", "Call"]),
        ("autoclass:: pkg.Owl\n   :members:\n   :private-members:", ["Hide", "Seek", "Nest"], ["Call"]),
        (
            "autoclass:: pkg.Owl\n   :members:\n   :private-members: _hide\n   :special-members:",
            ["Hide", "Call"],
            ["Seek"],
        ),
        ("automodule:: pkg\n   :members:", ["def456"], ["abc123"]),
        ("autodata:: pkg.KEY", ["A key"], ["abc123"]),
        ("autodata:: pkg.OTHER\n   :no-value:", ["Another"], ["def456"]),
        ("autodata:: pkg.OTHER\n   :annotation:", ["Another"], ["def456"]),
        ("autodata:: pkg.OTHER\n   :annotation: = a secret", ["OTHER = a secret"], ["def456"]),
    ],
)
def test_what_authors_keep_private_is_not_shown(
    tmp_path: Path, directive: str, shown: list[str], left_out: list[str]
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(PRIVATE)
    text = read(tmp_path, f"Page\n====\n\n.. {directive}\n").text
    assert all(each in text for each in shown)
    assert not any(each in text for each in left_out)


def test_a_directive_below_two_dots_is_commented_out(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(PRIVATE)
    hidden = "..\n   .. autoclass:: pkg.Owl\n\n* a\n\n  ..\n     .. autodata:: pkg.KEY\n"
    page = read(tmp_path, f"Page\n====\n\n{hidden}")
    assert "owl" not in page.text and "key" not in page.text


def test_classes_that_are_derived_from_each_other_take_linear_time() -> None:
    classes = [f"class C{number}(C{number - 1}): 'A class.'" for number in range(1, 1_500)]
    module = PythonModule("pkg", "\n".join(["class C0: 'A class.'", *classes]).encode(), True)
    before = processor_seconds()
    described = with_autodoc(".. automodule:: pkg\n   :members:\n", [module], 5_000_000)
    assert described.text.count("A class.") == 1_500
    assert processor_seconds() - before < 6


def test_comments_with_a_colon_document_attributes_and_special_members_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(
        "class Options:\n"
        "    #: Whether it is\n    #: *first*.\n    first: bool\n"
        "    last: bool  #: Whether it is last.\n"
        "    bare: bool\n"
        "    # no docstring\n    plain: bool\n"
        '    def __call__(self):\n        """Call it."""\n'
        '    def __len__(self):\n        """Count it."""\n'
    )
    text = ".. autoclass:: pkg.Options\n   :members:\n   :special-members: __call__\n"
    html = read(tmp_path, text).html
    for shown in ("Whether it is\n<em>first</em>.", "Whether it is last.", "Call it."):
        assert shown in html
    for hidden in ("bare", "plain", "Count it."):
        assert hidden not in html
