"""The values of mkdocs-macros: ``{{ version }}`` stands for what ``extra`` in the settings says.

Names are looked up, and nothing is evaluated or called. Values in code are filled in too, as the plugin does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ...filesystems.availability import briefly_away_told
from ...untrusted import NotRead, as_text, read_regular, read_settings
from ..fences import Fences, code_of
from ..parts import Literal
from ..project import Context, value_named

MARKS = ("{{", "{%")
_MAX_BYTES = 2_000_000
_TAGS = (
    r"\{%-?[ \t]*(?P<raw>raw|endraw)[ \t]*-?%\}"
    r"|\{%-?[ \t]*set[ \t]+(?P<set>\w{1,100})[ \t]*=[ \t]*(?P<to>[^{}%\n]{1,500}?)[ \t]*-?%\}"
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[(?:\"[^\"\]]*\"|'[^'\]]*'|\d{1,6})\]){0,20}")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_CALL = re.compile(r"[A-Za-z_][\w.]*[ \t]*\(")
_FILTER = re.compile(r"([a-z]+)(?:\([ \t]*(?:\"([^\"]*)\"|'([^']*)'|(\d{1,20}))?[ \t]*\))?")
_FILTERS: Mapping[str, Callable[[str], str]] = {
    "capitalize": str.capitalize,
    "e": str,
    "escape": str,
    "lower": str.lower,
    "safe": str,
    "string": str,
    "title": str.title,
    "trim": str.strip,
    "upper": str.upper,
}


def directives(text: str, context: Context) -> Iterator[Literal]:
    """Yield the values of a text that are known, and the calls of functions, which are left out."""
    values = context.variables
    if not values or not _is_rendered(context.page, values):
        return
    # As in the plugin, names of the page come after those of the settings.
    named: dict[str, object] = {**values, **context.page, "page": {"meta": context.page, **context.page}}
    code, is_raw = code_of(text), False
    options = value_named("config.plugins.macros", values)
    marks = (value_named(f"j2_variable_{edge}_string", options) for edge in ("start", "end"))
    for found in _tokens(*(mark if isinstance(mark, str) else "" for mark in marks)).finditer(text):
        if found["raw"]:
            is_raw = found["raw"] == "raw"
            yield Literal(*found.span(), "")
        elif found["set"] and not is_raw:
            if (given := _resolved(found["to"], named)) is not None:
                named[found["set"]] = given
                yield Literal(*found.span(), "")
        elif not is_raw and found["value"] is not None:
            yield from _value(found, named, code)


@lru_cache(maxsize=16)
def _tokens(start: str, end: str) -> re.Pattern[str]:
    """Return what finds tags and values, which a project may enclose in marks of its own."""
    opening, closing = re.escape(start[:20] or "{{"), re.escape(end[:20] or "}}")
    return re.compile(
        rf"{_TAGS}|{opening}-?(?P<value>(?:(?!{opening}|{closing})[^{{}}\n]){{1,500}}?)-?{closing}"
    )


def _is_rendered(page: Mapping[str, object], values: Mapping[str, object]) -> bool:
    """Return whether the plugin renders a page: as its front matter says, else as the settings do."""
    default = value_named("config.plugins.macros.render_by_default", values) is not False
    given = page.get("render_macros", not page.get("ignore_macros", not default))
    return given is True


def _value(found: re.Match[str], named: Mapping[str, object], code: Fences) -> Iterator[Literal]:
    expression = found["value"].strip()
    value = _resolved(expression, named)
    if value is not None:
        yield Literal(*found.span(), value)
    elif _CALL.match(expression) and not code.hold(found.start()):
        yield Literal(*found.span(), "", f"{{{{ {expression:.80} }}}} is not called: no program is run")


def _resolved(expression: str, named: Mapping[str, object]) -> str | None:
    """Return the value of an expression; nothing if it is not known."""
    first, *filters = (each.strip() for each in expression.split("|"))
    value = _plain(first, named)
    for each in filters:
        used = _FILTER.fullmatch(each)
        if used is None:
            return None
        if used[1] in ("default", "d"):
            value = value if value is not None else next((g for g in used.groups()[1:] if g is not None), "")
        elif value is None or used[1] not in _FILTERS:
            return None
        else:
            value = _FILTERS[used[1]](value)
    return value


def _plain(name: str, named: Mapping[str, object]) -> str | None:
    if quoted := _QUOTED.fullmatch(name):
        return quoted[1] or quoted[2] or ""
    if _NUMBER.fullmatch(name):
        return name
    value = value_named(name, named) if _NAME.fullmatch(name) else None
    return str(value) if isinstance(value, bool) else as_text(value)


def variables_of(files: Sequence[str]) -> Mapping[str, object]:
    """Return the values that these files give, of which the first that has a name counts.

    Those of a tool's settings stand under ``extra``, and all of its settings under ``config``.
    """
    return _read(tuple((name, _changed(name)) for name in files)) if files else {}


def _changed(name: str) -> int:
    with suppress(OSError), briefly_away_told(name):
        return Path(name).stat().st_mtime_ns
    return 0


@lru_cache(maxsize=16)
def _read(files: tuple[tuple[str, int], ...]) -> Mapping[str, object]:
    found: dict[str, object] = {}
    config: dict[str, object] = {}
    for name, _ in reversed(files):
        values = _values(Path(name))
        own = values.get("extra") if "extra" in values or "INHERIT" in values else values
        is_settings = "site_name" in values or own is not values
        found |= own if isinstance(own, dict) and not (own is values and is_settings) else {}
        config |= values if is_settings else {}
    plugins = config.get("plugins")
    listed = plugins if isinstance(plugins, list) else [plugins]
    config["plugins"] = {k: v for each in listed if isinstance(each, dict) for k, v in each.items()}
    return {"config": {**config, "extra": found}, **found}


def _values(path: Path) -> dict[str, object]:
    try:
        values = read_settings(read_regular(path, _MAX_BYTES).decode("utf-8-sig", "replace"), path.name)
    except (OSError, NotRead, ValueError, RecursionError):
        return {}
    if isinstance(values, dict) and isinstance(values.get("project"), dict) and path.suffix == ".toml":
        values = values["project"]  # Zensical's
    return values if isinstance(values, dict) else {}
