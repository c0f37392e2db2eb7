"""A collection in a bucket of a real object server: the snapshot is that of a folder, night after night."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.report.result import BuildResult
from noctule.flows.run import retry
from noctule.pipeline.discover import list_files
from noctule.pipeline.errors import MissingRoot, RejectedDocument, SourceUnavailable
from noctule.pipeline.filesystems import object_files
from noctule.pipeline.filesystems.object_files import Objects
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.collection import Collection
from tests.object_server import ObjectServer
from tests.pictures import png
from tests.sentence_model_builder import small_model


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_PAUSES_S", (0.0, 0.0))


def put(server: ObjectServer, address: str, **objects: bytes | str) -> Any:
    files = server.files()
    for key, content in objects.items():
        given = content.encode() if isinstance(content, str) else content
        files.call_s3(
            "put_object", Bucket=address.removeprefix("s3://").partition("/")[0], Key=key, Body=given
        )
    return files


def build(root: str, store: Path) -> BuildResult:
    small = {
        "engine": {"name": "inline"},
        "embed": {"model": small_model(), "precision": "fp32", "workers": 1},
    }
    settings = reading.parse({"collections": {"c": {"root": root}}, **small}, where="a test")
    return build_snapshot(settings, Store(store))


def test_nights_over_a_bucket(server: ObjectServer, bucket: str, tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "owls.md").write_text(
        "# Owls\n\nOwls fly at night: ![an owl](owl.png), and see [bats](bats.md).\n"
    )
    (folder / "bats.md").write_text("# Bats\n\nBats use echolocation.\n")
    (folder / "owl.png").write_bytes(png(4, 3))
    files = put(server, bucket, **{f"docs/{each.name}": each.read_bytes() for each in folder.iterdir()})
    read: list[str] = []
    really = Objects._content

    def content(self: Objects, state: Any, most: int) -> bytes | None:
        read.append(state.key)
        return really(self, state, most)

    monkeypatch.setattr(Objects, "_content", content)
    store = tmp_path / "store"
    first = build(f"{bucket}/docs", store)
    shutil.copytree(store, tmp_path / "local")
    assert build(str(folder), tmp_path / "local").snapshot == first.snapshot  # nothing tells where it lay

    read.clear()
    put(server, bucket, **{"docs/bats.md": "# Bats\n\nBats hang upside down.\n"})
    second = build(f"{bucket}/docs", store)
    assert second.snapshot != first.snapshot and set(read) == {"bats.md"}
    with Store(store).open() as snapshot:
        assert snapshot.table("assets", ["content"])["content"].to_pylist() == [png(4, 3)]

    for key in files.find(f"{bucket}/docs"):
        files.rm_file(key)
    files.rmdir(bucket.removeprefix("s3://"))
    with pytest.raises(MissingRoot):  # it has one collection, and that failed
        build(f"{bucket}/docs", store)
    assert Store(store).current() == second.snapshot


def test_keys_of_a_bucket_are_checked(server: ObjectServer, bucket: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(object_files, "_PAGE", 4)
    names = ["a.md", "A.md", "b/../c.md", "d//e.md", "/f.md", "h/", "h/i.md", ".j.md", "kk.txt"]
    put(server, bucket, **{f"docs/{name}": f"# {name}" for name in names}, **{"docs-more/l.md": "# L"})
    listing = list_files("c", Collection(root=f"{bucket}/docs"))
    assert [file.path for file in listing.files] == ["A.md", "a.md", "h/i.md", "kk.txt"]
    assert [each.path for each in listing.rejections] == ["/f.md", "b/../c.md", "d//e.md"]
    assert len({file.version for file in listing.files}) == 4


def test_an_upload_in_parts_is_known_by_its_etag(server: ObjectServer, bucket: str) -> None:
    files, name = server.files(), bucket.removeprefix("s3://")
    upload = files.call_s3("create_multipart_upload", Bucket=name, Key="a.md")["UploadId"]
    given = {"Bucket": name, "Key": "a.md", "UploadId": upload}
    part = files.call_s3("upload_part", PartNumber=1, Body=b"# In parts", **given)
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    files.call_s3("complete_multipart_upload", MultipartUpload=parts, **given)
    collection = Collection(root=bucket)
    (file,) = list_files("c", collection).files
    source = read_source(file, collection)
    assert "-1,size=10" in file.version and (source.content, source.version) == (b"# In parts", file.version)


def test_what_changes_between_listing_and_reading(server: ObjectServer, bucket: str) -> None:
    files, collection = (
        put(server, bucket, **{"a.md": "# A", "b.md": "", "c.md": "# C"}),
        Collection(root=bucket),
    )
    a, b, c = list_files("c", collection).files
    put(server, bucket, **{"a.md": "# Another", "b.md": "# Not empty"})
    assert [read_source(each, collection).content for each in (a, b)] == [b"# Another", b"# Not empty"]
    files.rm_file(f"{bucket}/c.md")
    with pytest.raises(RejectedDocument, match="gone"):
        read_source(c, collection)
    for key in ("a.md", "b.md"):
        files.rm_file(f"{bucket}/{key}")
    files.rmdir(bucket.removeprefix("s3://"))
    with pytest.raises(SourceUnavailable):
        read_source(a, collection)


def test_a_bucket_that_is_not_there(server: ObjectServer, bucket: str, monkeypatch: Any) -> None:
    with pytest.raises(MissingRoot):
        list_files("c", Collection(root="s3://no-such-bucket-here/docs"))
    with pytest.raises(MissingRoot):
        list_files("c", Collection(root=f"{bucket}/no-such-prefix"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(SourceUnavailable):
        list_files("c", Collection(root=f"{bucket}/docs"))
