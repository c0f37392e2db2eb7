"""Tuned settings as a file: today's that are not the defaults, the changes, and what they are worth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....pipeline.settings.settings import Settings
from .held_out import TuningResult

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def as_file(settings: Settings, found: TuningResult) -> bytes:
    """Return the settings as TOML, after a comment that says what was chosen and how sure that is."""
    given = settings.model_dump(mode="json", exclude_defaults=True)
    return "\n".join([*(f"# {line}" for line in heading(found)), "", *as_toml(given), ""]).encode()


def heading(found: TuningResult) -> tuple[str, ...]:
    """Return what a tuning found, in lines."""
    result = found.overall
    names = ", ".join(each.judged for each in found.sets)
    sure = "better than chance explains" if found.better else "within noise"
    return (
        f"Tuned on {names} ({result.queries} queries, {found.folds} folds): {sure}.",
        f"Held-out nDCG@10 {result.baseline:.4f} to {result.mean:.4f}, difference {result.difference:+.4f}, "
        f"95 % interval {result.low:+.4f} to {result.high:+.4f}, p {result.p:.4f}.",
        *(f"Changed: {change}" for change in found.point.changes),
    )


def as_toml(given: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield lines of TOML, without ``None``: a table's plain values under its name, then its tables."""
    plain = {key: value for key, value in given.items() if not isinstance(value, dict)}
    if path and (plain or not given):
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    if plain:
        yield ""
    for key, value in given.items():
        if isinstance(value, dict):
            yield from as_toml(value, (*path, key))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(value: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's but for surrogate halves, and DEL is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
