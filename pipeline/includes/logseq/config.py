"""What the settings of a Logseq graph, ``logseq/config.edn``, say of its pages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

CONFIG = "logseq/config.edn"

_STRING = r'"(?:[^"\\]|\\[\s\S])*+"'
# A text that is never closed goes on to the end.
_REMARK = re.compile(rf"({_STRING}|\"[\s\S]*+)|;[^\n]*")
_TITLE_FORMAT = re.compile(rf":journal/page-title-format\s++({_STRING})")
_HIDDEN = re.compile(rf":hidden\b\s*+(?:\[(?P<names>(?:[\s,]|{_STRING})*+)\])?")
_DEFAULT_FORMAT = "MMM do, yyyy"


@dataclass(frozen=True, slots=True)
class GraphConfig:
    """How the titles of days are written, and the files and folders that are hidden; None if not known."""

    title_format: str = _DEFAULT_FORMAT
    hidden: tuple[str, ...] | None = ()


def read_config(text: str) -> GraphConfig:
    """Return what a settings file says; what it does not say is as in Logseq."""
    plain = _REMARK.sub(lambda found: found[1] or " ", text)
    named, hidden = _TITLE_FORMAT.search(plain), _HIDDEN.search(plain)
    names: tuple[str, ...] | None = ()
    if hidden:
        listed = hidden["names"]
        names = None if listed is None else tuple(map(_text, re.findall(_STRING, listed)))
    return GraphConfig(_text(named[1]) if named else _DEFAULT_FORMAT, names)


def _text(written: str) -> str:
    try:
        return str(json.loads(written, strict=False))
    except ValueError:  # an escape that JSON does not have
        return written[1:-1]
