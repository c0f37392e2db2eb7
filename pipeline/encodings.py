"""From bytes to text: UTF-8, UTF-16 with a byte order mark, or the encoding that the file or owner declares.

Nothing is ever guessed, and no byte replaced: text in the wrong encoding would be searched and published.
"""

from __future__ import annotations

import codecs
import re

from .errors import RejectedDocument

# Where a file declares it: HTML, XML, and the first lines for editors and Python.
_DECLARED = (
    re.compile(rb"<meta\b[^>]{0,300}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE),
    re.compile(rb"\A<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE),
    re.compile(rb"\A(?:[^\n]*\n)?[^\n]{0,200}?\bcoding[:=][ \t]*([\w.:-]{1,40})"),
)
_HEAD_BYTES = 2_048
# Encodings of text in which people have written; not those that only transport it.
_KNOWN = re.compile(
    r"(?:iso[-_]?8859[-_:]|latin[-_]?\d|l\d|windows[-_]|cp\d|ibm\d|koi8|shift|sjis|s_jis|euc|gb|big5|hz|iso[-_]?2022"
    r"|mac|tis|utf[-_]?(?:16|32))",
    re.IGNORECASE,
)


def known_encoding(name: str) -> str:
    """Return Python's name of an encoding of text; raise ``ValueError`` for another name.

    As in browsers, Latin-1 means Windows-1252, which is the same but for signs that Latin-1 lacks.
    """
    try:
        found = codecs.lookup(name).name if _KNOWN.match(name) else ""
    except LookupError:
        found = ""
    if not found:
        raise ValueError(f"{name!r:.60} is not an encoding of text that is known here, such as windows-1252")
    return "cp1252" if found == "iso8859-1" else found


def decoded(content: bytes, where: str, encoding: str = "") -> str:
    """Return the text of a file; ``encoding`` is that of files which are not UTF-8 and declare none.

    Raises ``RejectedDocument`` naming the first invalid byte, or the first NUL.
    """
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        other = "" if is_utf16 else _declared(content) or encoding
        text = _in(other, content, where) if other else ""
        if not other:
            name = "UTF-16" if is_utf16 else "UTF-8"
            raise RejectedDocument(
                f"not {name}: byte 0x{content[error.start]:02x} at offset {error.start}",
                where=where,
                hint="Save the file as UTF-8, or set encoding in its collection.",
            ) from None
    if "\0" in text:
        wrong = f"a NUL character at offset {text.index(chr(0))}"
        raise RejectedDocument(wrong, where=where, hint="Is it a text file?")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _declared(content: bytes) -> str:
    """Return the encoding that the head of a file declares, if it is one that it can be in."""
    for pattern in _DECLARED:
        if found := pattern.search(content[:_HEAD_BYTES]):
            try:
                return known_encoding(found[1].decode("ascii", "replace"))
            except ValueError:
                continue
    return ""


def _in(encoding: str, content: bytes, where: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise RejectedDocument(
            f"neither UTF-8 nor {encoding}: byte 0x{content[error.start]:02x} at offset {error.start}",
            where=where,
            hint="Save the file as UTF-8.",
        ) from None
