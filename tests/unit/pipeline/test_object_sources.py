"""Documents of an object store: what is listed, what is read, and that no fault of a store loses one."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from noctule.pipeline.discover import FileListing, list_files
from noctule.pipeline.errors import (
    MissingRoot,
    RejectedDocument,
    SettingsError,
    SourceError,
    SourceUnavailable,
)
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import Source
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile, read_asset
from tests.faulty_store import FaultyStore, faulty_store

ROOT = "faulty://bucket"


@pytest.fixture(autouse=True)
def store() -> Iterator[type[FaultyStore]]:
    with faulty_store() as empty:
        yield empty


def listed(**more: object) -> FileListing:
    return list_files("c", Collection(root=ROOT, **more))  # type: ignore[arg-type]


def read(file: FoundFile, **more: object) -> Source:
    return read_source(file, Collection(root=ROOT, **more))  # type: ignore[arg-type]


def refusing(error: Exception, request: str, key: str | None = None) -> Callable[[str, str], None]:
    def fault(name: str, of: str) -> None:
        if name == request and key in (None, of):
            raise error

    return fault


def test_documents_and_assets_are_listed_as_those_of_a_folder_are(store: type[FaultyStore]) -> None:
    store.put(**{
        "a.md": "# A", "deep/er/b.md": "# B", "deep/c.txt": "C", "owl.png": "png", "no.js": "x",
        ".git/d.md": "#", ".e.md": "#", "drafts/f.md": "#", "_part.mdx": "#", "_part.qmd": "#",
        "folder/": "",
        "Case.md": "# 1", "case.md": "# 2", "cafe\u0301.md": "# NFC",
    })  # fmt: skip
    listing = listed(exclude=("drafts/",))
    assert [file.path for file in listing.files] == [
        "Case.md", "a.md", "café.md", "case.md", "deep/c.txt", "deep/er/b.md",
    ]  # fmt: skip
    assert [file.path for file in listing.assets] == ["owl.png"]
    assert [(each.path, each.kind) for each in listing.rejections] == [
        ("_part.mdx", "skipped"),
        ("_part.qmd", "skipped"),
    ]
    assert [read(file).content for file in listing.files[:3]] == [b"# 1", b"# A", b"# NFC"]
    assert not {"drafts", ".git"} & set(store.asked("list"))


def test_names_that_no_folder_could_hold_are_quarantined(store: type[FaultyStore]) -> None:
    long = "x" * 241 + ".md"
    names = ["../up.md", "a/../b.md", "./d.md", "e\n.md", long, "owl.md", "owl.md/f.md", "bad\x01/g.md"]
    store.put(**dict.fromkeys(names, "# X"))
    listing = listed()
    assert [file.path for file in listing.files] == ["owl.md"]
    assert {each.path for each in listing.rejections} == {
        "../up.md", "a/../b.md", "./d.md", "e\\n.md", long, "owl.md/f.md", "bad\\x01",
    }  # fmt: skip
    assert {each.kind for each in listing.rejections} == {"quarantined"}


def test_an_object_of_5_gb_is_left_out_by_its_size_alone(store: type[FaultyStore]) -> None:
    store.put(**{"huge.md": "# X", "a.md": "# A", "film.mp4": "x"})
    store.more["bucket/huge.md"] = store.more["bucket/film.mp4"] = {"size": 5_000_000_000}
    listing = listed()
    assert [file.path for file in listing.files] == ["a.md"] and not store.asked("read")
    assert listing.rejections[0].reason.startswith("5,000,000,000 bytes, more than max_bytes")


def test_an_archived_object_says_what_to_do(store: type[FaultyStore]) -> None:
    store.put(**{"old.md": "# X"})
    store.more["bucket/old.md"] = {"StorageClass": "GLACIER"}
    (rejection,) = listed().rejections
    assert "GLACIER: restore it" in rejection.reason


@pytest.mark.parametrize(
    "error",
    [
        PermissionError("403 ExpiredToken"),
        TimeoutError(),
        OSError(16, "SlowDown"),
        KeyError("NextContinuationToken"),
    ],
)
def test_a_listing_that_fails_anywhere_is_no_listing(store: type[FaultyStore], error: Exception) -> None:
    store.put(**{"a.md": "# A", "deep/b.md": "# B"})
    store.fault = refusing(error, "list", "deep")
    with pytest.raises(SourceUnavailable, match=type(error).__name__):
        listed()


def test_a_prefix_that_lists_nothing_is_missing_and_not_empty() -> None:
    with pytest.raises(MissingRoot, match="nothing is listed"):
        listed()


def test_a_folder_that_is_gone_within_the_listing_is_no_empty_one(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A", "deep/b.md": "# B"})
    store.fault = refusing(FileNotFoundError("deep"), "list", "deep")
    with pytest.raises(SourceUnavailable):
        listed()


@pytest.mark.parametrize("request_", ["read", "info"])
@pytest.mark.parametrize("error", [PermissionError("403"), TimeoutError(), OSError(16, "SlowDown")])
def test_what_cannot_be_read_now_is_not_rejected(
    store: type[FaultyStore], error: Exception, request_: str
) -> None:
    store.put(**{"a.md": "# A"})
    (file,) = listed().files
    store.fault = refusing(error, request_)
    with pytest.raises(SourceUnavailable) as caught:
        read(file)
    assert not isinstance(caught.value, RejectedDocument) and "faulty://bucket/a.md" in caught.value.where


def test_an_object_is_gone_only_where_the_store_is_there(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A", "b.md": "# B"})
    file, _ = listed().files
    del store.objects["bucket/a.md"]
    with pytest.raises(RejectedDocument, match="gone since it was listed"):
        read(file)
    store.objects.clear()  # as a bucket that was unmounted, renamed or emptied
    with pytest.raises(SourceUnavailable, match="nothing is listed"):
        read(file)


def test_an_object_that_changed_since_the_listing_is_read_as_it_is_now(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A"})
    (file,) = listed().files
    store.put(**{"a.md": "# Another one"})
    source = read(file)
    assert source.content == b"# Another one" and source.version not in ("", file.version)


def test_an_object_that_changes_at_each_reading_is_not_mixed(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A"})
    (file,) = listed().files

    def change(request: str, key: str) -> None:
        if request == "info":
            store.put(**{key: f"# {len(store.requests):04}"})

    store.fault = change
    with pytest.raises(RejectedDocument, match="changes while it is read"):
        read(file)


def test_an_etag_is_a_name_and_no_hash(store: type[FaultyStore]) -> None:
    """That of an upload in parts is no MD5, and a weak one may stay when bytes change."""
    store.put(**{"a.md": "# A", "b.md": "# B"})
    store.versions["bucket/a.md"] = "0123456789abcdef0123456789abcdef-2"
    store.more["bucket/b.md"] = {"ETag": 'W/"1"', "LastModified": "2026-11-24T12:00:00+00:00"}
    a, b = listed().files
    assert a.version == "etag=0123456789abcdef0123456789abcdef-2,size=3" and read(a).content == b"# A"
    assert b.version == "time=1795521600.0,size=3"


def test_no_more_than_the_limit_is_read_of_an_object_that_grew(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "", "owl.png": b"1"})
    listing = listed(max_bytes=10, max_asset_bytes=10)
    store.put(**{"a.md": "# " + "A" * 100, "owl.png": b"1" * 100})
    with pytest.raises(RejectedDocument, match="102 bytes, more than max_bytes = 10"):
        read(listing.files[0], max_bytes=10)
    with pytest.raises(RejectedDocument, match="more than max_asset_bytes = 10"):
        read_asset(listing.assets[0], Collection(root=ROOT, max_asset_bytes=10))


def test_includes_are_read_at_the_address_and_nowhere_else(store: type[FaultyStore], tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    text = '# A\n\n--8<-- "parts/x.md"\n\n--8<-- "../../up.md"\n\n--8<-- "{}"\n'.format(
        tmp_path / "secret.md"
    )
    store.put(**{"guide/a.md": text, "guide/parts/x.md": "Included.", "parts/x.md": "Not this."})
    file = next(each for each in listed().files if each.path == "guide/a.md")
    source = read(file)
    assert b"Included." in source.content and b"secret" not in source.content
    assert len(source.notes) == 2 and source.version == ""  # its bytes are not those of one object


def test_dates_are_those_of_the_store(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A"})
    store.more["bucket/a.md"] = {"LastModified": "2026-11-24T12:00:00+00:00"}
    (file,) = listed(modified_from="file-time").files
    assert file.modified == read(file, modified_from="file-time").modified == "2026-11-24"
    assert listed().files[0].modified is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"root": "s3://key:secret@bucket/docs"}, "password"),
        ({"root": "abfs://docs?sig=secret"}, "no query"),
        ({"root": "https://example.org/docs"}, "does not list"),
        ({"root": "file://docs"}, "working directory"),
        ({"root": "zip://docs::a.zip"}, "not an address"),
        ({"root": "s3://b/docs", "modified_from": "git"}, 'leave out modified_from = "git"'),
        ({"root": "s3://b/docs", "snippet_folders": ["x"]}, "leave out snippet_folders"),
    ],
)
def test_settings_that_do_not_fit_an_address_are_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        reading.parse({"collections": {"c": given}}, where="a test")
    assert reason in str(caught.value) and "secret" not in str(caught.value)


def test_an_address_is_not_resolved_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "noctule.toml").write_text('[collections.c]\nroot = "s3://bucket/docs"\n')
    assert reading.load(tmp_path / "noctule.toml").collections["c"].root == "s3://bucket/docs"


def test_a_package_that_is_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="needs gcsfs"):
        list_files("c", Collection(root="gs://bucket/docs"))


def test_a_signed_address_in_an_error_is_cut(store: type[FaultyStore]) -> None:
    store.put(**{"a.md": "# A"})
    store.fault = refusing(OSError("GET https://h/b?sig=SECRET failed"), "list")
    with pytest.raises(SourceUnavailable) as caught:
        listed()
    assert "SECRET" not in str(caught.value)


def test_memory_and_local_files_and_archives_are_sources(tmp_path: Path) -> None:
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# A")
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "out").symlink_to(tmp_path)
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("docs/a.md", "# A")
    fsspec.filesystem("memory").pipe_file("/docs-of-a-test/a.md", b"# A")
    roots = [f"file://{tmp_path}/docs", f"zip://docs::file://{tmp_path}/docs.zip", "memory://docs-of-a-test"]
    for root in roots:
        listing = list_files("c", Collection(root=root))
        assert [file.path for file in listing.files] == ["a.md"] and listing.files[0].version
        source = read_source(listing.files[0], Collection(root=root))
        assert (source.content, source.version) == (b"# A", listing.files[0].version)
    assert {each.path for each in list_files("c", Collection(root=roots[0])).rejections} == {"link.md"}
    with pytest.raises(SourceError):
        list_files("c", Collection(root=f"zip://docs::file://{tmp_path}/none.zip"))
