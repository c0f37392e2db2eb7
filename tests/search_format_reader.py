"""A reader of the browser's search index, written from FORMAT.md alone, without the writers' code."""

from __future__ import annotations

import gzip
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

FORMAT_PAGE = Path(__file__).resolve().parents[1] / "site" / "docsite" / "search" / "FORMAT.md"
Columns = Mapping[str, Any]


def described(page: str) -> dict[str, list[dict[str, str]]]:
    """Return for each constant that FORMAT.md names the columns in order, each with its type."""
    found: dict[str, list[dict[str, str]]] = {}
    name = ""
    for line in page.splitlines():
        named = re.search(r"`([A-Z][A-Z_]+)`", line)
        if named and not line.startswith("|"):
            name = named[1]
        row = re.fullmatch(r"\| `(\w+)` \| `(\w+)` \| (.+) \|", line)
        if row and row[2] in ("varint", "uint8", "int8", "float32", "bytes", "json"):
            found.setdefault(name, []).append({"column": row[1], "type": row[2], "meaning": row[3]})
    return found


def handed_over(content: bytes, name: str) -> bytes:
    """Return the packed bytes of a script."""
    assert content[:2] == b"\xff\xfe"
    units = np.frombuffer(content[2:], "<u2").tolist()
    head = re.match(rf'noctule\.part\("{name}",(\d+),"', "".join(map(chr, units[:60])))
    assert head and bytes(units[-2:]) == b'")'
    plain: list[int] = []
    escaped = False
    for unit in units[head.end() : -2]:
        if unit == 0xE000 and not escaped:
            escaped = True
            continue
        if escaped:
            unit = 0xE000 if unit == 0xEB00 else unit - 0x0900 if unit < 0xE900 else unit - 0xEA00  # noqa: PLW2901
        plain.append(unit)
        escaped = False
    return np.array(plain, "<u2").tobytes()[: int(head[1])]


def varints(data: bytes) -> list[int]:
    """Decode numbers of seven bits a byte."""
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def unpacked(packed: bytes) -> list[bytes]:
    """Return the columns of a file."""
    data = gzip.decompress(packed)
    ends = [at + 1 for at, byte in enumerate(data) if byte < 128]
    count = varints(data[: ends[0]])[0]
    sizes = varints(data[ends[0] : ends[count]])
    bounds = list(accumulate(sizes, initial=ends[count]))
    assert bounds[-1] == len(data)
    return [data[first:end] for first, end in pairwise(bounds)]


_DECODERS = {
    "varint": varints,
    "uint8": list,
    "int8": lambda data: np.frombuffer(data, np.int8).tolist(),
    "float32": lambda data: np.frombuffer(data, "<f4"),
    "bytes": bytes,
    "json": json.loads,
}


class Index:
    """Reads the files of an index by name."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.layouts = described(FORMAT_PAGE.read_text("utf-8"))
        self.read: set[str] = {"manifest"}
        columns = unpacked(handed_over(files["manifest"], "manifest"))
        kinds = self.layouts["MANIFEST"] + self.layouts["MANIFEST_VECTORS"]
        self.manifest = _decoded(kinds[: len(columns)], columns)
        self.header = self.manifest["header"]
        names = iter(names_of(self.manifest["file_names"]))
        keys = (
            "term_shards", "posting_tiers", "inverted_lists", "excerpt_groups", "words", "near_words",
            "facets", "token_directories", "token_projections", "synonyms", "recent_shards",
        )  # fmt: skip
        assert [*self.header["files"]] == sorted(keys)
        self.names = {key: [next(names) for _ in range(self.header["files"][key])] for key in keys}
        assert not list(names)

    def columns(self, name: str, kind: str) -> Columns:
        """Return the decoded columns of a file."""
        self.read.add(name)
        return _decoded(self.layouts[kind], unpacked(handed_over(self.files[name], name)))

    def all_of(self, key: str, kind: str) -> list[Columns]:
        """Return the decoded columns of all files of a kind."""
        return [self.columns(name, kind) for name in self.names[key]]

    def tokens(self) -> Iterator[Columns]:
        """Yield the token shards, in order."""
        for directory in self.all_of("token_directories", "TOKEN_DIRECTORY"):
            for name in names_of(directory["file_names"]):
                yield self.columns(name, "TOKEN_SHARD")

    def excerpts(self) -> Iterator[tuple[int, int, Any]]:
        """Yield of every document the number of each piece with its excerpts, and what it says."""
        sharing = self.header["excerpt_sharing"]
        starts = list(accumulate(self.manifest["first_document_gap"]))
        stamps = self.names["excerpt_groups"]
        for document in range(self.header["documents"]):
            group = bisect_right(starts, document) - 1
            place = document - starts[group]
            for piece in range(1 << 32):
                name = f"{stamps[group]}{place - place % sharing:02x}{piece:x}"
                own = self.columns(name, "EXCERPTS")["documents"] if name in self.files else []
                if place % sharing >= len(own) or own[place % sharing] is None:
                    assert piece
                    break
                yield document, piece, own[place % sharing]


def _decoded(layout: Sequence[Mapping[str, str]], columns: Sequence[bytes]) -> Columns:
    pairs = zip(layout, columns, strict=True)
    return {each["column"]: _DECODERS[each["type"]](column) for each, column in pairs}


def names_of(data: bytes) -> list[str]:
    """Return names of four bytes each."""
    return [data[at : at + 4].hex() for at in range(0, len(data), 4)]


def strings(columns: Columns, name: str) -> list[str]:
    """Decode sorted strings."""
    found, before, at = [], b"", 0
    sizes = zip(columns[f"{name}_shared"], columns[f"{name}_size"], strict=True)
    for shared, size in sizes:
        before = before[:shared] + columns[f"{name}_rest"][at : at + size]
        at += size
        found.append(before.decode())
    return found


def codes(data: bytes, widths: Sequence[int]) -> list[list[int]]:
    """Decode rows of codes of so many bits."""
    size = -(-sum(widths) // 8)
    found = []
    for at in range(0, len(data), size):
        row = int.from_bytes(data[at : at + size], "little")
        numbers = []
        for width in widths:
            numbers.append(row & ((1 << width) - 1))
            row >>= width
        found.append(numbers)
    return found


def steps(levels: Sequence[Sequence[float]], width: int) -> list[float]:
    """Return what the codes of a width stand for."""
    return [-each for each in reversed(levels[width])] + [*levels[width]] if width else [0.0]


def ascending(gaps: Sequence[int]) -> list[int]:
    """Return ascending numbers from their gaps."""
    return list(accumulate(gaps, lambda before, gap: before + gap + 1))


def posting_lists(columns: Columns) -> list[list[tuple[int, int, int, int, int]]]:
    """Return of each list document, ordinal, impact, contribution and its change for every passage."""
    found = []
    documents, more = iter(columns["document_gap"]), iter(columns["more_passages"])
    ordinals, impacts = iter(columns["ordinal_gap"]), iter(columns["impact"])
    contributions, changes = iter(columns["contribution"]), iter(columns["contribution_change"])
    for count in columns["list_documents"]:
        rows = []
        for document in ascending([next(documents) for _ in range(count)]):
            contribution = next(contributions)
            for ordinal in ascending([next(ordinals) for _ in range(next(more) + 1)]):
                change = next(changes)
                signed = -(change + 1) // 2 if change & 1 else change // 2
                rows.append((document, ordinal, next(impacts), contribution, signed))
        found.append(rows)
    return found
