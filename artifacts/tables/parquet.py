"""Arrow tables as Parquet files: equal tables give equal bytes, and damage is noticed when a page is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...pipeline.errors import DamagedSnapshot
from ..disk.durable import writer
from ..disk.manifest import damaged

ROW_GROUP_ROWS = 65_536
_ROWS_AT_A_TIME, _BUFFER_BYTES = 8_192, 1_048_576


def write_table(
    table: pa.Table,
    path: Path,
    *,
    row_group_size: int = ROW_GROUP_ROWS,
    row_groups: Sequence[int] | None = None,
    ascending: Sequence[str] = (),
) -> None:
    """Write the table's rows in order to a new file; raises ``WriteFailed``.

    ``row_groups`` gives the rows of each group, if they are not all of ``row_group_size``. The integers in
    the ``ascending`` columns, or in their lists, are delta-encoded.
    """
    # Chunk boundaries would move page boundaries, and so change the bytes.
    plain = table.replace_schema_metadata(None).combine_chunks()
    if row_groups is None:
        row_groups = [min(row_group_size, len(plain) - at) for at in range(0, len(plain), row_group_size)]
    with (
        writer(path) as file,
        pq.ParquetWriter(
            file,
            plain.schema,
            compression=_compression(plain.schema),
            write_page_checksum=True,
            use_dictionary=_worth_a_dictionary(plain.schema),
            column_encoding={_leaf(plain.schema.field(name)): "DELTA_BINARY_PACKED" for name in ascending},
        ) as parquet,
    ):
        at = 0
        for size in row_groups:
            parquet.write_table(plain.slice(at, size), row_group_size=max(1, size))
            at += size


def _compression(schema: pa.Schema) -> dict[str, str]:
    """Leave vectors of floats uncompressed: zstd saves 8 %, and makes reading take five times as long."""
    return {_leaf(each): "none" if _is_vector_of(pa.float32(), each.type) else "zstd" for each in schema}


def _leaf(field: pa.Field) -> str:
    """Return the name under which Parquet keeps the values of a column, which may be a list."""
    is_list = isinstance(field.type, pa.ListType | pa.FixedSizeListType)
    return f"{field.name}.list.element" if is_list else str(field.name)


def _is_vector_of(number: pa.DataType, kind: pa.DataType) -> bool:
    return isinstance(kind, pa.FixedSizeListType) and bool(kind.value_type == number)


def _worth_a_dictionary(schema: pa.Schema) -> list[str]:
    # Floats hardly repeat: a dictionary would be built and discarded. Bytes take four each without one.
    return [
        _leaf(field)
        for field in schema
        if field.type in (pa.string(), pa.list_(pa.string())) or _is_vector_of(pa.int8(), field.type)
    ]


def open_file(path: Path) -> pq.ParquetFile:
    """Open a file's schema, row count and row groups without reading rows; raises ``DamagedSnapshot``."""
    try:
        return pq.ParquetFile(
            path, page_checksum_verification=True, pre_buffer=False, buffer_size=_BUFFER_BYTES
        )
    except (OSError, pa.ArrowException) as error:
        raise _unsound(path, error) from error


def read_table(path: Path, columns: Sequence[str] | None = None, *, rows: int | None = None) -> pa.Table:
    """Return the rows in file order; raises ``DamagedSnapshot``, at once if there are not ``rows``."""
    with open_file(path) as file:
        found = file.metadata.num_rows
        if rows is not None and found != rows:
            raise damaged(f"expected {rows} rows, found {found}", path)
        try:
            return _read(file, columns)
        except (OSError, pa.ArrowException) as error:
            raise _unsound(path, error) from error


def tuples(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield a table's rows as tuples of Python values."""
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def read_blocks(path: Path, column: str) -> Iterator[pa.Array]:
    """Yield one column in file order, never all of it in memory; raises ``DamagedSnapshot``."""
    with open_file(path) as file:
        try:
            for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=[column]):
                yield batch.column(0)
        except (OSError, pa.ArrowException) as error:
            raise _unsound(path, error) from error


def _read(file: pq.ParquetFile, columns: Sequence[str] | None) -> pa.Table:
    """Read a few rows at a time: reading all at once takes many times the table's size, mostly for lists."""
    schema = file.schema_arrow
    if columns is not None:
        schema = pa.schema([field for field in schema if field.name in set(columns)])
    blocks = file.iter_batches(_ROWS_AT_A_TIME, columns=schema.names)
    table = pa.Table.from_batches(blocks, schema=schema)
    return table if columns is None else table.select(list(columns))


def _unsound(path: Path, error: Exception) -> DamagedSnapshot:
    return damaged(f"not a sound Parquet file: {str(error).strip()[:200]}", path)
