"""Python packages are described without being imported: their pages, ``:::`` blocks and references."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.address import heading_slugs
from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import MissingRoot
from noctule.pipeline.includes.python_blocks import DESCRIPTIONS_END, blocks
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Api, Collection

INIT = '''"""Birds of the night."""
from ._inner import Egg
from .owls import Owl
from elsewhere import Crow
'''
OWLS = '''"""Owls."""
import os
from dataclasses import dataclass
from typing import Annotated, overload

raise SystemExit("imported")

@dataclass(frozen=True)
class Owl(Bird):
    """An owl, see [`Egg`][birds.Egg] and [gone][birds.gone].

    Attributes:
        name: What it is called.
    """
    name: str
    _secret: int = 1

    @property
    def age(self) -> int:
        """Years."""

    async def hunt(self, prey: Annotated[str, Doc("What it **hunts**.")], /, *, hours: int = 8) -> bool:
        """Hunt.

        # In the dark

        Args:
            hours: How long.

        Raises:
            ValueError: By day.

        >>> Owl("a").hunt("mouse")
        True
        """

@overload
def call(times: int) -> str: ...
@overload
def call(times: str) -> str: ...
def call(times):
    """Call.

    :param times: How often.
    """
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "__init__.py": INIT,
        "owls.py": OWLS,
        "_inner.py": 'class Egg:\n    "Round."\n',
        "notes.txt": "x",
    }
    (tmp_path / "src/birds/deep").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    for name, text in files.items():
        (tmp_path / "src/birds" / name).write_text(text)
    (tmp_path / "src/birds/link.py").symlink_to("/etc/passwd")
    return tmp_path


def collection(project: Path, **api: object) -> Collection:
    given = Api(packages=(str(project / "src/birds"),), **api)  # type: ignore[arg-type]
    return Collection(root=str(project / "docs"), api=given)


def sources(project: Path, **api: object) -> dict[str, Source]:
    own = collection(project, **api)
    return {file.path: read_source(file, own) for file in list_files("c", own).files}


def documents(project: Path, **api: object) -> dict[str, Document]:
    return {path: parse(each, collection(project, **api)) for path, each in sources(project, **api).items()}


def test_every_public_module_has_a_page_and_links_are_not_followed(project: Path) -> None:
    assert sorted(sources(project)) == ["api/birds/index.md", "api/birds/owls.md"]
    assert sources(project, pages="") == {}
    assert sorted(sources(project, pages="reference/python"))[0] == "reference/python/birds/index.md"


def test_each_object_is_a_section_named_by_its_dotted_path(project: Path) -> None:
    page = documents(project)["api/birds/owls.md"]
    assert page.title == "birds.owls" and page.notes == ()
    assert page.front_matter == '{"custom_edit_url":null}'  # there is no such file
    names = [(each.text, each.anchor) for each in page.headings]
    assert names == [
        ("birds.owls", "birds.owls"),
        ("Owl", "birds.owls.Owl"),
        ("Owl.name", "birds.owls.Owl.name"),
        ("Owl.age", "birds.owls.Owl.age"),
        ("Owl.hunt", "birds.owls.Owl.hunt"),
        ("In the dark", ""),
        ("call", "birds.owls.call"),
    ]
    assert [each.level for each in page.headings] == [1, 2, 3, 3, 3, 4, 2]


def test_inherited_members_are_shown_if_asked_for(project: Path) -> None:
    (project / "src/birds/bird.py").write_text(
        "from ._inner import Egg\n\nclass Bird(Egg):\n    age = 1\n    def fly(self): 'Fly.'\n"
    )
    (project / "src/birds/_inner.py").write_text("class Egg:\n    'Round.'\n    def hatch(self): 'Hatch.'\n")
    owls = "from .bird import Bird\n\n" + OWLS
    (project / "src/birds/owls.py").write_text(owls)
    plain = documents(project)["api/birds/owls.md"]
    page = documents(project, inherited_members=True)["api/birds/owls.md"]
    names = [each.anchor for each in page.headings]
    assert [name for name in names if name not in {each.anchor for each in plain.headings}] == [
        "birds.owls.Owl.fly",
        "birds.owls.Owl.hatch",
    ]
    assert "Inherited from `birds._inner.Egg`." in page.text
    (project / "docs/own.md").write_text(
        "::: birds.owls.Owl\n    options:\n        inherited_members: [fly]\n"
    )
    own = documents(project)["own.md"]
    assert "Owl.fly" in own.text and "hatch" not in own.text


_NEST = """from typing import overload
class Nest:
    'A nest.'
    size = 1
    @overload
    def __init__(self) -> None: ...
    def __init__(self, wide: int = 2) -> None:
        'Build it.'
    def line(self): 'Line it.'
    class Twig: 'A twig.'
    def bare(self): ...
    def air(self): 'Air it.'
"""


def test_the_options_of_mkdocstrings_hold_for_all_blocks_that_say_nothing_else(project: Path) -> None:
    (project / "src/birds/owls.py").write_text(_NEST)
    (project / "docs/own.md").write_text("# API\n\n### Nests\n\n::: birds.owls.Nest\n")
    plain = documents(project)["own.md"]
    names = ["API", "Nests", "Nest", "Nest.size", "Nest.line", "Nest.Twig", "Nest.bare", "Nest.air"]
    assert [each.text for each in plain.headings] == names
    assert [each.level for each in plain.headings][2:4] == [4, 5]
    said = {
        "heading_level": 2,
        "show_root_full_path": True,
        "show_if_no_docstring": False,
        "merge_init_into_class": True,
        "members_order": "alphabetical",
        "group_by_category": True,
    }
    page = documents(project, **said)["own.md"]
    assert [each.text for each in page.headings][2:] == [
        "birds.owls.Nest",
        "Nest.Twig",
        "Nest.air",
        "Nest.line",
    ]
    assert [each.level for each in page.headings][2:4] == [2, 3]
    assert "class Nest\n\nclass Nest(wide: int = 2)\n" in page.text and "Build it." in page.text
    (project / "docs/own.md").write_text("::: birds.owls.Nest\n    options:\n        heading_level: 5\n")
    assert documents(project, **said)["own.md"].headings[0].level == 5


def test_an_object_without_a_heading_is_where_references_lead(project: Path) -> None:
    (project / "docs/own.md").write_text("# API\n\n::: birds.owls.Owl\n\n[it][birds.owls.Owl]\n")
    page = documents(project, show_root_heading=False, pages="")["own.md"]
    assert [each.text for each in page.headings] == ["API", "Owl.name", "Owl.age", "Owl.hunt", "In the dark"]
    linking = [linking_document(page, heading_slugs(page.headings))]
    links = resolve_links(linking, {"c": collection(project)})
    assert {link.target: link.status for link in links}["#py:birds.owls.Owl"] == "resolved"


def test_signatures_are_code_and_docstrings_markdown(project: Path) -> None:
    page = documents(project)["api/birds/owls.md"]
    code = [block.code for block in page.blocks if block.kind == "code"]
    assert "@dataclass(frozen=True)\nclass Owl(Bird)" in code
    assert "@property\ndef age(self) -> int" in code
    assert "async def hunt(self, prey: str, /, *, hours: int = 8) -> bool" in code
    assert any(each.startswith("@overload\ndef call(times: int) -> str\n\n@overload") for each in code)
    assert '>>> Owl("a").hunt("mouse")\nTrue' in code
    for said in ("What it hunts.", "How long.", "By day.", "How often.", "What it is called."):
        assert said in "\n".join(block.text for block in page.blocks)
    assert "_secret" not in page.text


def test_one_section_is_enough_to_know_the_style_of_a_docstring(project: Path) -> None:
    said = '"""\n    Args:\n        wide: How wide.\n\n    Example of use:\n\n    >>> lay(1)\n    """'
    (project / "src/birds/owls.py").write_text(f"def lay(wide: int) -> None:\n    {said}\n")
    page = documents(project)["api/birds/owls.md"]
    assert "`wide` · `int`\n:   How wide." in page.text and "Args:" not in page.text


def test_an_example_in_a_box_is_code(project: Path) -> None:
    said = '"""Round.\n\n    Example:\n        Hatch it.\n\n        >>> Egg()\n        1\n    """'
    (project / "src/birds/_inner.py").write_text(f"class Egg:\n    {said}\n")
    blocks = documents(project)["api/birds/index.md"].blocks
    assert [(each.text, each.language) for each in blocks if each.kind == "code"][-1] == (
        ">>> Egg()\n1",
        "pycon",
    )


def test_a_package_shows_what_it_offers_of_private_modules_and_names_the_rest(project: Path) -> None:
    page = documents(project)["api/birds/index.md"]
    assert [each.anchor for each in page.headings] == ["birds", "birds.Egg", "birds.Owl"]
    assert "Round." in page.text and "Crow" not in page.text


def test_a_block_of_a_package_shows_what_it_offers_of_private_modules(project: Path) -> None:
    inner = "class Egg:\n    'Round.'\n"
    (project / "src/birds/_inner.py").write_text(inner + "def lay(): 'Lay.'\ndef hide(): 'Hide.'\n")
    (project / "src/birds/__init__.py").write_text(
        "from ._inner import Egg\nfrom ._inner import *\n__all__ = ['Egg', 'lay', 'gone']\n"
    )
    page = written(project, "# API\n\n::: birds\n")
    assert [each.anchor for each in page.headings][1:] == ["birds", "birds.Egg", "birds.lay"]
    assert "Round." in page.text and "Lay." in page.text and "Imported from" not in page.text


def test_a_block_describes_what_a_package_imports_where_modules_have_no_pages(project: Path) -> None:
    (project / "src/birds/owls.py").write_text("class Owl:\n    'An owl.'\nclass Bare: ...\n")
    (project / "src/birds/__init__.py").write_text(
        "from .owls import Bare, Owl\nfrom ._inner import Egg\n__all__ = ['Bare', 'Owl', 'zoo']\n"
        "def zoo(): 'All.'\n"
    )
    api = {
        "show_if_no_docstring": False,
        "members_order": "alphabetical",
        "group_by_category": True,
    }
    page = written(project, "# API\n\n::: birds\n\n::: birds.owls.Owl\n", **api)
    assert [each.anchor for each in page.headings][1:] == [
        "birds",
        "birds.Owl",
        "birds.zoo",
        "birds.owls.Owl",
    ]
    assert page.text.count("An owl.") == 2 and "Imported from" not in page.text


def test_an_object_has_places_for_the_names_that_packages_give_it(project: Path) -> None:
    (project / "src/birds/_inner.py").write_text("class Egg:\n    'Round.'\n    def lay(self): 'Lay.'\n")
    (project / "src/birds/__init__.py").write_text("from ._inner import Egg as Ei\n__all__ = ['Ei']\n")
    page = written(project, "# API\n\n::: birds._inner.Egg\n\n[`Ei`][birds.Ei]\n")
    assert {"birds._inner.Egg", "birds.Ei", "birds.Ei.lay"} <= {
        *page.anchors,
        *(h.anchor for h in page.headings),
    }
    (link,) = resolve_links(
        [linking_document(page, heading_slugs(page.headings))], {"c": collection(project, pages="")}
    )
    assert (link.target_id, link.status) == ("c:a.md", "resolved")
    both = written(project, "# API\n\n::: birds\n\n::: birds._inner.Egg\n")
    assert both.text.count('<a id="') == 0  # each name is a heading


def test_references_lead_to_the_object_and_a_wrong_one_is_a_broken_link(project: Path) -> None:
    found = documents(project)
    linking = [linking_document(each, heading_slugs(each.headings)) for each in found.values()]
    links = {link.target: link for link in resolve_links(linking, {"c": collection(project)})}
    assert (links["#py:birds.Egg"].target_id, links["#py:birds.Egg"].status) == (
        "c:api/birds/index.md",
        "resolved",
    )
    assert links["#py:birds.owls.Owl"].target_id == "c:api/birds/owls.md"
    assert links["#py:birds.gone"].status == "missing-document"


def written(project: Path, text: str, **api: object) -> Document:
    (project / "docs/a.md").write_text(text)
    return documents(project, pages="", **api)["a.md"]


def test_of_a_name_in_another_project_the_text_stays(project: Path) -> None:
    text = "[crow][other.Crow], [other.Crow][], [`o.C`][], [a][b.c], [b.c][] `[x.y][]` [a][] [][]\n"
    assert written(project, text + "\n[b.c]: x.md\n").text.startswith(
        "crow, other.Crow, `o.C`, [a][b.c], [b.c][] `[x.y][]` [a][] [][]"
    )


def test_a_block_becomes_the_description_below_the_heading_before_it(project: Path) -> None:
    page = written(
        project, "# A\n\n## B\n\n::: birds.Owl\n    options:\n        members:\n          - hunt\n\nEnd.\n"
    )
    assert [(each.level, each.anchor) for each in page.headings] == [
        (1, ""), (2, ""), (3, "birds.Owl"), (4, "birds.Owl.hunt"), (5, ""),
    ]  # fmt: skip
    assert page.text.endswith(f"\n{DESCRIPTIONS_END}\n\n\n\nEnd.\n") and ":::" not in page.text
    assert DESCRIPTIONS_END not in written(project, "::: birds.Owl\n\n## More\n").text


def test_a_block_written_as_a_heading_is_described_at_its_level(project: Path) -> None:
    page = written(
        project, "# ::: birds.Owl\n    options:\n        heading_level: 3\n        members: [hunt]\n"
    )
    levels = [(each.level, each.anchor) for each in page.headings]
    assert levels[:2] == [(1, "birds.Owl"), (2, "birds.Owl.hunt")]
    assert written(project, "# ::: other.X\n").text == "# `other.X`\n"
    assert written(project, "## ::: birds.Gone\n").text == "## `birds.Gone`\n"


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ('["^age$"]', ["age"]),
        ('["!^_"]', ["name", "age", "hunt"]),
        ('["!^_", "^_secret"]', ["name", "_secret", "age", "hunt"]),
        ('["^a", "!age"]', ["name", "_secret", "hunt"]),
        ("[]", ["name", "_secret", "age", "hunt"]),
    ],
)
def test_the_last_filter_that_matches_a_name_decides(project: Path, filters: str, shown: list[str]) -> None:
    page = written(project, f"::: birds.Owl\n    options:\n        filters: {filters}\n")
    anchors = [each.anchor for each in page.headings if each.anchor.startswith("birds.Owl.")]
    assert anchors == [f"birds.Owl.{name}" for name in shown]


def test_a_block_in_a_box_stays_in_it(project: Path) -> None:
    page = written(project, '??? note "API"\n    ::: birds.Owl\n\nEnd.\n')
    texts = [block.text.strip() for block in page.blocks]
    assert "`Owl.hunt`" not in "".join(texts) and not any("####" in text for text in texts)
    assert {"birds.Owl", "birds.Owl.hunt"} <= set(page.inner_anchors)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# ::: owl\n", ["owl"]),
        ("::: owl\n    options:\n        members: false\n", ["owl"]),
        ("::: owl\n    handler: python\n", ["owl"]),
        ("::: tip\n    Indented.\n:::\n", []),
        ("::: tip\nText.\n:::\n", []),
    ],
)
def test_a_block_may_name_a_module_without_a_dot(text: str, names: list[str]) -> None:
    assert [block.name for block in blocks(text, lambda _: False)] == names


@pytest.mark.parametrize(
    ("block", "note"),
    [
        (
            "birds.Gone",
            "::: birds.Gone is not described: birds.Gone is not in the packages of the collection",
        ),
        (
            "birds.Crow",
            "::: birds.Crow is not described: elsewhere.Crow is not in the packages of the collection",
        ),
        (
            "other.X",
            "line 1: the API documentation of other.X is not generated: "
            "name its package in [collections.c.api]",
        ),
    ],
)
def test_a_block_that_leads_nowhere_is_a_remark(project: Path, block: str, note: str) -> None:
    page = written(project, f"::: {block}\n")
    assert page.notes == (note,) and page.text == f"`{block}`\n"


def test_boxes_and_code_are_left_alone(project: Path) -> None:
    text = "::: tip\nA tip.\n:::\n\n```\n::: birds.Owl\n```\n\n`[a][birds.Owl]`\n"
    assert written(project, text).text == text


def test_a_change_of_a_module_changes_only_what_describes_it(project: Path) -> None:
    (project / "docs/a.md").write_text("::: birds.Egg\n")
    (project / "docs/b.md").write_text("Nothing.\n")
    before = {path: each.sha256 for path, each in sources(project).items()}
    (project / "src/birds/_inner.py").write_text('class Egg:\n    "Oval."\n')
    after = {path: each.sha256 for path, each in sources(project).items()}
    assert [path for path in before if before[path] != after[path]] == ["a.md", "api/birds/index.md"]


@pytest.mark.parametrize(
    "code",
    [
        "def (:\n",
        "x = " + "(" * 5000,
        "a = 'unclosed",
        "x = " + "-" * 200_000 + "1",
        "\0",
        "class A(A): pass\nclass A: A = A",
    ],
)
def test_broken_python_is_a_remark(project: Path, code: str) -> None:
    (project / "src/birds/owls.py").write_text(code)
    page = documents(project)["api/birds/owls.md"]
    assert page.notes or page.headings


def test_circles_of_imports_end(project: Path) -> None:
    (project / "src/birds/a.py").write_text("from .b import X\nfrom .b import *\n")
    (project / "src/birds/b.py").write_text("from .a import X\nfrom .a import *\n")
    assert "is not described" in written(project, "::: birds.a.X\n").notes[0]


def test_a_long_module_is_described_and_hostile_imports_take_no_time(project: Path) -> None:
    lines = "".join(f"def f{n}(a: int) -> int:\n    'Say {n}.'\n" for n in range(2_000))
    (project / "src/birds/owls.py").write_text(lines + "from x import (\n" * 2_000)
    page = documents(project)["api/birds/owls.md"]
    assert page.notes and "is not Python" in page.notes[0]
    (project / "src/birds/owls.py").write_text(lines)
    assert len(documents(project)["api/birds/owls.md"].headings) == 2_001


def test_a_package_that_is_not_there_fails_the_collection(project: Path) -> None:
    with pytest.raises(MissingRoot, match="the package cannot be read"):
        list_files("c", Collection(root=str(project / "docs"), api=Api(packages=(str(project / "gone"),))))


def test_a_file_of_the_collection_goes_before_a_page_of_the_same_path(project: Path) -> None:
    (project / "docs/api/birds").mkdir(parents=True)
    (project / "docs/api/birds/owls.md").write_text("# Mine\n")
    assert documents(project)["api/birds/owls.md"].title == "Mine"
