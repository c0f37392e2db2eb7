"""Decoding bytes into text with newlines normalized; nothing is ever replaced by a guess."""

from __future__ import annotations

import codecs

from ..errors import RejectedDocument


def decode(content: bytes, where: str) -> str:
    """Decode UTF-8, or UTF-16 that begins with a byte order mark.

    Raises ``RejectedDocument`` naming the first invalid byte, or the first NUL.
    """
    encoding = _encoding(content)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise RejectedDocument(
            f"not {_NAMES[encoding]}: byte 0x{content[error.start]:02x} at offset {error.start}",
            where=where,
            hint="Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        raise RejectedDocument(
            f"a NUL character at offset {text.index(chr(0))}", where=where, hint="Is it a text file?"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16"}


def _encoding(content: bytes) -> str:
    return "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
