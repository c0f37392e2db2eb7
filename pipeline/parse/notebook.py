"""Converting a Jupyter notebook to markdown: its text, its code in fences, and images of its outputs."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ..assets.embedded_images import attached_images, output_images
from ..errors import RejectedDocument
from ..includes.front_matter_blocks import find_block

MAX_CELLS = 100_000
_ATTACHMENT = "attachment:"
_NAME = re.compile(r"[\w+#.-]{1,40}")
_FENCE = re.compile(r"`{3,}")
_FENCE_LINE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.MULTILINE)
# The first line of a cell may send it to another interpreter.
_CELL_MAGIC = re.compile(
    r"%%(bash|sh|html|javascript|js|latex|markdown|perl|R|ruby|sql|svg|writefile)\b", re.IGNORECASE
)
_MAGIC_LANGUAGES = {"js": "javascript", "sh": "bash", "writefile": ""}
# Jupyter Book leaves these out of the page.
_UNSEEN_TAGS = frozenset({"remove-cell", "remove_cell", "remove-input", "remove_input"})


def markdown_of_notebook(text: str, where: str) -> str:
    """Return the notebook's cells as one markdown text.

    Of outputs only images stay: the others change with every run, and are mostly logs and progress bars.
    Raises ``RejectedDocument`` for anything but a notebook of format 4.
    """
    notebook = _loaded(text, where)
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        found = notebook.get("nbformat", "none")
        raise _fault(f"no list of cells; nbformat 4 has one, this says {found!r:.20}", where)
    if len(cells) > MAX_CELLS:
        raise _fault(f"more than {MAX_CELLS} cells", where)
    language = _language(notebook.get("metadata"))
    markdown = "\n\n".join(_pieces(cells, language, where))
    _require_text(markdown, where)
    return f"{markdown}\n" if markdown else ""


def _loaded(text: str, where: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise _fault(f"not JSON: line {error.lineno}, column {error.colno}: {error.msg}", where) from None
    except ValueError as error:  # an integer of thousands of digits
        raise _fault(f"not JSON: {error}", where) from None
    if not isinstance(notebook, dict):
        raise _fault("JSON, but not an object", where)
    return notebook


def _fault(what: str, where: str) -> RejectedDocument:
    return RejectedDocument(
        f"not a notebook: {what}", where=where, hint="Open it in Jupyter and save it, or exclude it."
    )


def _language(metadata: Any) -> str:
    """Return the kernel's language in lower case, else an empty string."""
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        described = metadata.get(part) if isinstance(metadata, dict) else None
        name = described.get(key) if isinstance(described, dict) else None
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name.lower()
    return ""


def _pieces(cells: Iterable[Any], language: str, where: str) -> Iterator[str]:
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            raise _fault(f"cell {number} is not an object", where)
        source = _source(cell.get("source", ""), number, where).strip("\n")
        kind = cell.get("cell_type")
        front = _front_matter(source) if number == 1 and kind in ("markdown", "raw") else ""
        if _is_unseen(cell.get("metadata")):
            source = front
        if source.strip():
            if kind == "markdown" or front:
                yield _closed(_with_attachments(source, cell, number, where))
            else:
                yield _fenced(source, language if kind == "code" else "")
        yield from (f"![]({_address(name, where)})" for name in output_images(cell, number))


def _front_matter(source: str) -> str:
    """Return the block that a first cell begins with, which says something of the notebook; else nothing."""
    found = find_block(source)
    return source[: found.end] if found and (found.is_sure or found.may_hide) else ""


def _with_attachments(source: str, cell: dict[str, Any], number: int, where: str) -> str:
    """Return a cell's text with the places of the images attached to it."""
    before, *named = source.split(_ATTACHMENT)
    attached = attached_images(cell, number) if named else {}
    places = {
        spelling: _address(name, where)
        for given, name in attached.items()
        for spelling in (quote(given, errors="replace"), given)
    }
    lengths = sorted(set(map(len, places)), reverse=True)
    return before + "".join(_with_place(text, places, lengths) for text in named)


def _with_place(text: str, places: Mapping[str, str], lengths: Sequence[int]) -> str:
    """Return a text that follows the mark of an attachment, with its place for the longest name there."""
    for length in lengths:
        if length <= len(text) and (place := places.get(text[:length])):
            return place + text[length:]
    return _ATTACHMENT + text


def _address(name: str, where: str) -> str:
    path = where.partition(":")[2]  # after the collection's name
    return quote(f"{posixpath.basename(path)}/{name}")


def _source(source: Any, number: int, where: str) -> str:
    """Return a cell's text, which is one string or a list of lines that keep their ends."""
    lines = [source] if isinstance(source, str) else source
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise _fault(f"the source of cell {number} is not text", where)
    return "".join(lines).replace("\r\n", "\n").replace("\r", "\n")


def _is_unseen(metadata: Any) -> bool:
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and any(isinstance(tag, str) and tag in _UNSEEN_TAGS for tag in tags)


def _closed(source: str) -> str:
    """Close a fence that the text leaves open: each cell is a text of its own."""
    fence = ""
    for found in _FENCE_LINE.finditer(source):
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{source}\n{fence}" if fence else source


def _fenced(source: str, language: str) -> str:
    """Put the source in a fence longer than any that it contains."""
    longest = max((len(found[0]) for found in _FENCE.finditer(source)), default=2)
    fence = "`" * (longest + 1)
    magic = _CELL_MAGIC.match(source)
    if magic:
        language = _MAGIC_LANGUAGES.get(magic[1].lower(), magic[1].lower())
    return f"{fence}{language}\n{source}\n{fence}"


def _require_text(markdown: str, where: str) -> None:
    # JSON can escape what no text file can contain.
    if "\0" in markdown:
        raise _fault("a NUL character", where)
    try:
        markdown.encode()
    except UnicodeEncodeError:
        raise _fault("half of a surrogate pair", where) from None
