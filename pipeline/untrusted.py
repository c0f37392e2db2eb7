"""Files and values that others wrote: bounded before anything is built, and nothing in them runs.

Settings of other tools, tables of contents and data files come with a folder of documents, and may be made to
hang a reader, to fill its memory, or to lead it out of the folder.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from .filesystems.availability import real_path

MAX_YAML_DEPTH, MAX_ALIASES = 60, 20
# Of what aliases stand for too, which they multiply.
MAX_NODES = 1_000_000
# The time that a dotted name takes grows with the square of its length.
MAX_DOTS = 500
_DOTTED = re.compile(rf"(?:\.[^.\n]*){{{MAX_DOTS}}}")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What PyYAML raises for a value that is not what its tag says is anything at all.
_FAULTS = (
    yaml.YAMLError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class NotRead(Exception):
    """A file that is not what its name says; the message is the reason."""


def read_regular(path: Path, most: int, within: Path | None = None) -> bytes:
    """Return a file's bytes; ``within`` is the folder, if any, that links must not lead out of.

    Raise ``NotRead`` for what lies elsewhere, for a pipe or a device, which could be waited for without end,
    and for a file of more than ``most`` bytes; ``OSError`` where it cannot be read.
    """
    if within is not None and not is_within(path, within):
        raise NotRead(f"it lies outside of {within}")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, and no file", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise NotRead(f"it is over {most / 1e6:.2g} MB")
    return content


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path, with all links followed, is a folder or lies in it.

    Raise ``OSError`` where the machine cannot say now.
    """
    return Path(real_path(path)).is_relative_to(real_path(folder))


class _Tolerant(_Loader):  # type: ignore[misc]  # chosen when it is imported
    """Reads the tags of MkDocs and its plugins as plain values: nothing is imported, run or looked up."""


def _tagged(loader: Any, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return _last(loader.construct_sequence(node, deep=True))
    return loader.construct_scalar(node)


def _last(values: list[Any]) -> Any:
    """Return the default of ``!ENV [NAME, default]``."""
    return values[-1] if values else None


_Tolerant.add_multi_constructor("!", _tagged)
_Tolerant.add_multi_constructor("tag:yaml.org,2002:python/", _tagged)


def read_yaml(text: str) -> Any:
    """Return the values of a YAML file; raise ``NotRead``."""
    try:
        _require_bounded(yaml.parse(text, Loader=_Loader))
        return yaml.load(text, Loader=_Tolerant)  # noqa: S506 - derived from a safe loader
    except _FAULTS as error:
        raise NotRead(f"not YAML: {' '.join(str(error).split())[:200]}") from None


def read_settings(text: str, name: str) -> Any:
    """Return the values of TOML, JSON or YAML, as the name says; raise ``NotRead`` and ``ValueError``."""
    if name.endswith(".toml"):
        return read_toml(text)
    if name.endswith(".json"):
        try:
            return read_json(text)
        except NotRead:  # YAML forgives comments and a last comma, but takes no tabs
            text = text.replace("\t", " ")
    return read_yaml(text)


def read_json(text: str) -> Any:
    """Return the values of a JSON file; raise ``NotRead``, also for numbers and texts that JSON has not."""
    try:
        values = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (RecursionError, ValueError) as error:
        raise NotRead(f"not JSON: {str(error)[:200]}") from None
    level = [values]
    for _ in range(MAX_YAML_DEPTH):
        level = [inner for each in level for inner in _within(each)]
    if any(isinstance(each, dict | list) for each in level):
        raise NotRead(f"it is nested deeper than {MAX_YAML_DEPTH}")
    return values


def _refuse(constant: str) -> None:
    raise NotRead(f"not JSON: {constant}")


def _within(value: object) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _require_bounded(events: Iterator[yaml.Event]) -> None:
    """Raise ``NotRead`` for deep nesting, and where aliases would make much of little."""
    aliases, nodes = 0, 0
    sizes: dict[str | None, int] = {}  # of what anchors name, aliases within counted as what they stand for
    open_: list[tuple[str | None, int]] = []
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            aliases, nodes = aliases + 1, nodes + sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.NodeEvent):
            nodes += 1
            sizes |= {event.anchor: 1} if event.anchor else {}
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, nodes))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            sizes |= {anchor: nodes - before + 1} if anchor else {}
        if aliases > MAX_ALIASES:
            raise NotRead(f"it has more than {MAX_ALIASES} aliases")
        if nodes > MAX_NODES:
            raise NotRead(f"it is more than {MAX_NODES:,} values, those counted that aliases stand for")
        if len(open_) > MAX_YAML_DEPTH:
            raise NotRead(f"it is nested deeper than {MAX_YAML_DEPTH}")


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; raise ``tomllib.TOMLDecodeError``, and ``ValueError`` for a bomb."""
    if found := _DOTTED.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"a line with {MAX_DOTS} dots is not read (at line {line}, column 1)")
    return tomllib.loads(text)


def with_lower_keys(value: object) -> dict[str, Any]:
    """Return the values of a table whose keys may be in any letter case; nothing if it is none."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {name.lower(): each for key, each in pairs if (name := as_text(key)) is not None}


def as_text(value: object) -> str | None:
    """Return a text, or a number as one; nothing for anything else, and for a number of too many digits."""
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # Python writes no more than 4,300 digits, and YAML's 0xff… may stand for more
        return None


def as_number(value: object, otherwise: float = math.inf) -> float:
    """Return a number that every other can be compared to; ``otherwise`` for what is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return otherwise
    try:
        return otherwise if math.isnan(value) else float(value)
    except OverflowError:  # a whole number may have any number of digits
        return math.inf if value > 0 else -math.inf
