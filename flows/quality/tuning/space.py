"""The space of a tuning: which settings may change, the values each may take, a point in it as settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ....pipeline.errors import SettingsError
from ....pipeline.settings.reading import DEFAULTS, parse
from ....pipeline.settings.search import StageName, Understanding
from ....pipeline.settings.settings import Settings

Value = bool | int | float | str
CHUNK = "chunk"
# Lists of names: a key below one of them switches that name on or off.
SWITCHED: Mapping[str, tuple[str, ...]] = {
    "search.understand": get_args(Understanding),
    "search.stages": get_args(StageName),
}
TUNABLE = ("search.", "lexical.")
EVERY_FIELD = "lexical.fields.*."
DEFAULT_SPACE: Mapping[str, Sequence[Value]] = {
    "search.fusion": ["rrf", "convex"],
    "search.rrf_k": [5, 10, 20, 60],
    "search.weights.keyword": [0.2, 0.32, 0.5, 0.7, 1.0],
    "search.weights.semantic": [0.0, 0.2, 0.5, 1.0],
    "search.weights.document": [0.0, 0.3, 0.48, 1.0],
    "search.weights.graph": [0.0, 0.2, 0.5],
    "search.stages.rocchio": [True, False],
    "search.rocchio.share": [0.15, 0.25, 0.4],
    "search.stages.support": [True, False],
    "search.support.share": [0.1, 0.2, 0.4],
    "search.stages.in_degree": [True, False],
    "search.in_degree.share": [0.02, 0.05, 0.1],
    "search.stages.community": [True, False],
    "search.stages.glossary": [True, False],
    "search.understand.classify": [True, False],
    "search.understand.acronyms": [True, False],
    "search.understand.identifiers": [True, False],
    "search.understand.compounds": [True, False],
    "search.understand.spelling": [True, False],
    "search.understand.concepts": [True, False],
    "search.fuzziness": ["off", "auto"],
    "search.balance.enabled": [True, False],
    "lexical.k1": [0.6, 0.9, 1.2, 1.6],
    "lexical.fields.*.b": [0.4, 0.6, 0.75, 0.9],
    "lexical.fields.title.weight": [1.0, 3.0, 5.0],
    "lexical.fields.headings.weight": [1.0, 2.5, 4.0],
    "lexical.fields.anchors.weight": [0.0, 1.0, 3.0, 6.0],
}
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Axis:
    """A setting and the values that are tried for it."""

    key: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A setting and the value it has instead of today's."""

    key: str
    value: Value

    def __str__(self) -> str:
        return f"{self.key} = {json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Point:
    """Today's settings with some of them changed; changes stand in the order of their keys."""

    changes: tuple[Change, ...] = ()

    def having(self, key: str, value: Value) -> Point:
        """Return the point with one setting put to a value."""
        others = [change for change in self.changes if change.key != key]
        return Point(tuple(sorted([*others, Change(key, value)], key=lambda change: change.key)))

    def without(self, key: str) -> Point:
        """Return the point with one setting as it is today."""
        return Point(tuple(change for change in self.changes if change.key != key))

    def value(self, key: str) -> Value | None:
        """Return what the point puts a setting to, ``None`` where it is as today."""
        return next((change.value for change in self.changes if change.key == key), None)


def read_space(path: Path) -> tuple[Axis, ...]:
    """Read the axes of a TOML file with a table ``[space]``; raises ``SettingsError``."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES).decode("utf-8")
        given = tomllib.loads(content)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not a TOML file: {error}"
        raise SettingsError(
            f"cannot read the space: {reason}", where=str(path), hint="Print one: noctule tune --print-space"
        ) from None
    table = given.get("space")
    if set(given) != {"space"} or not isinstance(table, dict) or not table:
        raise SettingsError(
            "there must be one table, [space], with at least one key",
            where=str(path),
            hint='Each key is a setting, each value a list: "search.rrf_k" = [10, 60]',
        )
    return axes(table, str(path))


def axes(table: Mapping[str, object], where: str) -> tuple[Axis, ...]:
    """Return the axes that a table describes, in its order.

    Raises ``SettingsError`` for a key that cannot be tuned, and for values that are no list of plain values.
    """
    found = []
    for key, values in table.items():
        if not key.startswith(TUNABLE):
            raise SettingsError(
                f"{key} cannot be tuned: it shapes the snapshot",
                where=where,
                hint="Tune search.* and lexical.*; build a store for each other value, "
                "and name each with --store.",
            )
        plain = isinstance(values, list) and all(isinstance(each, Value) for each in values)
        if not isinstance(values, list) or not plain or not values:
            raise SettingsError(
                f"{key} needs a list of values", where=where, hint=f'Write: "{key}" = [1.0, 2.0]'
            )
        found.append(Axis(key, tuple(dict.fromkeys(values))))
    return tuple(found)


def checked(axes: Sequence[Axis], settings: Settings) -> None:
    """Raise ``SettingsError`` unless every value of every axis can be set; it names the first that cannot."""
    for axis in axes:
        for value in axis.values:
            applied(settings, Point((Change(axis.key, value),)))


def applied(settings: Settings, point: Point) -> Settings:
    """Return the settings with the point's changes; raises ``SettingsError`` for one that cannot be made."""
    given = settings.model_dump(mode="json")
    for change in point.changes:
        for key, value in _plain(change, settings):
            _put(given, key.split("."), value, change)
    return parse(given, where=", ".join(map(str, point.changes)) or "settings")


def today(settings: Settings, axis: Axis) -> Value | None:
    """Return a setting's value today; ``None`` where fields differ in it or the axis does not name it."""
    same = [value for value in axis.values if _same(settings, Change(axis.key, value))]
    return same[0] if same else None


def _same(settings: Settings, change: Change) -> bool:
    return applied(settings, Point((change,))) == settings


def _plain(change: Change, settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield the change as keys and values: a star is every field, and a switch is a name in a list."""
    above, _, name = change.key.rpartition(".")
    if change.key == CHUNK:
        size, _, overlap = str(change.value).partition("/")
        yield "chunk.max_tokens", int(size)
        yield "chunk.overlap_tokens", int(overlap)
    elif change.key.startswith(EVERY_FIELD):
        for field in settings.lexical.fields:
            yield f"lexical.fields.{field}.{change.key.removeprefix(EVERY_FIELD)}", change.value
    elif above in SWITCHED and name in SWITCHED[above] and isinstance(change.value, bool):
        yield f"{above}.{name}", change.value
    else:
        yield change.key, change.value


def _put(given: dict[str, Any], path: Sequence[str], value: Any, change: Change) -> None:
    for at, name in enumerate(path[:-1], 1):
        inner = given.get(name)
        known = SWITCHED.get(".".join(path[:at]), ())
        if isinstance(inner, list) and path[-1] in known and isinstance(value, bool):
            given[name] = _switched(inner, known, path[-1], on=value)
            return
        if not isinstance(inner, dict):
            raise SettingsError(
                f"{change.key}: there is no such setting",
                where=str(change),
                hint=f"{DEFAULTS} lists every key.",
            )
        given = inner
    given[path[-1]] = value


def _switched(names: Sequence[str], known: Sequence[str], name: str, *, on: bool) -> list[str]:
    """Return the list with the name in it, before the first that comes later among all names, or not."""
    if (name in names) == on:
        return list(names)
    if not on:
        return [each for each in names if each != name]
    later = [at for at, each in enumerate(names) if known.index(each) > known.index(name)]
    place = later[0] if later else len(names)
    return [*names[:place], name, *names[place:]]


def as_toml(space: Mapping[str, Sequence[Value]] = DEFAULT_SPACE) -> str:
    """Return a space as the file that :func:`read_space` reads."""
    return "[space]\n" + "".join(f'"{key}" = {json.dumps(list(values))}\n' for key, values in space.items())
