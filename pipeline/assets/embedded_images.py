"""Images within documents: outputs of notebook cells, attachments to their text, and pictures in Word files.

Each has a path below its document's, ``analysis.ipynb/cell-3-output-1.png``, as if that were a folder.
"""

from __future__ import annotations

import binascii
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

MAX_IMAGES = 1_000
# Of all images of a Word document, which a small file may claim to hold.
MAX_UNPACKED = 200_000_000
# A drawing is shown only where there is no picture: it may hold more than a page may show.
_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}
_SHOWN = "|".join(_ENDINGS.values())
_PATH = re.compile(
    rf"(.+\.ipynb)/(cell-\d+-(?:output|attachment)-\d+\.(?:{_SHOWN}))"
    rf"|(.+\.docx)/([\w-]{{1,100}}\.(?:{_SHOWN}|jpeg))",
    re.IGNORECASE,
)
_MEDIA = re.compile(rf"word/media/([\w-]{{1,100}}\.(?:{_SHOWN}|jpeg))", re.IGNORECASE | re.ASCII)
_UNSEEN_TAGS = frozenset({"remove-cell", "remove_cell", "remove-output", "remove_output"})


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """The path of a document, and the name of an image in it."""

    document: str
    name: str


def image_place(path: str) -> ImagePlace | None:
    """Return where the image at a path is, by the form of the path; nothing if it is in no document."""
    found = _PATH.fullmatch(path)
    return ImagePlace(found[1] or found[3], found[2] or found[4]) if found else None


def embedded_images(content: bytes) -> dict[str, bytes]:
    """Return the images of a notebook or a Word document by name; none if it is neither."""
    return word_images(content) if content.startswith(b"PK") else notebook_images(content)


def word_images(content: bytes) -> dict[str, bytes]:
    """Return the images of a Word document by name, of so many bytes as may be unpacked."""
    found, room = dict[str, bytes](), MAX_UNPACKED
    faults = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError)
    with suppress(*faults), zipfile.ZipFile(BytesIO(content)) as archive:
        for part in archive.infolist():
            name = _MEDIA.fullmatch(part.filename)
            room -= part.file_size if name else 0
            if name and room >= 0 and len(found) < MAX_IMAGES:
                with archive.open(part) as image:
                    found[name[1]] = image.read(part.file_size)
    return found


def notebook_images(content: bytes) -> dict[str, bytes]:
    """Return the images of a notebook by name; none if it is no notebook."""
    if b'"image/' not in content:
        return {}
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):  # the parser says what is wrong
        return {}
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    found: dict[str, bytes] = {}
    for number, cell in enumerate(cells if isinstance(cells, list) else [], start=1):
        for name, data in _data(cell, number):
            if len(found) < MAX_IMAGES and (image := _decoded(name, data)):
                found[name] = image
    return found


def output_images(cell: Mapping[str, Any], number: int) -> list[str]:
    """Return the names of the images that a cell has put out, in order."""
    return [name for name, _ in _outputs(cell, number)]


def attached_images(cell: Mapping[str, Any], number: int) -> dict[str, str]:
    """Return the images attached to a cell, by the name that its text uses."""
    return {given: name for given, name, _ in _attachments(cell, number)}


def _data(cell: Any, number: int) -> Iterator[tuple[str, Any]]:
    if isinstance(cell, dict):
        yield from _outputs(cell, number)
        yield from ((name, data) for _, name, data in _attachments(cell, number))


def _outputs(cell: Mapping[str, Any], number: int) -> Iterator[tuple[str, Any]]:
    metadata, outputs = cell.get("metadata"), cell.get("outputs")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and any(isinstance(tag, str) and tag in _UNSEEN_TAGS for tag in tags):
        return
    for order, output in enumerate(outputs if isinstance(outputs, list) else [], start=1):
        data: Any = output.get("data") if isinstance(output, dict) else None
        if kind := _shown(data):
            yield f"cell-{number}-output-{order}.{_ENDINGS[kind]}", data[kind]


def _attachments(cell: Mapping[str, Any], number: int) -> Iterator[tuple[str, str, Any]]:
    attachments = cell.get("attachments")
    named = attachments.items() if isinstance(attachments, dict) else ()
    for order, (given, data) in enumerate(named, start=1):
        if kind := _shown(data):
            yield given, f"cell-{number}-attachment-{order}.{_ENDINGS[kind]}", data[kind]


def _shown(data: Any) -> str:
    """Return the first kind of image that is among the forms of one picture."""
    return next((kind for kind in _ENDINGS if kind in data), "") if isinstance(data, dict) else ""


def _decoded(name: str, data: Any) -> bytes:
    """Return the bytes of an image, which is one text or a list of its lines; nothing if it is none."""
    lines = data if isinstance(data, list) else [data]
    if not all(isinstance(line, str) for line in lines):
        return b""
    text = "".join(lines)
    try:
        return text.encode() if name.endswith(".svg") else binascii.a2b_base64(text)
    except ValueError:
        return b""
