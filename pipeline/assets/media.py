"""The kinds of file that a site shows or offers beside its pages, told apart by their first bytes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

import imagesize

from .svg import svg_fault

Player = Literal["image", "video", "audio", "file"]
# So many bytes tell every kind.
HEAD_BYTES = 262


@dataclass(frozen=True, slots=True)
class MediaType:
    """A kind of file: its name, the ending of its files, what shows it, and how its bytes begin.

    ``marks`` are alternatives, each an offset and the bytes there; a kind without marks is plain text.
    """

    name: str
    ending: str
    player: Player
    marks: tuple[tuple[int, bytes], ...] = ()

    def begins(self, head: bytes) -> bool:
        """Return whether a file that begins like this is of this kind."""
        if not self.marks:
            return b"\0" not in head
        return any(head.startswith(mark, at) for at, mark in self.marks)


_ZIP = ((0, b"PK\x03\x04"), (0, b"PK\x05\x06"))
_ISO = ((4, b"ftyp"),)
_OGG = ((0, b"OggS"),)
_OFFICE, _OPEN = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
_BY_ENDING: Mapping[str, MediaType] = {
    "png": MediaType("image/png", "png", "image", ((0, b"\x89PNG\r\n\x1a\n"),)),
    "jpg": MediaType("image/jpeg", "jpg", "image", ((0, b"\xff\xd8\xff"),)),
    "gif": MediaType("image/gif", "gif", "image", ((0, b"GIF87a"), (0, b"GIF89a"))),
    "webp": MediaType("image/webp", "webp", "image", ((8, b"WEBP"),)),
    "avif": MediaType("image/avif", "avif", "image", ((4, b"ftypavif"), (4, b"ftypavis"), (4, b"ftypmif1"))),
    "ico": MediaType("image/x-icon", "ico", "image", ((0, b"\0\0\x01\0"),)),
    "bmp": MediaType("image/bmp", "bmp", "image", ((0, b"BM"),)),
    "svg": MediaType("image/svg+xml", "svg", "image"),
    "mp4": MediaType("video/mp4", "mp4", "video", _ISO),
    "webm": MediaType("video/webm", "webm", "video", ((0, b"\x1a\x45\xdf\xa3"),)),
    "mov": MediaType("video/quicktime", "mov", "video", (*_ISO, (4, b"moov"), (4, b"mdat"), (4, b"wide"))),
    "ogv": MediaType("video/ogg", "ogv", "video", _OGG),
    "mp3": MediaType(
        "audio/mpeg", "mp3", "audio", ((0, b"ID3"), *((0, bytes([255, low])) for low in range(0xE0, 256)))
    ),
    "wav": MediaType("audio/wav", "wav", "audio", ((8, b"WAVE"),)),
    "ogg": MediaType("audio/ogg", "ogg", "audio", _OGG),
    "m4a": MediaType("audio/mp4", "m4a", "audio", _ISO),
    "flac": MediaType("audio/flac", "flac", "audio", ((0, b"fLaC"),)),
    "vtt": MediaType("text/vtt", "vtt", "file", ((0, b"WEBVTT"), (0, b"\xef\xbb\xbfWEBVTT"))),
    "pdf": MediaType("application/pdf", "pdf", "file", tuple((at, b"%PDF-") for at in range(16))),
    "zip": MediaType("application/zip", "zip", "file", _ZIP),
    "gz": MediaType("application/gzip", "gz", "file", ((0, b"\x1f\x8b"),)),
    "csv": MediaType("text/csv", "csv", "file"),
    "tsv": MediaType("text/tab-separated-values", "tsv", "file"),
    "tar": MediaType("application/x-tar", "tar", "file", ((257, b"ustar"),)),
    "tgz": MediaType("application/x-compressed-tar", "tgz", "file", ((0, b"\x1f\x8b"),)),
    "xz": MediaType("application/x-xz", "xz", "file", ((0, b"\xfd7zXZ\0"),)),
    # Text that browsers show or save, and never run.
    "txt": MediaType("text/plain", "txt", "file"),
    "json": MediaType("application/json", "json", "file"),
    "yaml": MediaType("application/yaml", "yaml", "file"),
    "toml": MediaType("application/toml", "toml", "file"),
    "sql": MediaType("application/sql", "sql", "file"),
    "py": MediaType("text/x-python", "py", "file"),
    "sh": MediaType("application/x-sh", "sh", "file"),
    "ics": MediaType("text/calendar", "ics", "file"),
    "ipynb": MediaType("application/x-ipynb+json", "ipynb", "file"),
    # Views of Obsidian over notes: only Obsidian makes tables of them.
    "base": MediaType("text/yaml", "base", "file"),
    "docx": MediaType(f"{_OFFICE}wordprocessingml.document", "docx", "file", _ZIP),
    "xlsx": MediaType(f"{_OFFICE}spreadsheetml.sheet", "xlsx", "file", _ZIP),
    "pptx": MediaType(f"{_OFFICE}presentationml.presentation", "pptx", "file", _ZIP),
    "odt": MediaType(f"{_OPEN}text", "odt", "file", _ZIP),
    "ods": MediaType(f"{_OPEN}spreadsheet", "ods", "file", _ZIP),
    "odp": MediaType(f"{_OPEN}presentation", "odp", "file", _ZIP),
    "epub": MediaType("application/epub+zip", "epub", "file", _ZIP),
}
# Where ``include`` names them, these are read as documents, and offered as files too.
DOCUMENT_ENDINGS = (".pdf", ".docx")
_SPELLINGS = {"jpeg": "jpg", "jfif": "jpg", "apng": "png", "yml": "yaml"}
_RASTER = tuple(kind for kind in _BY_ENDING.values() if kind.player == "image" and kind.marks)
MEDIA_TYPES: Mapping[str, MediaType] = {kind.name: kind for kind in _BY_ENDING.values()}


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file's kind and, of an image, its size in pixels where that can be told; or its ``fault``."""

    kind: MediaType | None = None
    width: int | None = None
    height: int | None = None
    fault: str = ""


def media_type_of(path: str) -> MediaType | None:
    """Return the kind that a file's ending promises."""
    ending = posixpath.splitext(path)[1][1:].lower()
    return _BY_ENDING.get(_SPELLINGS.get(ending, ending))


def recognise(path: str, content: bytes) -> Recognised:
    """Return what the file is; a fault if it is not of the kind that its ending promises, or may run.

    A raster image is what its bytes say: many a ``.png`` is a JPEG, and browsers show it all the same.
    """
    promised, head = media_type_of(path), content[:HEAD_BYTES]
    if promised is None:
        return Recognised(fault="its ending is none of an image, a medium or an attachment that sites carry")
    if promised in _RASTER:
        kind = next((each for each in (promised, *_RASTER) if each.begins(head)), None)
    else:
        kind = promised if promised.begins(head) else None
    if kind is None:
        return Recognised(fault=f"is no {promised.name}, whatever its ending says")
    if kind.ending == "svg" and (fault := svg_fault(content)):
        return Recognised(fault=fault)
    width, height = _size(content) if kind.player == "image" else (None, None)
    return Recognised(kind, width, height)


def _size(content: bytes) -> tuple[int | None, int | None]:
    width, height = imagesize.get(BytesIO(content))
    known = 0 < width < 2**31 and 0 < height < 2**31
    return (round(width), round(height)) if known else (None, None)
