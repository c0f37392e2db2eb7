from __future__ import annotations

import json
import os
import unicodedata
from base64 import b64encode
from pathlib import Path

import pytest

from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import MissingRoot, RejectedDocument, SourceError
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import (
    FoundFile,
    files_by_path,
    image_of_notebook,
    read_asset,
    read_file,
)


def collection(root: Path, **more: object) -> Collection:
    return Collection(root=str(root), **more)  # type: ignore[arg-type]


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n")


def paths(root: Path, **more: object) -> list[str]:
    return [file.path for file in list_files("c", collection(root, **more)).files]


def test_documents_of_quarto_are_found_without_its_parts(tmp_path: Path) -> None:
    write(tmp_path, "a.qmd", "_part.qmd")
    assert paths(tmp_path) == ["a.qmd"]


def test_files_come_sorted_whatever_the_order_on_disk(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a.md", "a/b/c.txt")
    assert paths(tmp_path) == ["a.md", "a/b/c.txt", "a/z.md", "b.md"]


def test_hidden_names_and_unmatched_files_are_passed_over_in_silence(tmp_path: Path) -> None:
    write(tmp_path, ".git/x.md", ".hidden.md", "image.png", "x.md", "~$x.md")
    listing = list_files("c", collection(tmp_path))
    assert [file.path for file in listing.files] == ["x.md"]
    assert listing.rejections == ()


def test_drafts_of_jekyll_are_left_out_where_its_settings_stand_above(tmp_path: Path) -> None:
    write(tmp_path, "_config.yml", "content/_posts/a.md", "content/_drafts/b.md", "content/x/_drafts/c.md")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/cur").symlink_to(tmp_path / "content")
    for root in ("content", "links/cur"):
        assert paths(tmp_path / root) == ["_posts/a.md"]
        assert len(paths(tmp_path / root, drafts=True)) == 3


def test_backups_of_logseq_are_no_pages(tmp_path: Path) -> None:
    write(tmp_path, "logseq/config.edn", "logseq/bak/pages/a.md", "pages/a.md", "pages/logseq/b.md")
    assert paths(tmp_path) == ["pages/a.md", "pages/logseq/b.md"]


def test_exclude_wins_over_include(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "drafts/b.md", "c.tmp.md")
    assert paths(tmp_path, exclude=("drafts/", "*.tmp.md")) == ["a.md"]


def test_links_are_reported_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(tmp_path, "root/real/x.md", "outside/secret.md", "root/.hidden/y.md", "root/drafts/z.md")
    links = {
        "secret.md": "/etc/passwd", "folder": outside, "loop": tmp_path / "root/loop", "gone.md": "gone",
        "real/up": tmp_path / "root", "hidden": tmp_path / "root/.hidden", "out.md": outside / "secret.md",
        "left": tmp_path / "root/drafts",
    }  # fmt: skip
    for name, target in links.items():
        (tmp_path / "root" / name).symlink_to(target)
    listing = list_files("c", collection(tmp_path / "root", exclude=("/drafts/",)))
    assert [file.path for file in listing.files] == ["real/x.md"]
    assert [(r.path, r.kind) for r in listing.rejections] == [(name, "skipped") for name in sorted(links)]
    assert all("symbolic link" in r.reason for r in listing.rejections)


def test_a_link_to_a_file_that_may_be_included_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "root/a.md", "README.md", ".hidden.md", "parts/b.md", "parts/.git/c.md", "other/d.md")
    links = {
        "index.md": "README.md",
        "b.md": "parts/b.md",
        "hidden.md": ".hidden.md",
        "c.md": "parts/.git/c.md",
    }
    for name, target in {**links, "folder": "parts", "gone.md": "gone"}.items():
        (tmp_path / "root" / name).symlink_to(tmp_path / target)
    (tmp_path / "root/passwd.md").symlink_to("/etc/passwd")

    def found(*folders: str) -> list[str]:
        own = collection(tmp_path / "root", snippet_folders=tuple(str(tmp_path / each) for each in folders))
        listing = list_files("c", own)
        assert {each.path for each in listing.rejections} == {*links, "folder", "gone.md", "passwd.md"} - {
            file.path for file in listing.files
        }
        return [read_file(file, own).content.decode() and file.path for file in listing.files]

    assert (found(), found("parts"), found("other")) == (["a.md"], ["a.md", "b.md"], ["a.md"])
    assert found("") == ["a.md", "b.md", "index.md"]


def test_a_folder_of_snippets_that_is_missing_costs_no_document(tmp_path: Path) -> None:
    write(tmp_path, "root/a.md")
    own = collection(tmp_path / "root", snippet_folders=(str(tmp_path / "gone"),))
    assert [read_file(file, own).content for file in list_files("c", own).files] == [b"# root/a.md\n"]


def test_a_root_that_is_a_link_may_lead_to_a_newer_release_in_one_process(tmp_path: Path) -> None:
    own = collection(tmp_path / "current")
    for release in ("1", "2"):
        write(tmp_path, f"{release}/a.md")
        (tmp_path / "next").symlink_to(release)
        (tmp_path / "next").replace(tmp_path / "current")
        [file] = list_files("c", own).files
        assert read_file(file, own).content == f"# {release}/a.md\n".encode()
    (tmp_path / "1" / "a.md").unlink()
    (tmp_path / "1" / "a.md").symlink_to(tmp_path / "2" / "a.md")
    with pytest.raises(RejectedDocument):
        read_file(FoundFile("c", "a.md", str(tmp_path / "1" / "a.md"), 1), own)


def test_a_folder_that_became_a_link_into_one_of_snippets_is_outside(tmp_path: Path) -> None:
    write(tmp_path, "root/sub/x.md", ".private/x.md")
    own = collection(tmp_path / "root", snippet_folders=(str(tmp_path),))
    [file] = list_files("c", own).files
    (tmp_path / "root/sub").rename(tmp_path / "moved")
    (tmp_path / "root/sub").symlink_to(tmp_path / ".private")
    with pytest.raises(RejectedDocument, match="outside the collection's folder"):
        read_file(file, own)


def test_a_link_within_the_folder_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path, "real/x.md", "real/drafts/z.md", "real/owl.png")
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "real" / "again.md").symlink_to("x.md")
    (tmp_path / "real" / "more").symlink_to("drafts")
    listing = list_files("c", collection(tmp_path, exclude=("/real/drafts/",)))
    assert [file.path for file in listing.files] == ["alias/x.md", "real/again.md", "real/x.md"]
    assert [file.path for file in listing.assets] == ["alias/owl.png", "real/owl.png"]
    assert read_file(listing.files[0], collection(tmp_path)).content == (tmp_path / "real/x.md").read_bytes()
    assert [r.path for r in listing.rejections] == ["alias/again.md", "alias/more", "real/more"]


def test_a_link_leads_to_nothing_that_is_excluded_in_another_form_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, "cafe\u0301/x.md", "y.md")
    (tmp_path / "again").symlink_to("cafe\u0301")
    (tmp_path / "x.md").symlink_to("cafe\u0301/x.md")
    assert paths(tmp_path, exclude=("caf\u00e9/",)) == ["y.md"]


@pytest.mark.timeout(10)
def test_a_pipe_is_skipped_without_opening_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")
    (rejection,) = list_files("c", collection(tmp_path)).rejections
    assert (rejection.path, rejection.kind) == ("x.md", "skipped")
    assert "named pipe" in rejection.reason


@pytest.mark.timeout(10)
def test_a_pipe_that_took_a_files_place_is_rejected_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")
    with pytest.raises(RejectedDocument, match="not a regular file"):
        read_source(FoundFile("c", "x.md", str(tmp_path / "x.md"), 1), collection(tmp_path))


def test_a_name_that_is_not_utf8_is_rejected_with_an_escaped_name(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md"))).write_text("x")
    (rejection,) = list_files("c", collection(tmp_path)).rejections
    assert rejection.path == r"bad\xff.md"
    assert rejection.kind == "quarantined"


def test_a_name_with_a_newline_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, "a\nb.md")
    (rejection,) = list_files("c", collection(tmp_path)).rejections
    assert rejection.path == r"a\nb.md"
    assert "control character" in rejection.reason


def test_paths_are_nfc_and_the_file_is_still_found(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "café.md"))
    (file,) = list_files("c", collection(tmp_path)).files
    assert file.path == unicodedata.normalize("NFC", "café.md")
    assert read_source(file, collection(tmp_path)).content.startswith(b"# caf")


def test_a_file_over_max_bytes_is_quarantined(tmp_path: Path) -> None:
    write(tmp_path, "big.md")
    (rejection,) = list_files("c", collection(tmp_path, max_bytes=3)).rejections
    assert rejection.kind == "quarantined"
    assert "max_bytes = 3" in rejection.reason


def test_a_file_that_grew_over_max_bytes_since_the_listing_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, "big.md")
    with pytest.raises(RejectedDocument, match="max_bytes"):
        read_source(FoundFile("c", "big.md", str(tmp_path / "big.md"), 1), collection(tmp_path, max_bytes=3))


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_root_that_is_no_folder_stops_the_build(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "root"
    if kind == "file":
        root.write_text("x")
    with pytest.raises(MissingRoot) as caught:
        list_files("docs", collection(root))
    assert str(root) in caught.value.where
    assert "collections.docs.root" in caught.value.hint
    assert "the folder that was given" in caught.value.hint


def test_a_file_that_is_gone_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, "other.md")
    with pytest.raises(RejectedDocument, match="gone"):
        read_source(FoundFile("c", "x.md", str(tmp_path / "x.md"), 1), collection(tmp_path))


@pytest.mark.parametrize("is_mount_point", [False, True])
def test_a_file_that_is_gone_with_all_others_is_not_called_gone(tmp_path: Path, is_mount_point: bool) -> None:
    root = tmp_path / "root"
    if is_mount_point:
        root.mkdir()
    with pytest.raises(SourceError, match="cannot be accessed") as found:
        read_source(FoundFile("c", "x.md", str(root / "x.md"), 1), collection(root))
    assert not isinstance(found.value, RejectedDocument) and "Mount the disk" in found.value.hint


def test_a_link_that_took_a_files_place_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "x.md").symlink_to("/etc/passwd")
    with pytest.raises(RejectedDocument, match="symbolic link"):
        read_source(FoundFile("c", "x.md", str(tmp_path / "x.md"), 1), collection(tmp_path))


def test_a_folder_that_became_a_link_to_the_outside_is_rejected(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    write(outside, "x.md")
    (root / "sub").symlink_to(outside)
    with pytest.raises(RejectedDocument, match="outside"):
        read_source(FoundFile("c", "sub/x.md", str(root / "sub" / "x.md"), 1), collection(root))


def test_the_file_time_is_read_only_when_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "x.md")
    os.utime(tmp_path / "x.md", (86_400, 86_400))
    (file,) = list_files("c", collection(tmp_path)).files
    assert read_source(file, collection(tmp_path)).modified is None
    assert read_source(file, collection(tmp_path, modified_from="file-time")).modified == "1970-01-02"


def asset_paths(root: Path, **more: object) -> list[str]:
    return [file.path for file in list_files("c", collection(root, **more)).assets]


def test_assets_are_files_of_known_kinds_that_are_no_documents(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.png",
        "img/B.JPG",
        "notes.txt",
        "x.js",
        "page.htm",
        "data.xml",
        "paper.pdf",
        ".hidden.png",
    )
    write(tmp_path, ".git/b.png", "old/c.png")
    assert asset_paths(tmp_path, exclude=("old/**",)) == ["a.png", "img/B.JPG", "paper.pdf"]
    assert asset_paths(tmp_path, assets=("img/**",)) == ["img/B.JPG"]
    assert asset_paths(tmp_path, assets=()) == []
    assert asset_paths(tmp_path, include=("**/*.md", "**/*.png")) == ["img/B.JPG", "notes.txt", "paper.pdf"]


def test_assets_of_static_folders_are_as_if_they_lay_in_the_collection(tmp_path: Path) -> None:
    for name in ("docs/static/own.png", "site/img/owl.png", "site/own.png", "site/page.md", "site/.env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    collection = Collection(root=str(tmp_path / "docs"), static_folders=(str(tmp_path / "site"),))
    listing = list_files("c", collection)
    assert [file.path for file in listing.assets] == ["static/img/owl.png", "static/own.png"]
    read = [read_asset(file, collection).content for file in listing.assets]
    assert read == [b"site/img/owl.png", b"docs/static/own.png"] and listing.files == ()
    with pytest.raises(MissingRoot, match="static_folders"):
        list_files("c", collection.model_copy(update={"static_folders": (str(tmp_path / "gone"),)}))


def test_images_of_notebooks_are_read_by_their_paths_and_not_listed(tmp_path: Path) -> None:
    image = b"\x89PNG\r\n\x1a\n"
    cell = {"outputs": [{"data": {"image/png": b64encode(image).decode(), "image/svg+xml": "<svg/>"}}]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    collection = Collection(root=str(tmp_path))
    listing = list_files("c", collection)
    files = files_by_path(listing.files)["c"]
    file = image_of_notebook("a.ipynb/cell-1-output-1.png", files)
    assert file is not None and listing.assets == ()
    assert read_asset(file, collection).content == image
    assert image_of_notebook("b.ipynb/cell-1-output-1.png", files) is None
    assert image_of_notebook("a.ipynb/owl.png", files) is None
    with pytest.raises(RejectedDocument, match="max_asset_bytes = 5"):
        read_asset(file, Collection(root=str(tmp_path), max_asset_bytes=5))
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(RejectedDocument, match="no longer contains this image"):
        read_asset(file, collection)


def test_a_link_to_an_asset_and_a_pipe_are_none(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "secret.png")
    (tmp_path / "docs" / "b.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(tmp_path / "docs" / "c.png")
    listing = list_files("c", collection(tmp_path / "docs"))
    assert listing.assets == () and listing.rejections == ()


def test_a_large_asset_is_listed_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(bytes(2_000))
    (file,) = list_files("c", collection(tmp_path, max_asset_bytes=1_000)).assets
    assert file.size == 2_000
    with pytest.raises(RejectedDocument, match="max_asset_bytes = 1,000"):
        read_asset(file, collection(tmp_path, max_asset_bytes=1_000))
    assert read_asset(file, collection(tmp_path)).content == bytes(2_000)
