"""Small images, made from a few numbers."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode


def png(width: int, height: int, shade: int = 0) -> bytes:
    """A sound PNG of one colour; another ``shade``, other bytes."""
    row = b"\0" + bytes([shade % 256, 110, 190]) * width
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * height)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def notebook(image: bytes) -> str:
    """A notebook whose first cell has put out this PNG."""
    output = {"output_type": "display_data", "data": {"image/png": b64encode(image).decode()}}
    cell = {"cell_type": "code", "source": "plot()", "metadata": {}, "outputs": [output]}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]})


def _chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def svg(width: int, height: int, inside: str = "") -> bytes:
    """A drawing of this size that holds this markup."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{inside}</svg>'.encode()
    )
