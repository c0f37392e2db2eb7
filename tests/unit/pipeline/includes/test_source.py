"""A document's source holds what it includes: from declared folders, and from nowhere else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from noctule.pipeline.errors import SourceError
from noctule.pipeline.includes import source
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile


def read(root: Path, path: str = "guide/page.md", **settings: object) -> Source:
    return read_source(FoundFile("c", path, str(root / path), 0), Collection(root=str(root), **settings))  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("docs/guide", "docs/parts", "src"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "src/app.py").write_text("print(1)\n")
    (tmp_path / "docs/parts/note.md").write_text("A note.\n")
    return tmp_path


def page(project: Path, text: str) -> None:
    (project / "docs/guide/page.md").write_text(text)


@pytest.mark.parametrize(
    "target",
    ["../parts/note.md", "parts/note.md", "@/parts/note.md", "/parts/note.md", "@/docs/parts/note.md"],
)
def test_a_file_is_found_from_the_page_or_a_folder_above_it(project: Path, target: str) -> None:
    page(project, f"{{{{#include {target}}}}}\n")
    source = read(project / "docs")
    assert (source.content, source.notes) == (b"A note.\n", ())


def test_the_hash_follows_what_is_included(project: Path) -> None:
    page(project, "{{#include ../parts/note.md}}\n")
    before = read(project / "docs").sha256
    (project / "docs/parts/note.md").write_text("Another.\n")
    assert read(project / "docs").sha256 != before


@pytest.mark.parametrize("target", ["../../src/app.py", "src/app.py", "@/src/app.py"])
def test_other_folders_have_to_be_declared(project: Path, target: str) -> None:
    page(project, f"{{{{#include {target}}}}}\n")
    kept = read(project / "docs", snippet_folders=(str(project),))
    assert (kept.content, kept.notes) == (b"print(1)\n", ())
    refused = read(project / "docs")
    assert refused.content == b"\n"
    assert "snippet_folders" in refused.notes[0] or "no such file" in refused.notes[0]


def test_files_of_git_itself_are_not_included(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git/config").write_text("AUTHORIZATION: basic TOKEN\n")
    page(project, '--8<-- "../../.git/config"\n')
    source = read(project / "docs", snippet_folders=(str(project), str(project / ".git")))
    assert b"TOKEN" not in source.content and "a file of git itself" in source.notes[0]


def test_nothing_is_read_through_links_out_of_the_folder_nor_from_the_web(project: Path) -> None:
    (project / "docs/parts/out.py").symlink_to(project / "src/app.py")
    page(project, '{{#include ../parts/out.py}}\n{{#include /etc/passwd}}\n--8<-- "https://example.com/a"\n')
    source = read(project / "docs")
    assert source.content == b"\n\n\n"
    assert [note.rpartition("included: ")[2] for note in source.notes] == [
        "it is outside the collection's folder: name its folder in snippet_folders",
        "there is no such file",
        "it is on the web, and nothing is fetched",
    ]


def test_binary_files_pipes_and_large_files_are_not_included(project: Path) -> None:
    (project / "docs/parts/binary").write_bytes(b"\xff\xfe\x00")
    (project / "docs/parts/nul").write_bytes(b"a\0b")
    (project / "docs/parts/large").write_bytes(b"x" * 2000)
    os.mkfifo(project / "docs/parts/pipe")
    page(
        project, "".join(f"{{{{#include ../parts/{name}}}}}\n" for name in ("binary", "nul", "large", "pipe"))
    )
    source = read(project / "docs", max_bytes=1000)
    assert source.content == b"\n\n\n\n"
    assert [note.rpartition("included: ")[2][:25] for note in source.notes] == [
        "it is not UTF-8 text",
        "it is not a text file",
        "2,000 bytes, more than ma",
        "there is no such file",
    ]


def test_a_machine_in_want_stops_the_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page(project, "{{#include ../parts/note.md}}\n")

    def refuse(self: Path) -> bool:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(SourceError, match="Input/output error"):
        read(project / "docs")


@pytest.mark.parametrize("code", [errno.ESTALE, errno.EMFILE])
def test_whatever_of_a_tool_is_away_the_collection_is(
    code: int, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(source, "values_for", away)
    page(project, "Words.\n")
    with pytest.raises(SourceError, match="cannot be accessed") as caught:
        read(project / "docs")
    assert caught.value.where == "c:guide/page.md"


def test_a_path_may_begin_at_a_folder_that_only_leads_to_a_declared_one(project: Path) -> None:
    # MkDocs runs in a folder between: docs/en/mkdocs.yml, docs/en/docs/guide/page.md, docs_src.
    for name in ("site/en/docs/guide", "site_src"):
        (project / name).mkdir(parents=True)
    (project / "site_src/app.py").write_text("print(2)\n")
    (project / "site/en/docs/guide/page.md").write_text("{* ../../site_src/app.py *}\n")
    source = read(project / "site/en/docs", snippet_folders=(str(project / "site_src"),))
    assert (b"print(2)" in source.content, source.notes) == (True, ())


def test_every_markdown_document_ends_with_the_files_that_are_appended(project: Path) -> None:
    page(project, "[x][]")
    (project / "links.md").write_text("[x]: a.md\n")
    files = (str(project / "links.md"), str(project / "gone.md"))
    source = read(project / "docs", auto_append=files)
    assert source.content == b"[x][]\n\n[x]: a.md\n"
    assert [note for note in source.notes if "gone.md" in note] == list(source.notes) != []
    (project / "docs/plain.txt").write_text("Text.\n")
    assert read(project / "docs", "plain.txt", auto_append=files).content == b"Text.\n"


def test_options_of_myst_may_be_quoted(project: Path) -> None:
    (project / "docs/parts/note.md").write_text("before\n<!-- begin -->\nA note.\n")
    page(project, "```{include} ../parts/note.md\n:start-after: '<!-- begin -->'\n```\n")
    assert read(project / "docs").content.strip() == b"A note."
