"""Bytes of the search index: what is packed can be read again, and names follow content."""

from __future__ import annotations

import gzip
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.docsite.incremental.previous import PreviousSite, SiteRecord, previous_site, record_files
from noctule.docsite.incremental.staging import StagingFolder
from noctule.docsite.outline.plan import SitePage
from noctule.docsite.search.files import Files, Half, compressed, script
from noctule.docsite.search.format import bits, strings, varints, zigzag
from noctule.pipeline.errors import WriteFailed


def _handed_over(content: bytes) -> bytes:
    """What the engine makes of a script, read as a browser reads it."""
    code = content.decode("utf-16")
    found = re.fullmatch(r'noctule\.part\("(\w+)",(\d+),"([^"\\\n\r]*)"\)', code, re.DOTALL)
    assert found is not None
    units, packed = iter(found[3]), bytearray()
    for character in units:
        unit = ord(character)
        if unit == 0xE000:
            unit = ord(next(units))
            unit = 0xE000 if unit == 0xEB00 else unit - 0xE100 + 0xD800 if unit < 0xE900 else unit - 0xEA00
        packed += unit.to_bytes(2, "little")
    return bytes(packed[: int(found[2])])


@given(st.binary(max_size=400))
def test_any_bytes_survive_the_way_through_a_script(packed: bytes) -> None:
    assert _handed_over(script("manifest", packed)) == packed


def test_every_unit_survives_the_way_through_a_script() -> None:
    packed = np.arange(65_536, dtype="<u2").tobytes()
    assert _handed_over(script("manifest", packed)) == packed


@given(st.lists(st.integers(0, 2**34)))
def test_numbers_are_written_seven_bits_a_byte(numbers: list[int]) -> None:
    value = shift = 0
    found = []
    for byte in varints(np.array(numbers, dtype=np.int64)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    assert found == numbers


def test_signed_numbers_alternate() -> None:
    signed = np.array([0, -1, 1, -2, 2, 127, -128], dtype=np.int8)
    assert zigzag(signed).tolist() == [0, 1, 2, 3, 4, 254, 255]


def test_codes_take_the_bits_that_they_are_given() -> None:
    packed = bits(np.array([[3, 0, 1], [1, 0, 0]]), np.array([2, 0, 1]))
    assert packed == bytes([0b111, 0b001])


def test_sorted_words_share_their_beginnings() -> None:
    columns = strings(["cat", "catalog", "dog"], "word")
    assert columns == {"word_shared": [0, 3, 0], "word_size": [3, 4, 3], "word_rest": b"catalogdog"}


def test_a_file_is_gzip_with_its_columns_in_order() -> None:
    columns = [b"a" * 600, b"", b"bc"]
    assert gzip.decompress(compressed(columns)) == varints(np.array([3, 600, 0, 2])) + b"".join(columns)
    assert compressed(columns) == compressed(columns)


def test_equal_files_have_one_name_and_others_never_the_same() -> None:
    with Files("", PreviousSite(), Half.SHOWN) as files:
        first = files.add([b"one"])
        assert files.add([b"one"]) == first != files.add([b"two"])
        assert len(list(files.pages())) == 2
        files._digests[files.add([b"three"])] = "another file that came first"
        assert files.add([b"three"]) not in (first, "")


def test_a_file_that_the_site_had_is_kept_unpacked_unless_somebody_changed_it(tmp_path: Path) -> None:
    def pages(previous: PreviousSite) -> list[SitePage]:
        with Files("s/", previous, Half.SHOWN) as files:
            files.add([b"old"])
            files.add([b"new" * int(previous.folder is not None)])
            return list(files.pages())

    stage = StagingFolder(tmp_path / "site", PreviousSite())
    for page in pages(PreviousSite()):
        stage.add(page)
    for page in record_files(SiteRecord("", 0, tuple(stage.files), "snapshot")):
        stage.add(page)
    with previous_site(tmp_path / "site") as before:
        assert sorted(page.kept for page in pages(before)) == [False, True]
        for page in pages(PreviousSite()):
            (tmp_path / "site" / page.path).write_bytes(b"changed")
        assert not any(page.kept for page in pages(before))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_as_such_when_the_files_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(buffering: int = -1, **_: Any) -> Any:
        return Path("/dev/full").open("w+b", buffering)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with (
        pytest.raises(WriteFailed, match="ENOSPC"),
        Files("", PreviousSite(), Half.SHOWN, tmp_path) as files,
    ):
        files.add([b"text"])
        list(files.pages())
