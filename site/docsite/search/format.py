"""The shard format: the kinds of files of the browser's search, their columns in order, their encodings.

``FORMAT.md`` beside this module describes the same byte for byte; ``client_module`` states it for the client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

# Of the files and of what their columns mean; a part of every name, as browsers keep files for ever.
FORMAT = 10
NAME_CHARS = 8
# How many passages of a document are in one file of excerpts.
EXCERPT_PASSAGES = 8
# How a script writes the 16-bit units that a string literal cannot hold.
ESCAPE, SURROGATES, OTHERS, ESCAPE_ITSELF = 0xE000, 0xE100, 0xEA00, 0xEB00
VECTOR_LEVELS = 7  # on either side of 0: four bits
LENGTH_STEPS, LENGTH_OFFSET = 256, 32  # steps per doubling, and the doublings below 1
IMPACT_UNITS, CONTRIBUTION_UNITS = 255, 127
BREADCRUMB_SEPARATOR = " › "
# The kinds of files that the manifest names, in its order.
FAMILIES = (
    "term_shards", "posting_tiers", "inverted_lists", "excerpt_groups", "words", "near_words", "facets",
    "token_directories", "token_projections", "synonyms", "recent_shards",
)  # fmt: skip

Numbers = npt.NDArray[Any]
Encoding = Literal["varint", "uint8", "int8", "float32", "bytes", "json"]
_MOST_SHARED = 255
_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def varints(values: Numbers) -> bytes:
    """Write numbers from 0 to 2**35 as little-endian base 128, seven bits a byte."""
    numbers = np.asarray(values, dtype=np.int64)
    most = int(numbers.max(initial=0))
    if most < 128:
        return numbers.astype(np.uint8).tobytes()
    # A row a number, a column a byte: files hold few numbers each, so calls would outweigh their work.
    left = numbers[:, None] >> (7 * np.arange(-(-most.bit_length() // 7)))
    found = (left & 127).astype(np.uint8)
    found[:, :-1] |= (left[:, 1:] > 0).view(np.uint8) << 7
    kept = left > 0
    kept[:, 0] = True
    return found[kept].tobytes()


def zigzag(values: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Map signed numbers to unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return (values << 1 ^ values >> 7).view(np.uint8)


def bits(codes: Numbers, widths: Numbers) -> bytes:
    """Pack rows of codes, ``widths[i]`` bits for column ``i``, lowest bit first; a row fills whole bytes."""
    return row_bits(codes, widths).tobytes()


def row_bits(codes: Numbers, widths: Numbers) -> npt.NDArray[np.uint8]:
    """Return the bytes of ``bits``, a row each."""
    planes = [(codes[:, at] >> bit) & 1 for at, width in enumerate(widths.tolist()) for bit in range(width)]
    if not planes:
        return np.zeros((len(codes), 0), dtype=np.uint8)
    return np.packbits(np.stack(planes, axis=1).astype(np.uint8), axis=1, bitorder="little")


def utf16(word: str) -> bytes:
    """Return the key that sorts strings as JavaScript compares them."""
    return word.encode("utf-16-be", "surrogatepass")


def strings(values: Sequence[str], name: str) -> dict[str, object]:
    """Return sorted strings as the three columns of a prefix coding, whose names begin with ``name``."""
    shared, rest, before = [], [], b""
    for value in values:
        encoded = value.encode("utf-8", "surrogatepass")
        same, most = 0, min(len(before), len(encoded), _MOST_SHARED)
        while same < most and before[same] == encoded[same]:
            same += 1
        shared.append(same)
        rest.append(encoded[same:])
        before = encoded
    sizes = [len(each) for each in rest]
    return {f"{name}_shared": shared, f"{name}_size": sizes, f"{name}_rest": b"".join(rest)}


def separators(first: Sequence[str], last: Sequence[str]) -> list[str]:
    """Return for each shard the shortest prefix of its first string that follows the shard before."""
    return [
        next(own[:end] for end in range(len(own) + 1) if utf16(own[:end]) > utf16(before) or end == len(own))
        for own, before in zip(first, ("", *last), strict=False)
    ]


def runs(weights: Numbers, limit: float) -> Iterator[slice]:
    """Yield runs of entries that weigh ``limit`` together at most; one that weighs more is alone."""
    start, weight = 0, 0.0
    for at, each in enumerate(weights.tolist()):
        if at > start and weight + each > limit:
            yield slice(start, at)
            start, weight = at, 0.0
        weight += each
    if start < len(weights):
        yield slice(start, len(weights))


def _uint8(values: Numbers) -> bytes:
    return np.asarray(values).astype(np.uint8).tobytes()


def _int8(values: Numbers) -> bytes:
    return np.asarray(values).astype(np.int8).tobytes()


def _float32(values: Numbers) -> bytes:
    return np.asarray(values).astype("<f4").tobytes()


def _json(value: object) -> bytes:
    return _JSON.encode(value).encode("utf-8", "surrogatepass")


_ENCODERS: Mapping[Encoding, Callable[[Any], bytes]] = {
    "varint": varints,
    "uint8": _uint8,
    "int8": _int8,
    "float32": _float32,
    "bytes": bytes,
    "json": _json,
}


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of file: its columns in order, each with the encoding of its values."""

    columns: Mapping[str, Encoding]

    def pack(self, values: Mapping[str, object]) -> list[bytes]:
        """Encode a value for every column, in the layout's order; raises ``KeyError`` where names differ."""
        if values.keys() != self.columns.keys():
            raise KeyError(f"columns that are missing or unknown: {values.keys() ^ self.columns.keys()}")
        return [_ENCODERS[encoding](values[name]) for name, encoding in self.columns.items()]

    def __or__(self, other: Layout) -> Layout:
        return Layout({**self.columns, **other.columns})


def _strings(name: str) -> dict[str, Encoding]:
    return {f"{name}_shared": "varint", f"{name}_size": "varint", f"{name}_rest": "bytes"}


POSTINGS = Layout({
    "list_documents": "varint",
    "document_gap": "varint",
    "more_passages": "varint",
    "ordinal_gap": "varint",
    "impact": "uint8",
    "contribution": "uint8",
    "contribution_change": "uint8",
})  # fmt: skip
TERM_SHARD = Layout({
    **_strings("term"),
    "passages": "varint",
    "documents": "varint",
    "impact_range": "uint8",
    "contribution_range": "int8",
    "vector_length": "uint8",
    "vector": "bytes",
    "tier_places": "varint",
    "aliases": "json",
}) | POSTINGS  # fmt: skip
TOKEN_DIRECTORY = Layout({
    "file_names": "bytes",
    **_strings("shard"),
    "longest": "varint",
    "mean": "float32",
    "deviation": "float32",
    "bits": "uint8",
})  # fmt: skip
TOKEN_SHARD = Layout({**_strings("token"), "vector_length": "uint8", "codes": "bytes"})
TOKEN_PROJECTION = Layout({"vector_length": "uint8", "vector": "bytes"})
INVERTED_LIST = Layout({
    "document_gap": "varint",
    "centroid_unit": "float32",
    "centroid": "int8",
    "residual_codes": "bytes",
})  # fmt: skip
EXCERPTS = Layout({"documents": "json"})
WORDS = Layout({**_strings("word"), "commonness": "uint8"})
NEAR_WORDS = Layout({"near": "json"})
SYNONYMS = Layout({"synonyms": "json"})
FACETS = Layout({
    "names": "json",
    "collection": "varint",
    "language": "varint",
    "section": "varint",
    "community": "varint",
    "tags": "varint",
    "modified": "varint",
    "reading": "varint",
})  # fmt: skip
MANIFEST = Layout({
    "header": "json",
    "file_names": "bytes",
    **_strings("shard"),
    **_strings("recent"),
    "stale_gap": "varint",
    "recent_gap": "varint",
    **_strings("letter"),
    "first_document_gap": "varint",
    "document_flags": "uint8",
})  # fmt: skip
# What the manifest of an index with vectors has besides, after its other columns.
MANIFEST_VECTORS = Layout({
    "list_low": "uint8",
    "list_high": "uint8",
    "centroid_mean": "float32",
    "centroid_deviation": "float32",
    "centroid_bits": "uint8",
    "residual_deviation": "float32",
    "residual_bits": "uint8",
    "centroid_codes": "bytes",
})  # fmt: skip
LAYOUTS: Mapping[str, Layout] = {
    "MANIFEST": MANIFEST,
    "MANIFEST_VECTORS": MANIFEST_VECTORS,
    "TERM_SHARD": TERM_SHARD,
    "POSTINGS": POSTINGS,
    "TOKEN_DIRECTORY": TOKEN_DIRECTORY,
    "TOKEN_SHARD": TOKEN_SHARD,
    "TOKEN_PROJECTION": TOKEN_PROJECTION,
    "INVERTED_LIST": INVERTED_LIST,
    "EXCERPTS": EXCERPTS,
    "WORDS": WORDS,
    "NEAR_WORDS": NEAR_WORDS,
    "SYNONYMS": SYNONYMS,
    "FACETS": FACETS,
}
_CONSTANTS: Mapping[str, object] = {
    "FORMAT": FORMAT,
    "NAME_CHARS": NAME_CHARS,
    "EXCERPT_PASSAGES": EXCERPT_PASSAGES,
    "ESCAPE": ESCAPE,
    "SURROGATES": SURROGATES,
    "OTHERS": OTHERS,
    "ESCAPE_ITSELF": ESCAPE_ITSELF,
    "VECTOR_LEVELS": VECTOR_LEVELS,
    "LENGTH_STEPS": LENGTH_STEPS,
    "LENGTH_OFFSET": LENGTH_OFFSET,
    "IMPACT_UNITS": IMPACT_UNITS,
    "CONTRIBUTION_UNITS": CONTRIBUTION_UNITS,
    "BREADCRUMB_SEPARATOR": BREADCRUMB_SEPARATOR,
}


def client_module() -> str:
    """Return the module of the client's scripts that states the constants and the order of columns."""
    constants = [f"export const {name} = {_javascript(value)};" for name, value in _CONSTANTS.items()]
    lines = [
        "// @ts-check",
        "// The shard format as search/format.py defines it; `make bundle` writes this file.",
        "",
        *constants,
    ]
    lists = {"FAMILIES": FAMILIES} | {name: layout.columns for name, layout in LAYOUTS.items()}
    for name, values in lists.items():
        items = [f"  {_javascript(value)}," for value in values]
        lines += ["", f"export const {name} = /** @type {{const}} */ ([", *items, "]);"]
    return "\n".join(lines) + "\n"


def _javascript(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    print(client_module(), end="")
