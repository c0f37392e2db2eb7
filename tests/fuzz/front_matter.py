"""Front matter alone: whatever is wrong with it, a document that says that it is private stays so."""

from __future__ import annotations

import json
import re
import textwrap
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import yaml

from noctule.pipeline.encodings import decoded
from noctule.pipeline.errors import DraftDocument, RejectedDocument
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.visibility import visibility_of

_LIMIT_S = 5
_COLLECTION = Collection(root="unused")
_OBJECT = re.compile(r'\s*\{\s*"[^"\\\n]*"\s*:')
_BEFORE_END = re.compile(r"^\}|\n[ \t]*\n", re.MULTILINE)
_CLOSINGS = {"---": ("---", "..."), "+++": ("+++",)}
_YES, _NO = ("true", "yes"), ("false", "no")
_DRAFTS = (("draft", _YES), ("publish", _NO), ("published", _NO))
# PyYAML raises anything at all for a value that is not what its tag says.
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    yaml.YAMLError,
)
_PRIVATE_LINE = re.compile(
    r"^[\"']?(?:draft[\"']?[ \t]*[:=][ \t]*(?:true|yes)"
    r"|published?[\"']?[ \t]*[:=][ \t]*(?:false|no))[ \t]*,?$",
    re.IGNORECASE | re.MULTILINE,
)


def front_matter(content: bytes) -> None:
    """A document that begins with anything: kept or refused with a reason, and never a published draft."""
    try:
        text = decoded(content, "fuzz")
    except RejectedDocument:
        return
    for path in ("a.md", "a.html"):
        began = time.process_time()
        document = _published(content, path)
        took = time.process_time() - began
        assert took < _LIMIT_S, f"{took} s"
        assert document is None or not says_draft(text), "a draft is published"
        if document is not None and says_unlisted(text):
            assert not visibility_of(document.front_matter).listed, "a page that is on no list is on lists"


def _published(content: bytes, path: str) -> Document | None:
    try:
        return parse(Source("c", path, content, sha256_hex(content)), _COLLECTION)
    except DraftDocument:
        return None
    except RejectedDocument as rejection:
        assert rejection.what.startswith("front matter, line ") or "nested" in rejection.what, rejection.what
        return None


def says_draft(text: str) -> bool:
    """Return whether its author has not published it: by its values, or by a line where it cannot be read."""
    block = _block(text)
    if block is None:
        return False
    values = _values(block)
    if values is None:
        return _PRIVATE_LINE.search(textwrap.dedent(block)) is not None
    return any(
        str(value).strip().lower() in words
        for name, words in _DRAFTS
        for key, value in values.items()
        if str(key).lower() == name
    )


def says_unlisted(text: str) -> bool:
    """Return whether front matter that can be read keeps it from lists."""
    block = _block(text)
    values = _values(block) if block is not None else None
    return values is not None and str(values.get("unlisted")).lower() in _YES


def _block(text: str) -> str | None:
    """Return the lines between the signs, or up to a blank line; None without a sign."""
    lines = text.lstrip("\n").split("\n")
    if _OBJECT.match(text):
        return text.lstrip() if _is_json(text.lstrip()) else _BEFORE_END.split(text)[0]
    sign = lines[0].rstrip(" \t")
    if sign not in _CLOSINGS:
        return None
    end = next((at for at, line in enumerate(lines) if at and line.rstrip(" \t") in _CLOSINGS[sign]), None)
    if end is None:
        end = next((at for at, line in enumerate(lines) if at and not line.strip()), len(lines))
    return "\n".join(lines[1:end])


def _is_json(text: str) -> bool:
    with suppress(ValueError, RecursionError):
        json.JSONDecoder().raw_decode(text)
        return True
    return False


def _values(block: str) -> Mapping[Any, Any] | None:
    """Return what any of the three languages reads in it, None for what none reads as keys and values."""
    readers = (lambda: json.JSONDecoder().raw_decode(block.lstrip())[0], lambda: tomllib.loads(block),
               lambda: yaml.safe_load(block))  # fmt: skip
    for read in readers:
        try:
            found = read()
        except _FAULTS:
            continue
        if isinstance(found, dict):
            return found
    return None
