"""A Word document (DOCX) as a page: headings, paragraphs, lists, tables, notes and links."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass, replace
from html import unescape
from importlib.util import find_spec
from io import BytesIO
from typing import Any
from urllib.parse import quote
from xml.parsers.expat import ExpatError

from ..assets.embedded_images import word_images
from ..errors import RejectedDocument
from ..identity import sha256_hex
from .content import ParsedContent
from .dates import day_of
from .front_matter import one_line

MAX_FILES = 5_000
MAX_UNPACKED = 200_000_000
MAX_XML = 50_000_000
# What parts are XML their relations say, and not their names; UTF-16 has zeros between its letters.
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_CORE = "docProps/core.xml"
# What zipfile, expat and mammoth raise on a file that is not what it seems.
_FAULTS = (
    zipfile.BadZipFile, zlib.error, ExpatError, AttributeError, EOFError, IndexError, KeyError,
    NotImplementedError, OSError, TypeError, ValueError,
)  # fmt: skip
_PROPERTY = r"<(?:\w+:)?{name}\b[^<>]*>([^<>]*)<"


def read_word(content: bytes, path: str, where: str) -> ParsedContent:
    """Return the content of a Word document; raise ``RejectedDocument`` if it is none, or a bomb."""
    if find_spec("mammoth") is None:
        raise RejectedDocument(
            "reading a Word document needs mammoth, which is not installed: install noctule[docx]",
            where=where,
            hint="pip install 'noctule[docx]', or leave DOCX out of include.",
        )
    try:
        core = _core(content, where)
        page = _converted(content, posixpath.basename(path))
    except _FAULTS as error:
        raise _fault(f"not a Word document: {one_line(str(error)):.200}", where) from None
    from .html.parser import read_html

    read = read_html(page.html, where)
    note = f"{page.left_out} images are left out: their descriptions stand in their places"
    return replace(
        read,
        title=_property(core, "title") or read.title,
        author=_property(core, "creator"),
        modified=day_of(_property(core, "modified")[:10]),
        notes=(*read.notes, note) if page.left_out else read.notes,
    )


@dataclass(frozen=True, slots=True)
class _Page:
    html: str
    left_out: int


def _converted(content: bytes, name: str) -> _Page:
    """Return the document as HTML, whose images have paths below its own if a browser shows them."""
    import mammoth

    names = {sha256_hex(data): each for each, data in word_images(content).items()}
    left_out: list[str] = []

    def shown(image: Any) -> list[Any]:
        text = image.alt_text or ""
        if found := names.get(_hash_of(image)):
            address = f"{quote(name)}/{quote(found)}"
            return [mammoth.html.element("img", {"src": address, "alt": text})]
        left_out.append(text)
        return [mammoth.html.text(text)]

    result = mammoth.convert_to_html(BytesIO(content), style_map=_STYLES, convert_image=shown)
    return _Page(result.value, len(left_out))


def _hash_of(image: Any) -> str:
    try:
        with image.open() as opened:
            return sha256_hex(opened.read())
    except (ValueError, KeyError):  # it is elsewhere, which is not looked at, or not in the archive
        return ""


def _core(content: bytes, where: str) -> str:
    """Return the document's properties as XML, once the archive has been found to be tame."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        files = archive.infolist()
        if len(files) > MAX_FILES or sum(each.file_size for each in files) > MAX_UNPACKED:
            raise _fault("the archive unpacks to more than any document holds", where)
        room = MAX_XML
        for part in map(archive.read, files):
            if part.lstrip(_BEFORE_XML)[:1] not in (b"<", b""):
                continue
            room -= len(part)
            if room < 0:
                raise _fault(f"its text unpacks to more than {MAX_XML:,} bytes", where)
            # Entities could make a few bytes gigabytes; Word writes none.
            if b"<!DOCTYPE" in part.replace(b"\0", b""):
                raise _fault("its XML declares a document type", where)
        if "word/document.xml" not in archive.namelist():
            raise _fault("not a Word document: it has no word/document.xml", where)
        return archive.read(_CORE).decode(errors="replace") if _CORE in archive.namelist() else ""


def _property(core: str, name: str) -> str:
    found = re.search(_PROPERTY.format(name=name), core)
    return one_line(unescape(found[1])) if found else ""


def _fault(what: str, where: str) -> RejectedDocument:
    return RejectedDocument(what, where=where, hint="Save it again as a Word document (.docx).")
