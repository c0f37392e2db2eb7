"""Values in braces, as mkdocs-macros has them, stand for what the settings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile

SETTINGS = """INHERIT: base.yml
site_name: Owls
extra: {version: 1.2, flag: true, deep: {name: "Owl", list: [a, b]}}
plugins:
  - macros
"""
BASE = "site_url: https://owl.example.org/\nextra: {version: 0.1, other: x}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(SETTINGS)
    (tmp_path / "base.yml").write_text(BASE)
    (tmp_path / "more.yml").write_text("birds: 3\nnone: null\n")
    return tmp_path


def read(folder: Path, text: str) -> Source:
    (folder / "docs/a.md").write_text(text)
    files = [str(folder / name) for name in ("mkdocs.yml", "base.yml", "more.yml", "gone.yml")]
    collection = Collection(root=str(folder / "docs"), variables=files)
    return read_source(FoundFile("c", "a.md", str(folder / "docs/a.md"), 0), collection)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("{{ version }} {{other}} {{- flag -}}", "1.2 x True"),
        ("{{ deep.name | upper }} {{ deep['name'] }} {{ deep.list[1] }}", "OWL Owl b"),
        ("{{ birds }} {{ none }} {{ nothing }}", "3 {{ none }} {{ nothing }}"),
        ("{{ nothing | default('none') }} {{ config.site_name }}", "none Owls"),
        ("{{ config.site_url }} {{ config.extra.version }}", "https://owl.example.org/ 1.2"),
        (
            "`{{ version }}`\n\n```\nowl=={{ version }} {{ f(1) }}\n```",
            "`1.2`\n\n```\nowl==1.2 {{ f(1) }}\n```",
        ),
        ("{% raw %}{{ version }}{% endraw %}", "{{ version }}"),
        ("```\n{% raw %}{{ version }}{% endraw %}\n```", "```\n{{ version }}\n```"),
        ("{% set v = 'x' %}{{ v }} {% set w = version %}{{ w }}", "x 1.2"),
        ("a {{ made(1) }} b", "a  b"),
        ("---\ntitle: T\n---\n{{ title }} {{ page.meta.title }}", "---\ntitle: T\n---\nT T"),
        ("---\nrender_macros: false\n---\n{{ version }}", "---\nrender_macros: false\n---\n{{ version }}"),
        ("{{ version | no_such }} {{ deep }}", "{{ version | no_such }} {{ deep }}"),
    ],
)
def test_values_are_filled_in_and_nothing_is_run(folder: Path, written: str, shown: str) -> None:
    assert read(folder, written).content.decode() == shown


def test_a_call_is_left_out_with_a_remark_and_a_page_with_values_is_read_each_night(folder: Path) -> None:
    source = read(folder, "# A\n\n{{ made('a') }}\n")
    assert source.notes == ("line 3: {{ made('a') }} is not called: no program is run",)
    assert source.version == ""


def test_settings_may_render_only_pages_that_ask_for_it(folder: Path) -> None:
    options = "plugins:\n  - macros: {render_by_default: false}\n"
    (folder / "mkdocs.yml").write_text(SETTINGS.replace("plugins:\n  - macros\n", options))
    assert read(folder, "{{ version }}").content == b"{{ version }}"
    assert read(folder, "---\nrender_macros: true\n---\n{{ version }}").content.endswith(b"1.2")


def test_a_project_may_enclose_values_in_marks_of_its_own(folder: Path) -> None:
    marks = "plugins:\n  - macros: {j2_variable_start_string: «, j2_variable_end_string: »}\n"
    (folder / "mkdocs.yml").write_text(SETTINGS.replace("plugins:\n  - macros\n", marks))
    assert read(folder, "« version » {{ version }} « f(1) »").content.decode() == "1.2 {{ version }} "


def test_without_files_of_values_braces_stay(folder: Path) -> None:
    (folder / "docs/a.md").write_text("{{ version }}")
    found = FoundFile("c", "a.md", str(folder / "docs/a.md"), 0)
    assert read_source(found, Collection(root=str(folder / "docs"))).content == b"{{ version }}"
