"""A file in a folder is read again when it, or what is around it, has changed, and else not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.run.context import BuildOptions, RunContext
from noctule.flows.stages import sources
from noctule.flows.stages.sources import HashedSources, discover, hash_sources
from noctule.pipeline import source_files
from noctule.pipeline.discover import local_folder
from noctule.pipeline.filesystems import mounts
from noctule.pipeline.model import Source
from noctule.pipeline.settings import reading
from noctule.pipeline.source_files import FoundFile, is_unsettled, version_of
from tests.pictures import png

Night = Callable[..., tuple[HashedSources, list[str]]]
ALL = ["a.md", "deep/b.md", "deep/er/c.rst", "owl.png"]

pytestmark = pytest.mark.skipif(
    not mounts.has_change_times(Path("/tmp")),
    reason="the file system has no times of change",
)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as written long ago: no program can set the time of a change."""
    monkeypatch.setattr(source_files, "_UNSETTLED_S", -3600.0)


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    """Hashes the folder; returns that, and the paths of the files that were read."""
    (tmp_path / "notes/deep/er").mkdir(parents=True)
    for name in ALL[:3]:
        (tmp_path / "notes" / name).write_text("# Owls\n\nAt dusk, {{ page.title }}.\n")
    (tmp_path / "notes" / ALL[3]).write_bytes(png(4, 3))
    read = list[str]()

    def noting(name: str) -> None:
        really = getattr(sources, name)

        def noted(file: FoundFile, *given: Any) -> Source:
            read.append(file.path)
            found: Source = really(file, *given)
            return found

        monkeypatch.setattr(sources, name, noted)

    noting("read_source")
    noting("read_asset")

    def hashed(start: str | None = None, **more: object) -> tuple[HashedSources, list[str]]:
        read.clear()
        own = {"root": str(tmp_path / "notes"), "include": ["**/*.md", "**/*.rst"], **more}
        settings = reading.parse({"collections": {"c": own}}, where="a test")
        run = RunContext(settings, tmp_path / "store", BuildOptions(start=start))
        listing = discover(run, Store(run.store))
        found = hash_sources(run, listing, Store(run.store))
        assert found is not None
        return found, sorted(read)

    return hashed


def _edited_in_place(path: Path) -> None:
    """Other bytes, of the same number and with the time of modification that the file had."""
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"dusk", b"dawn"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def _replaced(path: Path) -> None:
    (other := path.with_name("other")).write_bytes(path.read_bytes().replace(b"dusk", b"dawn"))
    before = path.stat()
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", [_edited_in_place, _replaced])
def test_what_did_not_change_is_not_read_and_what_did_is(
    change: Callable[[Path], None], night: Night, tmp_path: Path
) -> None:
    first, read = night()
    assert read == ALL and first.is_proved
    same, read = night()
    assert read == [] and list(same.inputs()) == list(first.inputs()) and same.is_proved
    change(tmp_path / "notes/deep/b.md")
    changed, read = night()
    assert read == ["deep/b.md"] and list(changed.inputs()) != list(first.inputs())
    (tmp_path / "notes/a.md").touch()
    touched, read = night()
    assert read == ["a.md"]
    assert list(touched.inputs()) == list(changed.inputs())
    (tmp_path / "notes/a.md").unlink()
    (tmp_path / "notes/new.md").write_text("# New\n")
    assert night()[1] == ["new.md"]
    assert night(start="hash")[1] == ["deep/b.md", "deep/er/c.rst", "new.md", "owl.png"]


def test_what_was_written_a_moment_ago_is_read_once_more(night: Night) -> None:
    for _ in range(2):
        found, read = night()
        assert read == ALL and not found.is_proved


def test_a_version_settles_after_a_minute(tmp_path: Path) -> None:
    changed_s = tmp_path.stat().st_ctime_ns / 1e9
    version = version_of(tmp_path.stat())
    assert is_unsettled(version, changed_s + 59) and not is_unsettled(version, changed_s + 61)
    assert is_unsettled(version, changed_s - 3600)  # the clock was put back


@pytest.mark.usefixtures("settled")
def test_what_includes_others_is_read_every_night(night: Night, tmp_path: Path) -> None:
    part = tmp_path / "notes/deep/part.txt"
    part.write_text("Of herons.\n")
    (tmp_path / "notes/deep/b.md").write_text("# Owls\n\n{{#include part.txt}}\n")
    (tmp_path / "notes/deep/er/c.rst").write_text("Owls\n====\n\n.. include:: gone.txt\n")
    first, _ = night()
    same, read = night()
    assert read == ["deep/b.md", "deep/er/c.rst"] and not same.is_proved
    _edited_in_place(part)
    assert list(same.inputs()) == list(first.inputs())
    part.write_text("Of wrens.\n")
    assert list(night()[0].inputs()) != list(first.inputs())


@pytest.mark.usefixtures("settled")
def test_what_ends_every_document_is_read_every_night(night: Night, tmp_path: Path) -> None:
    (more := tmp_path / "abbreviations.md").write_text("*[WAL]: log\n")
    night(auto_append=[str(more)])
    assert night(auto_append=[str(more)])[1] == ["a.md", "deep/b.md"]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("deep/conf.py", "project = 'Owls'\n", ["deep/b.md", "deep/er/c.rst"]),
        ("deep/conf.py", "rst_prolog = 'Of owls.'\n", ["deep/b.md", "deep/er/c.rst"]),
        (
            "deep/_config.yml",
            "title: A Book\nsphinx: {config: {project: Owls}}\n",
            ["deep/b.md", "deep/er/c.rst"],
        ),
        (".vitepress/x", "", ALL[:3]),
        ("_config.yml", "title: Owls\n", ALL[:3]),
    ],
)
def test_what_is_around_documents_is_part_of_their_version(
    name: str, text: str, again: list[str], night: Night, tmp_path: Path
) -> None:
    """They are read as if nothing were known of them; those that it may concern also in each later night."""
    first, _ = night()
    path = tmp_path / "notes" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    around, read = night()
    assert [each for each in read if each not in ("owl.png", name)] == again
    anew, _ = night(start="hash")
    assert list(around.inputs()) == list(anew.inputs())
    path.unlink()
    if path.parent.name.startswith("."):
        path.parent.rmdir()
    assert list(night()[0].inputs()) == list(first.inputs())


@pytest.mark.usefixtures("settled")
def test_elsewhere_every_file_is_read(night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On file systems of which nothing is known, and behind links."""
    night()
    (tmp_path / "notes/link.md").symlink_to(tmp_path / "notes/a.md")
    night()
    assert night()[1] == ["link.md"]
    monkeypatch.setattr(local_folder, "has_change_times", lambda _: False)
    assert night()[1] == sorted([*ALL, "link.md"])


@pytest.mark.usefixtures("settled")
def test_the_date_of_a_file_that_is_not_read_is_that_of_the_file(night: Night, tmp_path: Path) -> None:
    os.utime(tmp_path / "notes/a.md", (86_400, 86_400))
    first, _ = night(modified_from="file-time")
    same, read = night(modified_from="file-time")
    assert read == [] and list(same.inputs()) == list(first.inputs())
    assert [file.modified for group in same.groups for file in group if file.path == "a.md"] == ["1970-01-02"]
