"""The footer of a Parquet file: its numbers, and what is not one."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.tables.parquet import group_rows, open_file, read_table
from noctule.artifacts.tables.parquet_footer import read_footer
from noctule.pipeline.errors import DamagedSnapshot

ROWS = pa.table({"a": [1, 2, 3], "b": [["x"], [], ["y", "z"]], "c": [1.5, 2.5, 3.5]})


def _footer_of(path: Path) -> tuple[bytes, bytes]:
    """A file's bytes up to the footer, and the footer."""
    content = path.read_bytes()
    at = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    return content[:at], content[at:-8]


def _with_footer(path: Path, rows: bytes, footer: bytes) -> None:
    path.write_bytes(rows + footer + struct.pack("<I", len(footer)) + b"PAR1")


def test_the_numbers_are_those_that_arrow_reads(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path, row_group_size=2)
    theirs, ours = pq.read_metadata(path), read_footer(path)
    assert ours.rows == theirs.num_rows == 3
    assert [group.rows for group in ours.groups] == group_rows(path) == [2, 1]
    for group in range(2):
        for at, size in enumerate(ours.groups[group].columns):
            column = theirs.row_group(group).column(at)
            assert (size.values, size.uncompressed, size.compressed) == (
                column.num_values, column.total_uncompressed_size, column.total_compressed_size,
            )  # fmt: skip


def test_a_footer_that_contradicts_itself_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    """Arrow 26 aborts where it is asked for such a column, of whose levels there are too many counts."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"b": [["x"], ["y"]]}), path)
    rows, footer = _footer_of(path)
    counts = b"\x19\x26\x04\x00"  # of both levels of repetition
    assert counts in footer
    _with_footer(path, rows, footer.replace(counts, b"\x19\x36\x04\x00\x00"))
    with pytest.raises(DamagedSnapshot, match="histogram size mismatch"):
        read_table(path)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_footer_that_is_cut_or_garbled_is_refused(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path)
    rows, footer = _footer_of(path)
    _with_footer(path, rows, footer[:cut])
    with pytest.raises(DamagedSnapshot):
        open_file(path)


@pytest.mark.parametrize(
    ("footer", "message"),
    [
        (b"", "no footer"),
        (b"\x0f" * 40, "kind"),
        (b"\x1c" * 4_000, "nested deeper"),
        (b"\x19\xf9" + b"\xff\xff\xff\xff\x07", "longer than itself"),
        (b"\x36" + b"\xff" * 40, "without an end"),
        (b"\x36\x01\x19\x0c\x00", "less than nothing"),
        (b"\x36\x02\x19\x0c\x00", "1 rows, 0 of them in row groups"),
        (b"\x38\x02\x19\x0c\x00", "lacks a number"),
    ],
)
def test_what_is_no_footer_is_refused_with_the_reason(footer: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    _with_footer(path, b"PAR1", footer)
    with pytest.raises(ValueError, match=message):
        read_footer(path)
