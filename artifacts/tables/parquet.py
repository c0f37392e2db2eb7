"""Arrow tables as Parquet files: equal tables give equal bytes, and damage is noticed when a page is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...pipeline.errors import ArtifactError, is_transient
from ..disk.durable import writer
from ..disk.manifest import damaged, unreadable
from .outside_memory import mapped_table
from .parquet_footer import read_footer

ROW_GROUP_ROWS = 65_536
_ROWS_AT_A_TIME, _LARGE_COLUMN_BYTES = 8_192, 64 << 20
# What a footer may promise for each byte of the file: constant columns are a few bytes in a million.
_MOST_PER_BYTE, _ALWAYS_FINE = 2_000, 50_000_000
# Of every other column each row has a value, and each list in it has all of its own.
_OPTIONAL = frozenset({"asset", "community", "height", "modified", "parent_id", "target_id", "width"})
# Beside Arrow's own, what its Python side raises for names and numbers that cannot be.
_REFUSALS = (OSError, pa.ArrowException, ValueError, OverflowError)


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
    if row_groups is None:
        row_groups = _even(len(table), row_group_size)
    with writer(path) as file:
        _write(table, file, row_groups, ascending)


def table_bytes(table: pa.Table, row_group_size: int) -> bytes:
    """Return what ``write_table`` would write."""
    buffer = pa.BufferOutputStream()
    _write(table, buffer, _even(len(table), row_group_size), ())
    return bytes(buffer.getvalue())


def _even(rows: int, size: int) -> list[int]:
    return [min(size, rows - at) for at in range(0, rows, size)]


def _write(table: pa.Table, file: Any, row_groups: Sequence[int], ascending: Sequence[str]) -> None:
    plain = table.replace_schema_metadata(None)
    with pq.ParquetWriter(
        file,
        plain.schema,
        compression=_compression(plain.schema),
        write_page_checksum=True,
        use_dictionary=_worth_a_dictionary(plain.schema),
        column_encoding={_leaf(plain.schema.field(name)): "DELTA_BINARY_PACKED" for name in ascending},
    ) as parquet:
        at = 0
        for size in row_groups:
            # Chunk boundaries would move page boundaries, and so change the bytes.
            group = plain.slice(at, size).combine_chunks()
            parquet.write_table(group, row_group_size=max(1, size))
            at += size


def _compression(schema: pa.Schema) -> dict[str, str]:
    """Leave vectors of floats uncompressed: zstd saves 8 %, and makes reading take five times as long.

    So are the bytes of files, which are nearly all compressed already.
    """
    return {_leaf(each): "none" if _is_dense(each.type) else "zstd" for each in schema}


def _is_dense(kind: pa.DataType) -> bool:
    return bool(kind == pa.large_binary()) or _is_vector_of(pa.float32(), kind)


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


def open_file(
    path: Path, schema: pa.Schema | None = None, rows: int | None = None, *, memory_map: bool = False
) -> pq.ParquetFile:
    """Open a file without reading rows.

    Raises ``DamagedSnapshot`` unless its footer promises this schema, this many rows, and no more than a file
    of its size can hold.
    """
    with refusals(path):
        # Columns are read in one piece, which is of the footer's size. A buffer would grow to the size that a
        # page's header gives: 2 GB where that is damaged.
        read = {} if memory_map else {"buffer_size": 0, "page_checksum_verification": True}
        file = pq.ParquetFile(path, memory_map=memory_map, pre_buffer=False, **read)
    try:
        with refusals(path):
            found, footer = file.schema_arrow.remove_metadata(), read_footer(path)
        if schema is not None and not found.equals(schema):
            raise damaged(f"expected the columns {_columns(schema)}, found {_columns(found)}", path)
        if rows is not None and footer.rows != rows:
            raise damaged(f"expected {rows} rows, found {footer.rows}", path)
        size, largest, promised = path.stat().st_size, footer.largest_column, footer.promised
        if largest > size:
            raise damaged(f"it promises a column of {largest:,} bytes in a file of {size:,} bytes", path)
        if promised > _ALWAYS_FINE + _MOST_PER_BYTE * size:
            raise damaged(f"it promises {promised:,} bytes and values in a file of {size:,} bytes", path)
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Raise ``DamagedSnapshot`` for whatever Arrow raises in the block, which reads the file."""
    try:
        yield
    except MemoryError:  # Arrow's is one of Arrow's own exceptions too, and no sign of damage
        raise ArtifactError(
            "there is not enough memory to read it",
            where=str(path),
            hint="Free some memory. If the snapshot is from elsewhere, it may be forged: noctule check",
        ) from None
    except _REFUSALS as error:
        if is_transient(error):  # such as a mapping for which there is no room: no sign of damage either
            raise unreadable(error, path) from error
        raise damaged(f"not a sound Parquet file: {str(error).strip()[:200]}", path) from error


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)[:1_000]


def read_table(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    rows: int | None = None,
    schema: pa.Schema | None = None,
) -> pa.Table:
    """Return the rows in file order; raises as ``open_file`` does."""
    with open_file(path, schema, rows) as file, refusals(path):
        return _read(file, path, columns)


def read_outside_memory(
    path: Path,
    columns: Sequence[str] | None,
    folder: Path,
    *,
    rows: int | None = None,
    schema: pa.Schema | None = None,
) -> pa.Table:
    """Return all columns or some in file order, in a file without a name in the folder.

    Raises as ``open_file`` does, and ``WriteFailed``.
    """
    with open_file(path, schema, rows) as file:
        own = file.schema_arrow.remove_metadata()
        wanted = own if columns is None else pa.schema([own.field(name) for name in columns])
        return mapped_table(wanted, _parts(path, file, columns), folder)


def _parts(path: Path, file: pq.ParquetFile, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    batches = _batches(file, path, columns)
    while True:
        with refusals(path):
            batch = next(batches, None)
            part = None if batch is None else pa.Table.from_batches([_sound(batch)])
        if part is None:
            return
        yield part


def tuples(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield a table's rows as tuples of Python values."""
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def read_blocks(path: Path, column: str) -> Iterator[pa.Array]:
    """Yield one column in file order, never all of it in memory; raises ``DamagedSnapshot``."""
    with open_file(path) as file:
        blocks = _batches(file, path, [column])
        while True:
            with refusals(path):
                batch = next(blocks, None)
                if batch is None:
                    return
                _require_sound(batch)
            yield batch.column(0)


def _read(file: pq.ParquetFile, path: Path, columns: Sequence[str] | None) -> pa.Table:
    """Read a few rows at a time: reading all at once takes many times the table's size, mostly for lists."""
    schema = file.schema_arrow
    if columns is not None:
        schema = pa.schema([field for field in schema if field.name in set(columns)])
    table = pa.Table.from_batches(map(_sound, _batches(file, path, schema.names)), schema)
    return table if columns is None else table.select(list(columns))


def _batches(file: pq.ParquetFile, path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows; of large columns, with one row group in memory at a time."""
    if path.stat().st_size <= _LARGE_COLUMN_BYTES or read_footer(path).largest_column <= _LARGE_COLUMN_BYTES:
        yield from file.iter_batches(_ROWS_AT_A_TIME, columns=columns)
        return
    for group in range(file.num_row_groups):
        yield from file.iter_batches(_ROWS_AT_A_TIME, row_groups=[group], columns=columns)


def group_rows(path: Path) -> list[int]:
    """Return how many rows each row group of a file has; raises ``DamagedSnapshot``."""
    with refusals(path):
        return [group.rows for group in read_footer(path).groups]


def read_group(
    file: pq.ParquetFile, group: int, path: Path, columns: Sequence[str] | None = None
) -> pa.Table:
    """Return the rows of a row group; raises ``DamagedSnapshot``."""
    with refusals(path):
        rows = file.read_row_group(group, columns)
        _require_sound(rows)
    return rows if columns is None else rows.select(list(columns))


def _sound(rows: pa.RecordBatch) -> pa.RecordBatch:
    _require_sound(rows)
    return rows


def _require_sound(rows: pa.RecordBatch | pa.Table) -> None:
    """Raise ``pa.ArrowInvalid`` for text that is not UTF-8, and for a missing value: Parquet has both."""
    rows.validate(full=True)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name not in _OPTIONAL and _misses_a_value(column):
            raise pa.ArrowInvalid(f"a value of the column {name} is missing")


def _misses_a_value(column: pa.ChunkedArray | pa.Array) -> bool:
    if column.null_count:
        return True
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    is_list = pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)
    return is_list and any(chunk.flatten().null_count for chunk in chunks)
