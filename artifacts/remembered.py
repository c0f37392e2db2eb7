"""What a store remembers: what groups of documents were understood to say, by the address of their content.

It lies beside the snapshots, as the embedding store does, and is a cache: losing it costs time and nothing else. A segment
is named by its own SHA-256, and one whose bytes are not those that were written is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifacts import durable
from artifacts.layout import REMEMBERED
from artifacts.understood import GROUPS
from pipeline.identity import sha256_hex

# So many that a segment's text stays far below the 2 GiB that 32-bit offsets reach.
_ROWS_AT_A_TIME = 128
_MAX_SEGMENTS = 48
_MAX_DEAD_SHARE = 0.5


class Remembered:
    """Rows of ``artifacts.understood.GROUPS`` under ``<store>/remembered/``, read once and then held."""

    def __init__(self, store: Path) -> None:
        self._folder = store / REMEMBERED
        self._tables: list[pa.Table] = []
        self._place: dict[str, tuple[int, int]] = {}
        for path in sorted(self._folder.glob("*.arrow")) if self._folder.is_dir() else []:
            rows = _read(path)
            self._hold(rows["key"].to_pylist(), rows)

    def __contains__(self, key: str) -> bool:
        return key in self._place

    def add(self, names: Sequence[str], rows: pa.Table) -> None:
        """More rows, found by name from now on; those with a key are kept on disk under it. Raises ``WriteFailed``."""
        self._hold(names, rows)
        kept = rows.filter(pc.not_equal(rows["key"], ""))
        if len(kept):
            self._write(kept)

    def rows(self, names: Sequence[str]) -> pa.Table:
        """The rows of these names, in their order; all must be there."""
        places = np.array([self._place[name] for name in names], dtype=np.int64).reshape(-1, 2)
        # Neighbours that lie side by side are one slice: most are, night after night.
        broken = (np.diff(places[:, 0]) != 0) | (np.diff(places[:, 1]) != 1)
        borders = [0, *(np.flatnonzero(broken) + 1).tolist(), len(places)]
        slices = [
            self._tables[places[start, 0]].slice(places[start, 1], end - start)
            for start, end in pairwise(borders)
            if end > start
        ]
        return pa.concat_tables([GROUPS.empty_table(), *slices])

    def forget_all_but(self, keys: Sequence[str]) -> None:
        """Rewrites what is remembered with these rows alone, if there has come to be much else. Raises ``WriteFailed``."""
        segments = sorted(self._folder.glob("*.arrow")) if self._folder.is_dir() else []
        live = [key for key in dict.fromkeys(keys) if key in self._place]
        if len(segments) <= _MAX_SEGMENTS and len(live) >= (1 - _MAX_DEAD_SHARE) * len(self._place):
            return
        kept = self._write(self.rows(live)) if live else None
        for path in segments:
            if path != kept:
                durable.remove_file(path)

    def _hold(self, names: Sequence[str], rows: pa.Table) -> None:
        number = len(self._tables)
        self._tables.append(rows)
        self._place.update((name, (number, at)) for at, name in enumerate(names))

    def _write(self, rows: pa.Table) -> Path:
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(sink, GROUPS, options=options) as file:
            file.write_table(rows.combine_chunks(), max_chunksize=_ROWS_AT_A_TIME)
        content = sink.getvalue()
        path = self._folder / f"{sha256_hex(content)[:32]}.arrow"
        durable.make_directory(self._folder)
        durable.replace_file(path, memoryview(content))
        return path


def _read(path: Path) -> pa.Table:
    """The rows of a segment, none if it is damaged."""
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
            if sha256_hex(content)[:32] != path.stem:
                return GROUPS.empty_table()
            table = pa.ipc.open_file(content).read_all()
    except (OSError, pa.ArrowException):
        return GROUPS.empty_table()
    return table if table.schema.equals(GROUPS) else GROUPS.empty_table()
