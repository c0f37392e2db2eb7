"""Parquet and FAISS files: equal content gives equal bytes, and what is damaged or wrong is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.tables.parquet import open_file, read_blocks, read_table, write_table
from noctule.artifacts.tables.vectors import inner_products, read_index
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, WriteFailed
from tests.snapshot_builder import DIMENSION, tiny_tables, unit_rows, write_index


def test_chunks_and_metadata_do_not_change_the_bytes(tmp_path: Path) -> None:
    table = pa.table({"a": list(range(5000)), "b": [f"text {n % 7}" for n in range(5000)]})
    pieces = pa.concat_tables([table[:1], table[1:1700], table[1700:]]).replace_schema_metadata(
        {"pandas": "x"}
    )
    write_table(table, tmp_path / "one", row_group_size=2000)
    write_table(pieces, tmp_path / "two", row_group_size=2000)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with open_file(tmp_path / "one") as file:
        assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [2000, 2000, 1000]


def test_all_but_vectors_of_floats_and_files_is_compressed(tmp_path: Path) -> None:
    plain = set[str]()
    for name, table in tiny_tables().items():
        write_table(table, tmp_path / name)
        with open_file(tmp_path / name) as file:
            groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
        columns = [group.column(at) for group in groups for at in range(group.num_columns)]
        plain |= {f"{name}.{each.path_in_schema}" for each in columns if each.compression != "ZSTD"}
    vectors = {f"{name}.vector.list.element" for name in ("vectors", "centroids", "vocabulary")}
    assert plain == {*vectors, "assets.content"}


def test_a_table_comes_back_with_its_types(tmp_path: Path) -> None:
    for name, table in tiny_tables().items():
        write_table(table, tmp_path / name)
        assert read_table(tmp_path / name).equals(table)


def test_a_wrong_row_count_is_refused_before_reading(tmp_path: Path) -> None:
    write_table(pa.table({"a": [1, 2]}), tmp_path / "a")
    with pytest.raises(DamagedSnapshot, match="expected 3 rows, found 2"):
        read_table(tmp_path / "a", rows=3)


def test_a_flipped_bit_in_a_page_is_noticed_by_the_reader_too(tmp_path: Path) -> None:
    write_table(pa.table({"a": np.random.default_rng(0).integers(0, 1 << 60, 5000)}), tmp_path / "a")
    content = bytearray((tmp_path / "a").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DamagedSnapshot, match="not a sound Parquet file") as caught:
        read_table(tmp_path / "a")
    assert caught.value.where == str(tmp_path / "a")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 10, b"x" * 1000])
def test_what_is_no_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DamagedSnapshot):
        read_table(tmp_path / "a")


@pytest.mark.parametrize("is_large", [False, True])
def test_a_page_that_says_it_is_huge_takes_no_memory(
    is_large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noctule.artifacts.tables.parquet._LARGE_COLUMN_BYTES", 1 if is_large else 1 << 20)
    write_table(pa.table({"text": [f"line {n}" for n in range(2_000)]}), tmp_path / "sound")
    content = (tmp_path / "sound").read_bytes()
    # After the magic: the page's type and its two sizes, each a field's byte and a variable number.
    found = re.match(rb"PAR1\x15.\x15[\x80-\xff]*[\0-\x7f]\x15([\x80-\xff]*[\0-\x7f])", content, re.DOTALL)
    assert found is not None
    start, end = found.span(1)
    (tmp_path / "huge").write_bytes(content[:start] + b"\xfe\xff\xff\xff\x0f" + content[end:])
    unit = 1 if sys.platform == "darwin" else 1024
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with pytest.raises(DamagedSnapshot, match="not a sound Parquet file"):
        read_table(tmp_path / "huge")
    assert (getrusage(RUSAGE_SELF).ru_maxrss - before) * unit < 500_000_000  # the page says 2 GB


def test_large_columns_are_read_by_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": range(20_000), "b": [f"line {n}" for n in range(20_000)]})
    write_table(table, tmp_path / "a", row_groups=[9_000, 1, 10_999])
    monkeypatch.setattr("noctule.artifacts.tables.parquet._LARGE_COLUMN_BYTES", 1)
    assert read_table(tmp_path / "a").equals(table)
    blocks = list(read_blocks(tmp_path / "a", "b"))
    assert [len(block) for block in blocks] == [8_192, 808, 1, 8_192, 2_807]


def test_a_column_larger_than_its_file_is_refused(tmp_path: Path) -> None:
    write_table(pa.table({"a": range(1_000)}), tmp_path / "a")
    content = (tmp_path / "a").read_bytes()
    size = pq.read_metadata(tmp_path / "a").row_group(0).column(0).total_compressed_size
    given, forged = _variable(2 * size), _variable(2 * 8_000)  # zigzag; as many bytes
    assert given in content and len(given) == len(forged)
    (tmp_path / "b").write_bytes(content.replace(given, forged))
    with pytest.raises(DamagedSnapshot, match="a column of 8,000 bytes"):
        read_table(tmp_path / "b")


def _variable(number: int) -> bytes:
    """Return a number as Thrift's compact protocol writes it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def test_a_table_is_not_written_over(tmp_path: Path) -> None:
    write_table(pa.table({"a": [1]}), tmp_path / "a")
    with pytest.raises(WriteFailed):
        write_table(pa.table({"a": [2]}), tmp_path / "a")


@pytest.mark.parametrize("rows", [0, 1, 300])
def test_an_index_comes_back_with_its_rows(rows: int, tmp_path: Path) -> None:
    vectors = unit_rows(rows).reshape(rows, DIMENSION)
    write_index(vectors, tmp_path / "i")
    index = read_index(tmp_path / "i", rows, DIMENSION)
    assert (index.ntotal, index.d) == (rows, DIMENSION)
    if rows:
        scores, found = index.search(vectors, 1)
        assert np.array_equal(found.ravel(), np.arange(rows))
        assert np.allclose(scores, 1.0, atol=1e-5)


def _with(value: float) -> np.ndarray:
    vectors = unit_rows(5)
    vectors[3, 0] = value
    return vectors


@pytest.mark.parametrize(
    "vectors",
    [
        _with(np.nan),
        _with(np.inf),
        _with(2.0),
        np.zeros((2, DIMENSION), dtype=np.float32),
        unit_rows(2).astype(np.float64),
        unit_rows(2)[0],
        np.zeros((2, 0), dtype=np.float32),
    ],
)
def test_rows_that_are_no_unit_vectors_are_refused(vectors: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError):
        write_index(vectors, tmp_path / "i")
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize(("rows", "dimension"), [(4, 8), (6, 8), (5, 4), (10, 4), (5, 16), (0, 8)])
def test_an_index_of_another_shape_is_refused(rows: int, dimension: int, tmp_path: Path) -> None:
    write_index(unit_rows(5), tmp_path / "i")
    with pytest.raises(DamagedSnapshot):
        read_index(tmp_path / "i", rows, dimension)


def test_an_index_of_another_kind_is_refused_before_faiss_reads_it(tmp_path: Path) -> None:
    import faiss

    index = faiss.IndexFlatL2(DIMENSION)
    index.add(unit_rows(5))
    faiss.write_index(index, str(tmp_path / "i"))
    with pytest.raises(DamagedSnapshot, match="not a flat inner-product index"):
        read_index(tmp_path / "i", 5, DIMENSION)


@pytest.mark.parametrize("content", [b"", b"IxFI", b"\0" * 205])
def test_what_is_no_index_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "i").write_bytes(content)
    with pytest.raises(DamagedSnapshot):
        read_index(tmp_path / "i", 5, DIMENSION)


def test_a_missing_index_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DamagedSnapshot, match="cannot read it"):
        read_index(tmp_path / "i", 5, DIMENSION)


def test_inner_products_are_those_of_the_rows_that_are_named() -> None:
    chance = np.random.default_rng(3)
    left, right = (chance.normal(size=(rows, 24)).astype(np.float32) for rows in (7, 5))
    at, to = chance.integers(0, 7, 40), chance.integers(0, 5, 40).astype(np.int32)
    assert inner_products(left, at, right, to) == pytest.approx((left[at] * right[to]).sum(axis=1), abs=1e-5)
    assert len(inner_products(left, at[:0], right, to[:0])) == 0


@pytest.mark.parametrize("wrong", [-1, 5])
def test_a_row_that_is_not_there_is_never_read(wrong: int) -> None:
    rows = np.ones((5, 4), dtype=np.float32)
    with pytest.raises(IndexError, match="of 5"):
        inner_products(rows, np.array([0, wrong]), rows, np.array([0, 0]))


def test_vectors_or_columns_of_two_lengths_have_no_inner_products() -> None:
    rows, at = np.ones((5, 4), dtype=np.float32), np.array([0, 1])
    for given in ((rows, at, rows[:, :3], at), (rows, at, rows, at[:1])):
        with pytest.raises(ValueError, match="by"):
            inner_products(*given)


def test_steps_of_a_column_of_lists_give_the_same_rows_in_fewer_bytes(tmp_path: Path) -> None:
    lists = pa.array([list(range(at, 40_000, 7)) for at in range(7)], type=pa.list_(pa.int32()))
    table = pa.table({"passage": lists})
    write_table(table, tmp_path / "steps", ascending=("passage",))
    write_table(table, tmp_path / "plain")
    assert read_table(tmp_path / "steps").equals(table)
    assert (tmp_path / "steps").stat().st_size < (tmp_path / "plain").stat().st_size / 4


def test_rows_of_bytes_take_a_byte_a_number(tmp_path: Path) -> None:
    code = np.random.default_rng(3).integers(-127, 128, 256 * 384).astype(np.int8)
    table = pa.table({"code": pa.FixedSizeListArray.from_arrays(pa.array(code), 384)})
    write_table(table, tmp_path / "codes")
    assert read_table(tmp_path / "codes").equals(table)
    assert (tmp_path / "codes").stat().st_size < 1.05 * len(code)
