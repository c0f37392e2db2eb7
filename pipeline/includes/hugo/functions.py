"""The functions of Hugo's templates that only shape values; what any other would give is not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from ..project import shown

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# A word with what follows its apostrophe.
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_SMALL = "a an and at but by for in nor of on or so the to up yet"
_SMALL_WORDS = frozenset(_SMALL.split())
# Signs one after the other, or a single one any number of times: a search never goes back.
_PLAIN_PATTERN = re.compile(
    r"(?:\\[^\w]|\\[sdwSDW]|[^\\()\[\]{}.*+?|^$])+|(?:\\[^\w]|\\[sdw]|[^\\()\[\]{}.*+?|^$])\+"
)
_VERB = re.compile(r"%([sdvqt%])")

# Of a text, and of those that a function is given together.
MAX_CHARS = 100_000
# What an evaluation may raise for a template or for values that its writer got wrong.
FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)


class UnknownValue(Exception):
    """A value is not known, so that nothing is made of its template."""


def is_true(value: object) -> bool:
    """Return whether a condition holds; arguments are texts, so that ``false`` is one."""
    return bool(value) and value != "false"


def text_of(value: object) -> str:
    """Return what a template writes for a plain value or a list; raise ``UnknownValue`` for others."""
    if isinstance(value, Mapping):
        raise UnknownValue
    return f"[{' '.join(map(_plain, value))}]" if isinstance(value, list) else shown(value)


def _plain(value: object) -> str:
    if isinstance(value, list | Mapping):
        raise UnknownValue
    return shown(value)


def call(name: str, given: list[Any]) -> object:
    """Return what a function makes of its arguments; raise ``UnknownValue`` where that is not known."""
    function = _FUNCTIONS.get(name.lower().rpartition(".")[2])
    if function is None or size_of(given) > MAX_CHARS:
        raise UnknownValue
    try:
        value = function(*given)
    except FAILURES:
        raise UnknownValue from None
    if size_of([value]) > MAX_CHARS:
        raise UnknownValue
    return value


def size_of(values: list[Any]) -> int:
    """Return how many characters these values and those of lists among them have, of others than texts one.

    No deeper, where a list may hold another one many times over.
    """
    each = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return sum(len(one) if isinstance(one, str) else 1 for one in each)


def _same(value: object, *others: object) -> bool:
    return text_of(value) in map(text_of, others)


def _both(*given: object) -> object:
    return next((each for each in given if not is_true(each)), given[-1])


def _either(*given: object) -> object:
    return next((each for each in given if is_true(each)), given[-1])


def _default(otherwise: object, value: object = None) -> object:
    return value if value not in (None, "") else otherwise


def _at(values: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(values, Mapping):
            values = values.get(text_of(key).lower(), values.get(text_of(key)))
        elif isinstance(values, list):
            values = values[int(key)] if 0 <= int(key) < len(values) else None
        else:
            raise UnknownValue
    return values


def _has(values: Any, key: Any) -> bool:
    return text_of(key) in values if isinstance(values, Mapping) else int(key) < len(values)


def _contains(values: Any, item: object) -> bool:
    if isinstance(values, list):
        return _same(item, *values)
    return text_of(item) in text_of(values)


def _replaced(text: object, old: object, new: object) -> str:
    given, before, after = text_of(text), text_of(old), text_of(new)
    if given.count(before) * len(after) > MAX_CHARS:
        raise UnknownValue
    return given.replace(before, after)


def _replaced_pattern(pattern: str, new: str, text: object) -> str:
    """Return a text in which matches are replaced; of patterns, only those that search in one pass."""
    given = text_of(text)
    if not _PLAIN_PATTERN.fullmatch(pattern) or "$" in new:
        raise UnknownValue
    if len(given) * max(len(pattern), len(new)) > MAX_CHARS * 10:
        raise UnknownValue
    return re.sub(pattern, lambda _: new, given)


def _where(values: Any, key: object, *test: Any) -> list[object]:
    """Return the items whose value under a key is equal to another, or compares to it as it is said."""
    operator, wanted = test if len(test) > 1 else ("==", *test)
    if not isinstance(values, list):
        raise UnknownValue
    keys, is_met = text_of(key).split("."), _test(operator, wanted)
    return [each for each in values if is_met(text_of(_at(each, *keys)))]


def _test(operator: str, wanted: Any) -> Callable[[str], bool]:
    """Return what tells whether a text compares so to another value, of which it makes texts only once."""
    if operator in ("==", "=", "eq", "!=", "<>", "ne"):
        text, is_equal = text_of(wanted), operator in ("==", "=", "eq")
        return lambda value: (value == text) == is_equal
    if operator in ("in", "not in"):
        texts = set(map(text_of, wanted)) if isinstance(wanted, list) else text_of(wanted)
        return lambda value: (value in texts) == (operator == "in")
    raise UnknownValue


def _joined(values: Any, by: str, last: str | None = None) -> str:
    if len(values) * len(by) > MAX_CHARS:
        raise UnknownValue
    texts = [text_of(each) for each in values]
    ending = by if last is None else last
    return ending.join([by.join(texts[:-1]), *texts[-1:]]) if len(texts) > 1 else "".join(texts)


def _appended(*given: Any) -> list[Any]:
    """Return the last of the arguments, a list, followed by the others or by those of the only other."""
    *others, values = given
    return [*values, *(others[0] if len(others) == 1 and isinstance(others[0], list) else others)]


def _part_of(value: object, start: Any, length: Any = None) -> str:
    """Return a part of a text; below zero, the start and the length count from the end."""
    rest = text_of(value)[int(start) :]
    return rest if length is None else rest[: int(length)]


def _titled(value: object) -> str:
    """Return a text with capitals as in titles of the Associated Press, Hugo's default."""
    words = text_of(value).split(" ")
    small = [at for at in range(1, len(words) - 1) if words[at].lower() in _SMALL_WORDS]
    return " ".join(
        each.lower() if at in small else _WORD.sub(lambda found: found[0][0].upper() + found[0][1:], each)
        for at, each in enumerate(words)
    )


def _sum(*given: Any) -> object:
    """Return the sum of numbers, or texts one after the other."""
    if all(isinstance(each, str) for each in given):
        return "".join(given)
    return _whole(sum(map(_number, given)))


def _difference(first: Any, *others: Any) -> object:
    return _whole(_number(first) - sum(map(_number, others)))


def _number(value: Any) -> float | int:
    return value if isinstance(value, int | float) else float(value) if "." in value else int(value)


def _whole(value: float | int) -> float | int:
    return int(value) if value == int(value) else value


def _printf(form: str, *given: object) -> str:
    values = iter(given)

    def one(verb: re.Match[str]) -> str:
        if verb[1] == "%":
            return "%"
        text = text_of(next(values))
        return f'"{text}"' if verb[1] == "q" else text

    wanted = sum(verb != "%" for verb in _VERB.findall(form))
    if "%" in _VERB.sub("", form) or wanted != len(given):
        raise UnknownValue
    return _VERB.sub(one, form)


def _from_top(path: object) -> str:
    text = text_of(path)
    return text if _SCHEME.match(text) or text.startswith("#") else f"/{text.lstrip('/')}"


def _compared(test: Callable[[float, float], bool]) -> Callable[..., bool]:
    return lambda one, other: test(float(one), float(other))


def _texts(function: Callable[[str], object]) -> Callable[..., object]:
    return lambda value: function(text_of(value))


def _as_it_is(*given: object) -> object:
    return given[-1]


# They change nothing that is seen, or what a page's parser does anyway.
PLAIN = (
    "markdownify", "safehtml", "safehtmlattr", "safeurl", "safecss", "safejs", "plainify", "htmlescape",
    "emojify", "string", "renderstring",
)  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        **dict.fromkeys(PLAIN, _as_it_is),
        "htmlunescape": _texts(unescape),
        "trimspace": _texts(str.strip),
        "chomp": _texts(str.rstrip),
        "trim": lambda value, signs: text_of(value).strip(signs),
        "trimprefix": lambda prefix, value: text_of(value).removeprefix(prefix),
        "trimsuffix": lambda suffix, value: text_of(value).removesuffix(suffix),
        "lower": _texts(str.lower),
        "upper": _texts(str.upper),
        "tolower": _texts(str.lower),
        "toupper": _texts(str.upper),
        "title": _titled,
        "urlize": _texts(lambda text: quote(re.sub(r"\s+", "-", text.strip().lower()))),
        "anchorize": _texts(lambda text: re.sub(r"[^\w-]", "", re.sub(r"\s+", "-", text.strip().lower()))),
        **dict.fromkeys(("relurl", "absurl", "rellangurl", "abslangurl"), _from_top),
        "replace": _replaced,
        "replacere": _replaced_pattern,
        "where": _where,
        "split": lambda text, by: text_of(text).split(by),
        "substr": _part_of,
        "delimit": _joined,
        "hasprefix": lambda text, start: text_of(text).startswith(start),
        "hassuffix": lambda text, end: text_of(text).endswith(end),
        "print": lambda *given: "".join(map(text_of, given)),
        "printf": _printf,
        "eq": _same,
        "ne": lambda one, other: not _same(one, other),
        "lt": _compared(lambda one, other: one < other),
        "le": _compared(lambda one, other: one <= other),
        "gt": _compared(lambda one, other: one > other),
        "ge": _compared(lambda one, other: one >= other),
        "and": _both,
        "or": _either,
        "not": lambda value: not is_true(value),
        "cond": lambda test, one, other: one if is_true(test) else other,
        "default": _default,
        "isset": _has,
        "index": _at,
        "len": len,
        "in": _contains,
        "contains": _contains,
        "slice": lambda *given: list(given),
        "dict": lambda *given: dict(zip(given[::2], given[1::2], strict=True)),
        "first": lambda count, values: values[: int(count)],
        "after": lambda count, values: values[int(count) :],
        "last": lambda count, values: values[-int(count) :] if int(count) > 0 else [],
        "append": _appended,
        "int": int,
        "add": _sum,
        "sub": _difference,
    }
)
