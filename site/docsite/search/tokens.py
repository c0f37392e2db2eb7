"""Token shards: vectors of the model's tokens, of which words are made that no document holds.

A query that has no such word loads none of them: not even their names, which lie in a directory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...pipeline.errors import ArtifactError
from ..library import SnapshotTables
from .files import Files
from .format import TOKEN_DIRECTORY, TOKEN_SHARD, strings
from .material import Floats, quantized_vectors
from .terms import TurnedTerms, length_bytes, length_steps, runs, separators, utf16, vector_bytes, vector_rows

SHARD_BYTES = 12_000
_STRING_BYTES = 5


def make_token_files(snapshot: SnapshotTables, turn: Floats, files: Files) -> tuple[str, ...]:
    """Add all shards and return the name of their directory; none if the snapshot has no tokens."""
    try:
        table = snapshot.table("token_vectors", ["token", "scale", "code"])
    except (ArtifactError, KeyError):
        return ()
    names = table["token"].to_pylist()
    if not names:
        return ()
    order = np.array(sorted(range(len(names)), key=lambda at: utf16(names[at])), dtype=np.int64)
    vectors = quantized_vectors(table)
    length = np.sqrt((vectors.code.astype(np.float32) ** 2).sum(axis=1)) * vectors.scale
    steps, rows = length_steps(length), vector_rows(length, TurnedTerms(vectors, turn))
    cuts = list(runs(np.full(len(names), rows.shape[1] + 2 + _STRING_BYTES), SHARD_BYTES))

    def columns(run: slice) -> list[bytes]:
        own = order[run]
        return TOKEN_SHARD.pack({
            **strings([names[at] for at in own.tolist()], "token"),
            "vector_length": length_bytes(steps[own]),
            "vector": vector_bytes(rows[own]),
        })  # fmt: skip

    shards = files.add_all(map(columns, cuts))
    first, last = ([names[order[at]] for at in ends] for ends in _ends(cuts))
    return (files.add(TOKEN_DIRECTORY.pack({
        "file_names": bytes.fromhex("".join(shards)),
        **strings(separators(first, last), "shard"),
        "longest": [max(map(len, names))],
    })),)  # fmt: skip


def _ends(cuts: Sequence[slice]) -> tuple[list[int], list[int]]:
    return [run.start for run in cuts], [run.stop - 1 for run in cuts]
