"""The manifest: canonical, forward-compatible, and hostile bytes are only ever an ArtifactError."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.artifacts.disk.layout import FORMAT_VERSION
from noctule.artifacts.disk.manifest import MAX_MANIFEST_BYTES, Manifest, snapshot_id
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, UnsupportedFormat
from noctule.pipeline.identity import canonical_json, sha256_hex
from tests.snapshot_builder import build_tiny_snapshot


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return build_tiny_snapshot(tmp_path_factory.mktemp("manifest"))


def _read(content: bytes) -> Manifest:
    return Manifest.from_bytes(content, where="here/manifest.json")


def _edited(manifest: Manifest, **fields: object) -> bytes:
    return canonical_json(json.loads(manifest.to_bytes()) | fields).encode() + b"\n"


def test_reading_and_writing_again_changes_nothing(manifest: Manifest) -> None:
    assert _read(manifest.to_bytes()) == manifest
    assert _read(manifest.to_bytes()).to_bytes() == manifest.to_bytes()


def test_the_name_is_twenty_digits_of_the_content(manifest: Manifest) -> None:
    assert manifest.snapshot_id() == snapshot_id(manifest.to_bytes())
    assert len(manifest.snapshot_id()) == 20
    assert replace(manifest, tools={"noctule": "1"}).snapshot_id() != manifest.snapshot_id()


def test_it_holds_no_time_host_or_path(manifest: Manifest) -> None:
    assert set(json.loads(manifest.to_bytes())) == {
        "analyzer", "counts", "files", "format_version", "index", "model", "settings", "settings_sha256",
        "tools",
    }  # fmt: skip


def test_unknown_fields_at_every_level_are_kept(manifest: Manifest) -> None:
    value = json.loads(manifest.to_bytes()) | {"later": {"a": [1, None]}}
    value["model"]["later"] = "b"
    value["index"]["later"] = [1]
    value["files"]["report.parquet"]["later"] = 3
    content = canonical_json(value).encode() + b"\n"
    assert _read(content).to_bytes() == content


def test_a_newer_format_is_refused_and_says_what_to_do(manifest: Manifest) -> None:
    content = canonical_json({"format_version": FORMAT_VERSION + 1, "all": "different"}).encode()
    with pytest.raises(UnsupportedFormat, match="Update noctule"):
        _read(content)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format_version": True}, "format_version"),
        ({"format_version": "1"}, "format_version"),
        ({"counts": {"documents": -1}}, "counts.documents"),
        ({"counts": {"documents": 1.0}}, "counts.documents"),
        ({"counts": []}, "counts is not an object"),
        ({"passages_without_headings": 0}, "passages_without_headings"),
        ({"passages_without_headings": "1"}, "passages_without_headings"),
        ({"files": {}}, "it lists no"),
        ({"files": {"../../x": {}}}, "not a file name"),
        ({"files": {".hidden": {}}}, "not a file name"),
        ({"settings_sha256": "0" * 64}, "settings_sha256"),
        ({"settings_sha256": "0"}, "settings_sha256"),
        ({"settings": {"other": 1}}, "settings_sha256"),
        ({"model": None}, "model is not an object"),
        ({"model": {"name": "m", "sha256": "", "dimension": 0, "precision": ""}}, "model.dimension"),
        ({"tools": {"noctule": 1}}, "tools.noctule"),
        ({"analyzer": {}}, "analyzer.languages is missing"),
        ({"analyzer": {"languages": ""}}, "analyzer.languages"),
        ({"analyzer": {"languages": "en,xx"}}, "analyzer.languages names 'xx'"),
        ({"analyzer": {"languages": "en'); SELECT 1 --"}}, "analyzer.languages"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], message: str, manifest: Manifest) -> None:
    with pytest.raises(DamagedSnapshot, match=message) as caught:
        _read(_edited(manifest, **fields))
    assert caught.value.where == "here/manifest.json"


@pytest.mark.parametrize("name", ["format_version", "files", "settings", "model", "tools"])
def test_a_missing_field_is_named(name: str, manifest: Manifest) -> None:
    value = json.loads(manifest.to_bytes())
    del value[name]
    with pytest.raises(DamagedSnapshot, match=f"{name} is missing"):
        _read(canonical_json(value).encode())


def test_a_table_without_a_row_count_is_refused(manifest: Manifest) -> None:
    value = json.loads(manifest.to_bytes())
    del value["files"]["report.parquet"]["rows"]
    with pytest.raises(DamagedSnapshot, match=r"no row count for report\.parquet"):
        _read(canonical_json(value).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":NaN}',
        b"1" * 5000,
        b" " * (MAX_MANIFEST_BYTES + 1),
    ],
    ids=range(10),
)
def test_what_is_no_manifest_is_damage(content: bytes) -> None:
    with pytest.raises(DamagedSnapshot, match="manifest"):
        _read(content)


def test_the_same_values_in_another_form_are_refused(manifest: Manifest) -> None:
    loose = json.dumps(json.loads(manifest.to_bytes()), indent=1).encode()
    with pytest.raises(DamagedSnapshot, match="canonical"):
        _read(loose)


@settings(max_examples=200)
@given(data=st.data())
def test_damaged_bytes_are_an_artifact_error_or_nothing_new(data: st.DataObject, manifest: Manifest) -> None:
    content = bytearray(manifest.to_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.integers(0, 40))
    content[at : at + cut] = data.draw(st.binary(max_size=40))
    try:
        read = _read(bytes(content))
    except ArtifactError:
        return
    assert read.to_bytes() == bytes(content)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": {"name": "m\x1b[2J", "sha256": "", "dimension": 8, "precision": ""}}, "model.name"),
        ({"model": {"name": "m\u202e", "sha256": "", "dimension": 8, "precision": ""}}, "model.name"),
        ({"model": {"name": "m" * 2_000, "sha256": "", "dimension": 8, "precision": ""}}, "model.name"),
        ({"tools": {"noctule\x1b]0;": "1"}}, "is not a name"),
        ({"counts": {"documents\nsound": 1}}, "is not a name"),
        ({"analyzer": {"languages": "en,en"}}, "twice"),
    ],
)
def test_text_that_would_move_a_terminal_is_refused(
    fields: dict[str, object], message: str, manifest: Manifest
) -> None:
    with pytest.raises(DamagedSnapshot, match=message) as caught:
        _read(_edited(manifest, **fields))
    assert len(caught.value.what) < 300
    assert not any(each in caught.value.what for each in "\x1b\u202e\n")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"collections": {"../x": {"address": {}}}}, "collection's name"),
        ({"collections": {"notes": {"address": {"base_url": "javascript:alert(1)"}}}}, "leads to no page"),
        (
            {"collections": {"notes": {"address": {"base_url": "java\tscript:alert(1)"}}}},
            "no control characters",
        ),
        ({"collections": {"notes": {}}}, "an address that cannot be"),
        ({"collections": []}, "collection's name"),
        ({"embed": "x"}, "settings.embed"),
    ],
)
def test_recorded_settings_that_cannot_be_are_refused(
    settings: dict[str, object], message: str, manifest: Manifest
) -> None:
    digest = sha256_hex(canonical_json(settings).encode())
    with pytest.raises(DamagedSnapshot, match=message):
        _read(_edited(manifest, settings=settings, settings_sha256=digest))
