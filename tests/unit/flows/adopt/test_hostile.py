"""Folders of other tools that mean harm."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from noctule.flows.adopt.taken_over import settings_text, snippet_folders
from noctule.flows.adopt.tools import take_over
from noctule.pipeline.errors import SourceError


def test_settings_nested_without_end_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("project = " + "-" * 100_000 + "1\n")
    with pytest.raises(SourceError, match=r"cannot be read: \w+"):
        take_over(tmp_path / "conf.py")


@pytest.mark.timeout(20)
def test_a_pipe_among_the_documents_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: Notes\n")
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    assert snippet_folders(take_over(tmp_path / "mkdocs.yml"), tmp_path) == []


def test_a_name_with_a_line_break_is_no_table_of_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "x\n[evil]\n#"
    (folder / "docs").mkdir(parents=True)
    (folder / "mkdocs.yml").write_text('site_name: "A\\n[bad]\\u202e"\n')
    found = take_over(folder / "mkdocs.yml")
    assert set(tomllib.loads(settings_text(found, "notes", tmp_path, []))) == {"collections", "site"}
