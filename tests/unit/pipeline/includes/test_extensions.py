"""Extensions beside ``conf.py`` are read where they are found, again when they change, and not outside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from noctule.pipeline.includes.sphinx import object_types
from noctule.pipeline.includes.sphinx.conf_values import sphinx_values

DECLARING = "def setup(app):\n    app.add_crossref_type('{0}', '{0}')\n"


def roles(folder: Path) -> list[str]:
    values = sphinx_values(str(folder / "page.rst"), [folder])
    return [] if values is None else [each.role for each in values.objects]


def project(folder: Path, names: list[str]) -> Path:
    top = folder / "docs"
    (top / "_ext").mkdir(parents=True)
    (top / "conf.py").write_text(f"extensions = {names!r}\n")
    return top


def test_extensions_are_modules_and_packages(tmp_path: Path) -> None:
    top = project(tmp_path, ["owls", "birds.song", "bats"])
    for name in ("_ext/owls.py", "_ext/birds/song/__init__.py", "bats/__init__.py"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(DECLARING.format(name.strip("_").replace("/", "-").partition(".")[0]))
    assert roles(top) == ["bats-__init__", "ext-owls", "ext-birds-song-__init__"]


def test_links_lead_to_extensions_in_the_folder_of_the_script_only(tmp_path: Path) -> None:
    top = project(tmp_path, ["inside", "outside"])
    (tmp_path / "far").mkdir()
    (tmp_path / "far/outside.py").write_text(DECLARING.format("far"))
    (top / "extensions").symlink_to(tmp_path / "far")
    (top / "_ext/outside.py").symlink_to(tmp_path / "far/outside.py")
    (top / "kept.py").write_text(DECLARING.format("near"))
    (top / "_ext/inside.py").symlink_to(top / "kept.py")
    assert roles(top) == ["near"]


def test_extensions_are_parsed_once_and_again_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"e{n:02}" for n in range(40)]
    top, parsed, parse = project(tmp_path, names), [0], getattr(object_types, "_parsed")  # noqa: B009
    for name in names:
        (top / f"_ext/{name}.py").write_text(DECLARING.format(name))

    def counted(content: bytes) -> ast.Module | None:
        parsed[0] += 1
        return parse(content)

    monkeypatch.setattr(object_types, "_parsed", counted)
    assert roles(top) == names
    first = parsed[0]
    assert roles(top) == names and parsed[0] == first
    (top / "_ext/e07.py").write_text(DECLARING.format("other"))
    (top / "e09.py").write_text(DECLARING.format("new"))
    assert roles(top) == ["new", *names[:7], "other", *names[8:]]
