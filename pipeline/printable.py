"""Text for people: control and direction characters escaped, the length bounded, counts with nouns."""

from __future__ import annotations

import logging
import re

# A document must not be able to move the cursor, rename the terminal's window, or turn a line around.
# Half a surrogate pair cannot be encoded at all.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return the text with control and direction characters as escapes such as ``\x1b``."""
    return _UNSAFE.sub(_escape, text)


def without_controls(text: str) -> str:
    """Return the text without the characters that ``printable`` would escape."""
    return _UNSAFE.sub("", text)


def is_printable(text: str) -> bool:
    """Return whether a text has no character that ``printable`` would escape."""
    return _UNSAFE.search(text) is None


def printable_path(path: str) -> str:
    r"""Return a path as a file system gave it, with bytes that are not UTF-8 as escapes such as ``\xff``."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def json_printable(text: str) -> str:
    r"""Return JSON that means the same, with control and direction characters as ``\uXXXX``."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def xml_printable(text: str) -> str:
    r"""Return XML that means the same, with control and direction characters as ``&#xXX;``."""
    return _UNSAFE.sub(lambda found: f"&#x{ord(found[0]):x};", text)


def bounded(text: str, most: int) -> str:
    """Return a printable text of about ``most`` characters at the longest, which says what it left out."""
    if len(text) <= most:
        return printable(text)
    return f"{printable(text[:most])}… ({len(text):,} characters)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 file``, ``2 files``, ``1,000 queries``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


class PrintableFormatter(logging.Formatter):
    """Formats a log line whose values, such as names of files, are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return printable(super().format(record))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
