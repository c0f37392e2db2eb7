"""Options above the content of a directive: lines ``:class: tip``, or YAML between lines of dashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from textwrap import dedent

from ....untrusted import NotRead, as_text, read_yaml

_DASHES = "---"
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):(?:[ \t]+([^\n]*))?\Z")
# Of PyMdown's blocks.
_BLOCK_OPTION = re.compile(r"[ ]{4,}(attrs|name|new|open|select|type|types):(?:[ \t]+([^\n]*))?\Z")


class DirectiveOptions(dict[str, str]):
    """Options by name, and the number of lines that they take at the head of the content."""

    def __init__(self, values: Iterable[tuple[str, str]] = (), height: int = 0) -> None:
        super().__init__(values)
        self.height = height


def options_of(lines: Sequence[str]) -> DirectiveOptions:
    """Return the options that the lines begin with."""
    between = _of_yaml(lines)
    return _of_lines(_OPTION, lines) if between is None else between


def block_options_of(lines: Sequence[str]) -> DirectiveOptions:
    """Return the options of PyMdown's blocks, such as ``    open: true``, that the lines begin with."""
    return _of_lines(_BLOCK_OPTION, lines)


def _of_lines(pattern: re.Pattern[str], lines: Sequence[str]) -> DirectiveOptions:
    found = [each for each in takewhile(bool, map(pattern.match, lines)) if each]
    return DirectiveOptions(((each[1], _unquoted((each[2] or "").strip())) for each in found), len(found))


def _unquoted(value: str) -> str:
    """Return what YAML reads: a value between quotes without them."""
    quote = value[:1]
    is_quoted = len(value) > 1 and quote in "\"'" and value.endswith(quote) and quote not in value[1:-1]
    return value[1:-1] if is_quoted else value


def _of_yaml(lines: Sequence[str]) -> DirectiveOptions | None:
    """Return the options between dashes; ``None`` if what stands there are none."""
    stripped = [line.strip() for line in lines]
    if stripped[:1] != [_DASHES] or _DASHES not in stripped[1:]:
        return None
    end = stripped.index(_DASHES, 1)
    try:
        values = read_yaml(dedent("\n".join(lines[1:end])))
    except NotRead:
        return None
    if not isinstance(values, Mapping | None):
        return None
    said = ((as_text(name), _said(value)) for name, value in (values or {}).items() if value is not False)
    return DirectiveOptions(((name, text) for name, text in said if name), end + 1)


def _said(value: object) -> str:
    """Return the value as a line would write it: a flag has none."""
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return "" if value is True else as_text(value) or ""
