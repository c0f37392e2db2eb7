"""Token shards: vectors of the model's tokens, of which words are made that no document holds.

A query that has no such word loads none of them: not even their names, which lie in a directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..library import SnapshotTables
from .files import Files
from .format import TOKEN_DIRECTORY, TOKEN_PROJECTION, TOKEN_SHARD, row_bits, runs, separators, strings, utf16
from .index_inputs import Floats, quantized_vectors
from .inverted_file import Quantizer
from .quantization import coded_tokens, length_bytes, length_steps, packed_vectors, vector_bytes

_SHARD_BYTES, _TOKEN_BYTES = 12_000, 7


@dataclass(frozen=True, slots=True)
class TokenFiles:
    """The names of the tokens' directory and of the file that projects their vectors onto the index's."""

    directory: str
    projection: str


def make_token_files(snapshot: SnapshotTables, projection: Floats, files: Files) -> TokenFiles | None:
    """Add the shards of tokens, their directory and the projection; nothing if the snapshot has no tokens.

    Vectors keep the model's own numbers, so that shards and directory are the same in every site of a model,
    whatever its documents are: only the projection depends on them.
    """
    table = snapshot.table("token_vectors", ["token", "scale", "code"])
    names = table["token"].to_pylist()
    if not names:
        return None
    shards, first, last, quantizer = _token_shards(table, names, files)
    directory = files.add(TOKEN_DIRECTORY.pack({
        "file_names": bytes.fromhex("".join(shards)),
        **strings(separators(first, last), "shard"),
        "longest": [max(map(len, names))],
        "mean": quantizer.mean,
        "deviation": quantizer.deviation,
        "bits": quantizer.widths,
    }))  # fmt: skip
    ones = np.ones(projection.shape[1], dtype=np.float32)
    return TokenFiles(directory, files.add(TOKEN_PROJECTION.pack({
        "vector_length": length_bytes(length_steps(ones)),
        "vector": vector_bytes(packed_vectors(projection.T, ones)),
    })))  # fmt: skip


def _token_shards(
    table: pa.Table, names: Sequence[str], files: Files
) -> tuple[tuple[str, ...], list[str], list[str], Quantizer]:
    """Add the shards; return their names, each one's first and last token, and how vectors are quantized."""
    order = np.array(sorted(range(len(names)), key=lambda at: utf16(names[at])), dtype=np.int64)
    coded = coded_tokens(quantized_vectors(table))
    steps, rows = length_steps(coded.length), row_bits(coded.codes, coded.quantizer.widths)
    cuts = list(runs(np.full(len(names), rows.shape[1] + _TOKEN_BYTES), _SHARD_BYTES))

    def columns(run: slice) -> list[bytes]:
        own = order[run]
        return TOKEN_SHARD.pack({
            **strings([names[at] for at in own.tolist()], "token"),
            "vector_length": length_bytes(steps[own]),
            "codes": rows[own].tobytes(),
        })  # fmt: skip

    first = [names[order[run.start]] for run in cuts]
    last = [names[order[run.stop - 1]] for run in cuts]
    return files.add_all(map(columns, cuts)), first, last, coded.quantizer
