"""Bytes of the search index: columns of numbers, and files that hand themselves over as classic scripts.

A page that was opened from a disk may load scripts but fetch nothing, so every file is a script, on a server too.
It is UTF-16 and begins with a byte order mark, which no server's header overrides: a string then holds 16 bits a
character, and what a string cannot hold (quotes, line ends, halves of surrogate pairs) is escaped, which adds 3%.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
# Of the files and of what their columns mean; a part of every name, as readers keep files for ever.
FORMAT = 3
_ESCAPE, _SURROGATES, _OTHERS, _ITSELF = 0xE000, 0xE100, 0xEA00, 0xEB00
_OWN_BLOCK_BYTES, _MOST_SHARED = 512, 255
_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def script(name: str, packed: bytes) -> bytes:
    """A classic script that hands over ``packed`` under a name."""
    head = f'noctule.part("{name}",{len(packed)},"'.encode("utf-16-le")
    return b"\xff\xfe" + head + _units(packed).astype("<u2").tobytes() + '")'.encode("utf-16-le")


def _units(packed: bytes) -> Numbers:
    plain = np.frombuffer(packed + b"\0" * (len(packed) % 2), dtype="<u2")
    written = _WRITTEN[plain]
    escaped = np.flatnonzero(written != plain)
    return np.insert(written, escaped, np.uint16(_ESCAPE))


def _written() -> Numbers:
    """What every number of 16 bits is written as; where that is another, the escape stands before it."""
    found = np.arange(1 << 16, dtype=np.uint16)
    found[0xD800:0xE000] += np.uint16(_SURROGATES - 0xD800)
    found[[0x22, 0x5C, 0x0A, 0x0D]] += np.uint16(_OTHERS)
    found[_ESCAPE] = _ITSELF
    return found


_WRITTEN = _written()


def compressed(columns: Sequence[bytes]) -> bytes:
    """Columns one after the other, as gzip: a browser checks its sum, so that damage is noticed.

    Large columns get a block of their own, because what is common in one is rare in the next. Several columns are mostly
    numbers, which are looked through for long repetitions only: three hundredths smaller than with short ones, in half the
    time. One column is text.
    """
    level, strategy = (9, zlib.Z_DEFAULT_STRATEGY) if len(columns) == 1 else (6, zlib.Z_FILTERED)
    packer = zlib.compressobj(level, zlib.DEFLATED, 31, 9, strategy)
    head = np.array([len(columns), *map(len, columns)], dtype=np.int64)
    pieces = [packer.compress(varints(head))]
    for column in columns:
        pieces.append(packer.compress(column))
        if len(column) >= _OWN_BLOCK_BYTES:
            pieces.append(packer.flush(zlib.Z_BLOCK))
    return b"".join([*pieces, packer.flush()])


def varints(values: Numbers) -> bytes:
    """Numbers from 0 to 2**35 as little-endian base 128, seven bits a byte."""
    numbers = np.asarray(values, dtype=np.int64)
    most = int(numbers.max(initial=0))
    if most < 128:
        return numbers.astype(np.uint8).tobytes()
    # A row a number, a column a byte: files hold few numbers each, and calls would take longer than what they do.
    left = numbers[:, None] >> (7 * np.arange(-(-most.bit_length() // 7)))
    found = (left & 127).astype(np.uint8)
    found[:, :-1] |= (left[:, 1:] > 0).view(np.uint8) << 7
    kept = left > 0
    kept[:, 0] = True
    return found[kept].tobytes()


def zigzag(values: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Signed numbers as unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return (values << 1 ^ values >> 7).view(np.uint8)


def octets(values: Numbers) -> bytes:
    """Numbers from 0 to 255, a byte each."""
    return np.asarray(values).astype(np.uint8).tobytes()


def floats(values: Numbers) -> bytes:
    """32-bit floats, little-endian."""
    return np.asarray(values).astype("<f4").tobytes()


def bits(codes: Numbers, widths: Numbers) -> bytes:
    """Each row's codes, of ``widths[i]`` bits in column ``i``, lowest bit first; a row ends with its byte."""
    planes = [(codes[:, at] >> bit) & 1 for at, width in enumerate(widths.tolist()) for bit in range(width)]
    if not planes:
        return b""
    return np.packbits(np.stack(planes, axis=1).astype(np.uint8), axis=1, bitorder="little").tobytes()


def strings(values: Sequence[str]) -> list[bytes]:
    """Sorted strings as three columns: how much each shares with the one before, how much is new, and the new."""
    shared, rest, before = [], [], b""
    for value in values:
        encoded = value.encode("utf-8", "surrogatepass")
        same, most = 0, min(len(before), len(encoded), _MOST_SHARED)
        while same < most and before[same] == encoded[same]:
            same += 1
        shared.append(same)
        rest.append(encoded[same:])
        before = encoded
    sizes = np.array([len(each) for each in rest], dtype=np.int64)
    return [varints(np.array(shared, dtype=np.int64)), varints(sizes), b"".join(rest)]


def text(value: object) -> bytes:
    """A value as JSON."""
    return _JSON.encode(value).encode("utf-8", "surrogatepass")
