"""Documents of Sphinx hold what its ``conf.py`` gives them, as far as it is written there as a literal."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.errors import DraftDocument
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.includes.sphinx.conf_literals import Computed, literals_of
from noctule.pipeline.includes.sphinx.conf_values import SphinxValues, formats_of
from noctule.pipeline.includes.sphinx.object_types import ObjectType, extension_places, object_types
from noctule.pipeline.includes.sphinx.substitutions import with_values
from noctule.pipeline.model import Document
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile

CONF = '''
import os
release = "5.7.1"
project = "T"
version = os.environ["V"]
extlinks = {"issue": ("https://example.org/issues/%s", "#%s"), "pr": ("https://example.org/pull/%s", None)}
intersphinx_mapping = {
    "c": ("https://c.example.org/", None),
    "kombu": ("https://kombu.example.org/en/main/", None),
    "own": (os.environ, None),
}
rst_epilog = """
.. |tool| replace:: The Tool
.. _home: https://example.org/
"""
myst_substitutions = {"name": "Noctule", "now": f"{release} of {project}", "later": os.environ["V"]}
os.remove("nothing")
'''


def read(
    folder: Path, text: str, name: str = "page.md", conf: str = CONF, conf_name: str = "conf.py"
) -> Document:
    (folder / "source/guide").mkdir(parents=True, exist_ok=True)
    (folder / "source" / conf_name).write_text(conf)
    (folder / "source/guide" / name).write_text(text)
    collection = Collection(root=str(folder), auto_append=(str(folder / "gone.md"),) if "+" in text else ())
    path = f"source/guide/{name}"
    return parse(read_source(FoundFile("c", path, str(folder / path), 0), collection), collection)


def html(folder: Path, text: str, name: str) -> tuple[str, list[tuple[str, str]]]:
    document = read(folder, text, name)
    return document.text, [(link.text, link.target) for link in document.links]


def test_what_is_included_has_the_values_of_the_script_and_of_the_document(tmp_path: Path) -> None:
    (tmp_path / "source/guide").mkdir(parents=True)
    (tmp_path / "source/conf.py").write_text(CONF)
    (tmp_path / "source/guide/part.md").write_text("A {{ kind }} of {{ name }}, {issue}`7`.\n")
    path = tmp_path / "source/guide/page.md"
    path.write_text("---\nmyst: {substitutions: {kind: copy}}\n---\n# P\n\n```{include} part.md\n```\n")
    collection = Collection(root=str(tmp_path))
    found = parse(read_source(FoundFile("c", "source/guide/page.md", str(path), 0), collection), collection)
    assert "A copy of Noctule, [#7](<https://example.org/issues/7>)." in found.text


READ = """
import os, yaml, json
from pathlib import Path
if os.path.exists("./reuse/texts.yaml"):
    with open("./reuse/texts.yaml") as fd:
        myst_substitutions = yaml.safe_load(fd.read())
myst_substitutions.update(json.loads(Path("more.json").read_text()))
with open("../outside.yaml") as fd:
    myst_substitutions |= yaml.safe_load(fd)
    myst_substitutions.update(yaml.safe_load(fd))
with open("other.yaml") as fd:
    html_context = yaml.safe_load(fd)
"""


def test_substitutions_that_the_script_reads_from_files_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "source/reuse").mkdir(parents=True)
    (tmp_path / "source/reuse/texts.yaml").write_text("{one: 'The *one*', two: B, number: 7}")
    (tmp_path / "source/more.json").write_text('{\n\t"two": "The two"\n}')
    (tmp_path / "source/other.yaml").write_text("three: no")
    (tmp_path / "outside.yaml").write_text("three: no")
    (tmp_path / "source/guide").mkdir()
    (tmp_path / "source/conf.py").write_text(READ)
    path = tmp_path / "source/guide/page.md"
    path.write_text("{{ one }}, {{two}}, {{ three }}\n")
    collection = Collection(root=str(tmp_path))
    found = parse(read_source(FoundFile("c", "source/guide/page.md", str(path), 0), collection), collection)
    assert found.text.strip() == "The *one*, The two, {{ three }}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Since |release|.", "Since 5.7.1."),
        ("Use |tool|.", "Use The Tool."),
        ("Version |version|.", "Version version."),
        ("``|release|`` and :issue:`7`", "|release| and #7"),
        (".. |release| replace:: mine\n\nSince |release|.", "Since mine."),
    ],
)
def test_substitutions_are_filled_in(tmp_path: Path, written: str, shown: str) -> None:
    text, _ = html(tmp_path, f"Page\n====\n\n{written}\n", "page.rst")
    assert text.strip().endswith(shown)


@pytest.mark.parametrize(
    ("written", "link"),
    [
        (":issue:`7`", ("#7", "https://example.org/issues/7")),
        (":issue:`the fault <7>`", ("the fault", "https://example.org/issues/7")),
        (":pr:`8`", ("https://example.org/pull/8", "https://example.org/pull/8")),
        (":ref:`the guide <kombu:guide>`", ("the guide", "https://kombu.example.org/en/main/")),
        (":doc:`kombu:index`", ("index", "https://kombu.example.org/en/main/")),
        (":external+kombu:doc:`index`", ("index", "https://kombu.example.org/en/main/")),
        (
            ":std:ref:`the long\nguide <kombu:guide>`",
            ("the long guide", "https://kombu.example.org/en/main/"),
        ),
        (":ref:`other:guide`", ("other:guide", "#ref:otherguide")),
        ("`Home <home_>`_", ("Home", "https://example.org/")),
    ],
)
def test_roles_and_names_of_links_lead_where_conf_says(
    tmp_path: Path, written: str, link: tuple[str, str]
) -> None:
    _, links = html(tmp_path, f"Page\n====\n\nSee {written} too.\n", "page.rst")
    assert links == [link]


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("Page\n====\n\n{}\n", "page.rst"),
        ("# Page\n\n```{{eval-rst}}\n{}\n```\n", "page.md"),
        (":::{{tab}} T\n  ~~~{{eval-rst}}\n  {}\n  ~~~\n:::\n", "page.md"),
    ],
)
def test_text_in_single_backticks_has_the_role_that_conf_says(tmp_path: Path, page: str, name: str) -> None:
    written = page.format("The `pages <names>`, `names` and `tool.Owl`.")
    document = read(tmp_path, written, name, 'default_role = "any"')
    targets = [(link.text, link.target) for link in document.links]
    assert targets == [("pages", "#ref:names"), ("names", "#ref:names"), ("tool.Owl", "#object:.tool.Owl")]


@pytest.mark.parametrize("conf", ["default_role = None", "default_role = 'a\\n\\n.. note:: b'", ""])
def test_without_a_default_role_such_text_is_code(tmp_path: Path, conf: str) -> None:
    document = read(tmp_path, "Page\n====\n\nThe `names`.\n", "page.rst", conf)
    assert "<code>names</code>" in (document.html or "") and not document.links


def test_an_example_of_restructuredtext_in_myst_stays_as_it_is(tmp_path: Path) -> None:
    written = "````\n```{eval-rst}\n`a`\n```\n````\n"
    assert written.strip() in read(tmp_path, written, "page.md", 'default_role = "any"').text


def test_roles_in_code_stay_as_they_are(tmp_path: Path) -> None:
    shown, links = html(
        tmp_path, "Page\n====\n\nSay::\n\n   :issue:`7` :class:`kombu:Owl`\n\nSee :pr:`8`.\n", "page.rst"
    )
    assert ":issue:`7` :class:`kombu:Owl`" in shown
    assert links == [("https://example.org/pull/8", "https://example.org/pull/8")]


def test_myst_has_them_too(tmp_path: Path) -> None:
    text, links = html(tmp_path, "# Page\n\n{{ name }} mends {issue}`7`, not {{ other }}.\n", "page.md")
    assert "Noctule mends" in text and "{{ other }}" in text
    assert links == [("#7", "https://example.org/issues/7")]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Now {{ now }}.", "Now 5.7.1 of T."),
        ("---\nmyst: {substitutions: {name: Mine}}\n---\n\nBy {{ name }}.", "By Mine."),
        ("---\nsubstitutions: {own: ''}\n---\n\nBy{{ own }}.", "By."),
        ("---\nsubstitutions: {own: Mine, later: 3}\n---\n\nBy {{own}}, {{ later }}.", "By Mine, 3."),
        ("As `{{ name }}`.", "As `{{ name }}`."),
        ("As `a {{ name }} {{ later }}`.", "As `a {{ name }} {{ later }}`."),
        ("```python\n{{ name }} {{ later }}\n```", "```python\n{{ name }} {{ later }}\n```"),
        ("```{code-block} python\n{{ name }}\n```", "```{code-block} python\n{{ name }}\n```"),
        ("~~~\n{issue}`7`\n~~~", "~~~\n{issue}`7`\n~~~"),
        (
            "````{note}\nBy {{ name }}.\n```\n{{ name }}\n```\n````",
            "````{note}\nBy Noctule.\n```\n{{ name }}\n```\n````",
        ),
    ],
)
def test_a_document_of_myst_has_values_of_its_own(tmp_path: Path, written: str, shown: str) -> None:
    document = read(tmp_path, written)
    assert document.text.strip().endswith(shown) and not document.notes


def test_a_number_of_too_many_digits_is_no_value_of_a_page() -> None:
    text = f"---\nsubstitutions: {{a: 0x{'f' * 5_000}, b: 1}}\n---\n{{{{a}}}} {{{{b}}}}"
    filled, _ = with_values(text, "a.md", SphinxValues(), 10_000)
    assert filled.endswith("\n{{a}} 1")


def test_the_name_stands_where_conf_computes_a_value(tmp_path: Path) -> None:
    document = read(tmp_path, "With {{ later }} or {{later}}. +\n\n```{include} gone.md\n```\n")
    assert document.text.strip() == "With later or later. +"
    assert [note.partition(":")[0] for note in document.notes] == [
        "'gone.md' is not included",
        "line 3",
        "the value of 'later' is computed in conf.py",
    ]


def test_jupyter_book_has_its_values_in_yaml(tmp_path: Path) -> None:
    links = "{extlinks: {a: ['https://e.org/%s', '%s']}}"
    config = f"parse: {{myst_substitutions: {{name: Book}}}}\nsphinx: {{config: {links}}}"
    document = read(tmp_path, "A {{ name }}, {a}`b`.", conf=config, conf_name="_config.yml")
    assert document.text.startswith("A Book, ") and document.links[0].target == "https://e.org/b"


def test_a_book_at_the_top_is_none_of_jekyll(tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("parse: {myst_substitutions: {name: Book}}\n")
    (tmp_path / "part.md").write_text("Of {{ name }}.\n")
    (tmp_path / "page.md").write_text("A {{ name }} {{ other }}.\n\n```{include} part.md\n```\n")
    collection = Collection(root=str(tmp_path))
    file = FoundFile("c", "page.md", str(tmp_path / "page.md"), 0)
    assert read_source(file, collection).content.decode().strip() == "A Book {{ other }}.\n\nOf Book."


def test_values_beside_tags_are_no_template(tmp_path: Path) -> None:
    text = read(tmp_path, "{% if a %}By {{ name }} {{ other }}.{% endif %}").text
    assert text.strip() == "By Noctule {{ other }}."


@pytest.mark.parametrize("included", ["", "\n\n```{include} part.md\n```\n"])
def test_values_are_filled_in_once(tmp_path: Path, included: str) -> None:
    conf = (
        "source_suffix = kinds()\nmyst_substitutions = {'a': '{{ b }} {{ c }}', 'b': '`{{ a }}`', 'c': x()}\n"
    )
    (tmp_path / "part.md").write_text("Of {{ c }}.\n")
    document = read(tmp_path, f"A {{{{ a }}}}, {{{{ c }}}}.{included}", conf=conf)
    alone = read(tmp_path, "A {{ a }}, {{ c }}.", conf=conf)
    assert document.text.startswith(alone.text.strip())
    assert ("Of c." in document.text) == bool(included) and "{include}" not in document.text
    assert sum("computed" in note for note in document.notes) == 1
    assert document.notes[: len(alone.notes)] == alone.notes


def test_texts_that_hold_each_other_end(tmp_path: Path) -> None:
    chain = "a0 = 'x' * 1\na0 = 'owl'\n" + "".join(f"a{n + 1} = f'{{a{n}}}{{a{n}}}'\n" for n in range(60))
    document = read(tmp_path, "A {{ v }}.", conf=f"{chain}myst_substitutions = {{'v': a60, 'w': a1}}")
    assert document.text.strip() == "A v."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (":py:class:`kombu:kombu.Queue`", "kombu.Queue"),
        (":class:`~kombu:kombu.Queue`", "Queue"),
        (":cpp:class:`std::vector`", "std::vector"),
        (":external:py:class:`kombu.Queue`", "kombu.Queue"),
        (":external+gone:doc:`page`", "page"),
        (":doc:`own:page`", "page"),
        (":ref:`the rest <own:page>`", "the rest"),
        (":ref:`genindex`", "Index"),
        (":ref:`here <search>`", "here"),
    ],
)
def test_what_stands_in_other_projects_is_no_broken_link(tmp_path: Path, written: str, shown: str) -> None:
    text, links = html(tmp_path, f"Page\n====\n\nSee {written}, too.\n", "page.rst")
    assert f"See {shown}, too." in text and links == []


def test_myst_names_other_projects_too(tmp_path: Path) -> None:
    written = "{ref}`genindex`, {external+gone:doc}`page`, {doc}`own:page` and {external+kombu:ref}`guide`"
    _text, links = html(tmp_path, f"# Page\n\nSee {written}.\n", "page.md")
    assert links == [("guide", "https://kombu.example.org/en/main/")]


@pytest.mark.parametrize(
    ("suffix", "name", "is_rst"),
    [
        ("'.txt'", "page.txt", True),
        ("['.rst', '.txt']", "page.txt", True),
        ("{'.txt': 'restructuredtext', '.rst': None}", "page.TXT", True),
        ("{'.txt': 'markdown'}", "page.txt", False),
        ("{'.txt': None}", "page.txt", True),
        ("['.rest.txt', '.rst']", "page.rest.txt", True),
    ],
)
def test_files_are_read_in_the_format_that_conf_says(
    tmp_path: Path, suffix: str, name: str, is_rst: bool
) -> None:
    (tmp_path / "conf.py").write_text(f"source_suffix = {suffix}\nrelease = '7.1'\n")
    (tmp_path / "part.txt").write_text("An *included* part.\n")
    written = "Page\n====\n\nSince |release|.\n\n.. include:: part.txt\n"
    (tmp_path / name).write_text(written if is_rst else "# Page\n\nA **bold** word.\n")
    collection = Collection(root=str(tmp_path))
    source = read_source(FoundFile("c", name, str(tmp_path / name), 0), collection)
    document = parse(source, collection)
    assert document.title == "Page" and document.path == name
    assert document.syntax == ("html" if is_rst else "markdown")
    if is_rst:
        assert "Since 7.1." in document.text and "<em>included</em>" in document.html
    (tmp_path / "conf.py").write_text("release = '7.1'\n")
    other = read_source(FoundFile("c", name, str(tmp_path / name), 0), collection)
    assert other.read_as == "" and other.sha256 != source.sha256
    assert parse(other, collection).syntax == "text"


@pytest.mark.parametrize(
    ("given", "formats"),
    [
        (".txt", {".txt": ".rst"}),
        ([".rst", ".txt", [".x"], 1], {".txt": ".rst"}),
        ({".txt": "markdown", ".inc": None, 1: "x"}, {".txt": ".md", ".inc": ".rst"}),
        ({".txt": Computed, ".inc": "markdown"}, {".inc": ".md"}),
        (Computed, {}),
        (None, {}),
    ],
)
def test_endings_are_taken_from_any_value(given: object, formats: dict[str, str]) -> None:
    assert formats_of(given) == formats


def test_the_name_of_a_project_is_left_out_of_names_alone(tmp_path: Path) -> None:
    text, _ = html(tmp_path, "Page\n====\n\n:c:func:`c:x`\n", "page.rst")
    assert text.strip().endswith("\n\nx")


@pytest.mark.parametrize("suffix", ["{'.txt': kind_of('.txt'), '.md': 'markdown'}", "suffixes()"])
def test_a_computed_format_is_reported_and_changes_nothing(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "conf.py").write_text(f"source_suffix = {suffix}\n")
    collection = Collection(root=str(tmp_path))
    documents = {}
    for name in ("page.txt", "page.md"):
        (tmp_path / name).write_text("Page\n====\n\nA **bold** word.\n")
        source = read_source(FoundFile("c", name, str(tmp_path / name), 0), collection)
        documents[name] = parse(source, collection)
    assert documents["page.txt"].syntax == "text" and not documents["page.md"].notes
    [note] = documents["page.txt"].notes
    assert "source_suffix" in note and "computed" in note


def test_formatted_texts_are_bounded_together() -> None:
    chain = "a = f'{x}" + "x" * 1_000 + "'\n" + "".join(f"a{n} = f'{{a}}'\n" for n in range(20_000))
    found = literals_of(f"x = 'owl'\n{chain}last = 'end'\n".encode())
    assert sum(len(each) for each in found.values() if isinstance(each, str)) < 2_000_000
    assert found["a0"] == "owl" + "x" * 1_000 and found["last"] == "end" and found["a19999"] is Computed


def test_values_make_no_document_larger_than_may_be() -> None:
    head = f"---\nsubstitutions: {{a: {'y' * 40_000}}}\n---\n"
    filled, notes = with_values(head + "{{a}}\n" * 9, "a.md", SphinxValues(), 200_000)
    assert filled.count("y" * 40_000) == 4 and filled.count("{{a}}") == 6
    assert len(notes) == 1 and "max_bytes" in notes[0]
    values = SphinxValues(links={"issue": ("https://e.org/%s" + "x" * 40_000, "")})
    for path, role in (("a.rst", ":issue:`1` "), ("a.md", "{issue}`1` ")):
        filled, notes = with_values(role * 9, path, values, 200_000)
        assert 80_000 < len(filled) <= 200_000 and len(notes) == 1


def test_a_value_of_a_page_is_as_long_as_one_of_conf_may_be() -> None:
    text = f"---\nsubstitutions: {{a: {'y' * 50_001}, b: 1}}\n---\n{{{{a}}}} {{{{b}}}}"
    filled, _ = with_values(text, "a.md", SphinxValues(), 1_000_000)
    assert filled.endswith("\n{{a}} 1")


def test_half_a_character_in_a_script_is_no_value(tmp_path: Path) -> None:
    conf = "myst_substitutions = {'a': '\\ud83d', 'b': 'Owl'}\nversion = '\\ud83d'\n"
    assert read(tmp_path, "{{ a }} and {{ b }}", conf=conf).text == "{{ a }} and Owl"


@pytest.mark.parametrize("name", ["plantuml", "tikz", "ipython"])
def test_values_stay_names_in_what_is_no_prose(tmp_path: Path, name: str) -> None:
    text = read(tmp_path, f"```{{{name}}}\nof {{{{ name }}}}\n```\n\nBy {{{{ name }}}}.").text
    assert "{{ name }}" in text and "By Noctule" in text


DECLARING = """
import sys
from pathlib import Path
sys.path.append(str(Path(__file__).parent / "own"))
extensions = ["sphinx.ext.autodoc", "birds", "elsewhere"]

def setup(app):
    app.add_crossref_type("fixture", "fixture", objname="fixture")
    app.add_object_type(rolename="var", directivename="globalvar")
    app.add_object_type(name(), "computed")
    app.add_directive("flag", std.Cmdoption)
"""
BIRDS = """
def parse_command(env, sig, signode):
    env.ref_context["std:program"] = sig

def setup(app):
    app.add_object_type("command", "cmd", parse_node=parse_command)
    app.add_object_type("event", "event", "pair: %s; event", parse_event)
"""


def test_types_of_objects_are_declared_in_conf_py_and_its_extensions(tmp_path: Path) -> None:
    (tmp_path / "source/own").mkdir(parents=True)
    (tmp_path / "source/own/birds.py").write_text(BIRDS)
    (tmp_path / "source/elsewhere.py").write_text("no Python")
    text = ":fixture:`a` :var:`b` :cmd:`c` :event:`d` :computed:`e`\n\n.. flag:: --at"
    page = read(tmp_path, text, "page.rst", DECLARING)
    assert [link.target for link in page.links] == [
        f"#object::{each}" for each in ("fixture:a", "globalvar:b", "command:c", "event:d", "computed:e")
    ]
    assert "cmdoption-at" in page.anchors


def test_a_document_that_uses_no_such_type_is_told_none(tmp_path: Path) -> None:
    values = SphinxValues(objects=(ObjectType("fixture", "fixture", "place"),))
    assert with_values("Text.", "a.rst", values, 100)[0] == "Text."
    told = with_values("text\n\n.. fixture:: x\n", "a.rst", values, 100)[0]
    assert told.startswith(".. declared-objects:: fixture fixture place\n\ntext")


def test_included_files_may_use_the_types(tmp_path: Path) -> None:
    (tmp_path / "source/guide").mkdir(parents=True)
    (tmp_path / "source/guide/part.txt").write_text(":fixture:`a`\n")
    page = read(tmp_path, "Text.\n\n.. include:: part.txt\n", "page.rst", DECLARING)
    assert [link.target for link in page.links] == ["#object::fixture:a"]


@pytest.mark.parametrize(
    ("above", "values"),
    [
        ("---\ndraft: true\n---\n", SphinxValues(objects=(ObjectType("fixture", "fixture", "place"),))),
        ("\ufeff---\ndraft: true\n---\n", SphinxValues(prolog="Above.")),
        ("\ufeff", SphinxValues(prolog="Above.")),
        (":nosearch:\n:title: Owls:\n   and more\n\n", SphinxValues(prolog="Above.")),
        ("", SphinxValues(prolog="Above.")),
    ],
)
def test_what_says_something_of_a_document_stays_above_everything(above: str, values: SphinxValues) -> None:
    text = with_values(f"{above}:fixture:`a`\n", "a.rst", values, 100)[0]
    assert text.startswith(above) and text.endswith("\n\n:fixture:`a`\n") and len(text) > len(above) + 20


def test_front_matter_without_an_end_stays_at_the_head() -> None:
    text = "---\ndraft: true\n\n:fixture:`a`\n"
    assert with_values(text, "a.rst", SphinxValues(prolog="Above."), 100)[0].startswith(text)


def test_a_draft_stays_one_where_a_project_declares_objects(tmp_path: Path) -> None:
    with pytest.raises(DraftDocument):
        read(tmp_path, "---\ndraft: true\n---\nText :fixture:`a`\n", "page.rst", DECLARING)


@pytest.mark.parametrize(
    "conf",
    [
        b"sys.path.append(1)",
        b"def",
        b"add_directive()\nx.add_directive(1)",
        b"x.add_directive('a', " + b"a + " * 800 + b"a)",
        b"q = a" + b".b()" * 300,
    ],
)
def test_scripts_that_declare_nothing_are_read_all_the_same(conf: bytes) -> None:
    assert (object_types(conf), extension_places(conf)) == ((), ())
