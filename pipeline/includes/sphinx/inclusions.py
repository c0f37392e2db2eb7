"""The include directives of Sphinx, in reStructuredText and in MyST's markdown."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from ..fences import fenced, fences_of, language_of, literal_blocks
from ..parts import Directive, NoSuchPart, Part, as_it_is, dedented, indented, lines, whole

MARKS = ("include::", "table::")
MYST_MARKS = ("include}", "table}")

_OPTIONS = r"(?P<options>(?:(?P=indent)[ \t]+:[\w-]+:[^\n]*(?:\n|\Z))*)"
# Lines with colons around names, or YAML between lines of dashes.
_MYST_OPTIONS = r"[ \t]*-{3}[ \t]*\n(?:[ \t]*[\w-]+:[^\n]*\n)*[ \t]*-{3}[ \t]*\n|(?:[ \t]*:[\w-]+:[^\n]*\n)*"
_RST = re.compile(
    r"^(?P<indent>[ \t]*)\.\.[ \t]+(?P<kind>include|literalinclude)::[ \t]+(?P<target>\S+)[ \t]*(?:\n|\Z)"
    + _OPTIONS,
    re.MULTILINE,
)
# What it includes is looked up there and not shown.
_NOT_SHOWN = re.compile(
    r"^\.\.[ \t]+changelog_imports::[^\n]*\n(?:[ \t]*\n|[ \t]+[^\n]*(?:\n|\Z))*", re.MULTILINE
)
_MYST = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|:{3,})\{(?P<kind>include|literalinclude)\}[ \t]+(?P<target>\S+)"
    r"[ \t]*\n"
    rf"(?P<options>{_MYST_OPTIONS})(?:[ \t]*\n)*[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE,
)
# Below an indentation it may be an example.
_RST_TABLE = re.compile(r"^(?P<indent>)\.\.[ \t]+csv-table::(?P<title>[^\n]*)\n" + _OPTIONS, re.MULTILINE)
_MYST_TABLE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|:{3,})\{csv-table\}(?P<title>[^\n]*)\n"
    rf"(?P<options>{_MYST_OPTIONS})(?:[ \t]*\n)*[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE,
)
# An info string of code, in which a directive is an example.
_CODE = re.compile(r"(?!\{)|\{(?:[\w-]*code|prompt)")
_OPTION = re.compile(r"^[ \t]*:?([\w-]+):([^\n]*)$", re.MULTILINE)
_UNQUOTED = re.compile(r"\A(['\"])(.*)\1\Z")
_CODE_INDENT = "   "
# What the block of code says of itself, and not which part of the file it is.
_SHOWN = ("caption", "linenos", "lineno-start", "number-lines", "emphasize-lines")


def directives(text: str) -> Iterator[Directive]:
    """Yield the directives of a text in reStructuredText."""
    shown = _NOT_SHOWN.sub(_blank, text) if "changelog_imports::" in text else text
    code = literal_blocks(shown if "include::" in shown else "")
    yield from (each for each in _directives(_RST, shown, is_rst=True) if not code.hold(each.start))
    yield from _tables(_RST_TABLE.finditer(text), _rst_table)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def myst_directives(text: str) -> Iterator[Directive]:
    """Yield the directives of a markdown text, but for those in code."""
    fences = fences_of(text)

    def is_example(start: int) -> bool:
        info = fences.around(start)
        return info is not None and _CODE.match(info) is not None

    yield from (each for each in _directives(_MYST, text, is_rst=False) if not is_example(each.start))
    tables = (each for each in _MYST_TABLE.finditer(text) if not is_example(each.start("fence")))
    yield from _tables(tables, _myst_table)


def _tables(found: Iterable[re.Match[str]], form: Callable[..., str]) -> Iterator[Directive]:
    """Yield the tables whose comma-separated values are in a file."""
    for each in found:
        options = _said(each["options"])
        if target := _UNQUOTED.sub(r"\2", options.pop("file", "")):
            made = partial(form, each["title"].strip(), options)
            yield Directive(*each.span(), target, whole, made, each["indent"])


def _said(written: str) -> dict[str, str]:
    """Return options by name; YAML says ``true`` where a line with colons says nothing."""
    is_yaml = written.lstrip().startswith("---")
    said: list[tuple[str, str]] = _OPTION.findall(written)
    values = ((name, value.strip(" \t")) for name, value in said)
    return {name: "" if is_yaml and value == "true" else value for name, value in values}


def _rst_table(title: str, options: Mapping[str, str], values: str) -> str:
    said = "".join(f"{_CODE_INDENT}:{name}: {value}\n" for name, value in options.items())
    return f".. csv-table:: {title}\n{said}\n{indented(values, _CODE_INDENT)}\n"


def _myst_table(title: str, options: Mapping[str, str], values: str) -> str:
    said = "".join(f":{name}: {value}\n" for name, value in options.items())
    return fenced(f"{{csv-table}} {title}".replace("`", ""), f"{said}\n{values}")


def _directives(pattern: re.Pattern[str], text: str, *, is_rst: bool) -> Iterator[Directive]:
    for found in pattern.finditer(text):
        options = _said(found["options"])
        if not is_rst:  # MyST's are YAML
            options = {name: _UNQUOTED.sub(r"\2", value) for name, value in options.items()}
        language = _code_language(found["kind"], options, found["target"])
        target = found["target"].strip("<>")
        if not options.get("caption", target):  # the name of the file is meant
            options["caption"] = target
        shown = {name: options[name] for name in _SHOWN if name in options}
        yield Directive(
            *found.span(),
            target,
            _part(options, shown),
            _form(language, shown, is_rst),
            found["indent"],
            is_nested=language is None,
        )


def _form(language: str | None, shown: Mapping[str, str], is_rst: bool) -> Callable[[str], str]:
    if language is None:
        return (lambda part: f"{part}\n") if is_rst else as_it_is
    return partial(_rst_code if is_rst else _myst_code, language, shown)


def _myst_code(language: str, shown: Mapping[str, str], code: str) -> str:
    said = "".join(
        f' {name}="{value.replace(chr(34), "")}"' if value else f" {name}" for name, value in shown.items()
    )
    return fenced(f"{language}{said}".replace("`", ""), code)


def _code_language(kind: str, options: Mapping[str, str], target: str) -> str | None:
    """Return the language that the part is shown as code in, ``None`` if it is prose."""
    if kind == "literalinclude":
        return options.get("language") or language_of(target) or "text"
    if "literal" in options:
        return "text"
    return (options["code"] or "text") if "code" in options else None


def _rst_code(language: str, shown: Mapping[str, str], code: str) -> str:
    said = "".join(f"{_CODE_INDENT}:{name}: {value}\n" for name, value in shown.items())
    return f".. code-block:: {language}\n{said}\n{indented(code, _CODE_INDENT)}\n"


def _part(options: Mapping[str, str], shown: dict[str, str]) -> Part:
    """Return what takes a part of a file; its first line's number is ``shown`` where that is asked for."""
    steps: list[Part] = []
    if name := options.get("pyobject"):
        steps.append(lambda text: _python_object(text, name))
    if spec := options.get("lines"):
        steps.append(lines(spec, "-"))
    if "start-line" in options or "end-line" in options:
        steps.append(lambda text: _by_offsets(text, options))
    steps.append(lambda text: _by_marks(text, options))

    def part(text: str) -> str:
        file = text
        for step in steps:
            text = step(text)
        if "lineno-match" in options and (at := f"\n{file}\n".find(f"\n{text}\n")) >= 0:
            shown["lineno-start"] = str(file.count("\n", 0, at) + 1)
        return whole(dedented(text) if "dedent" in options else text)

    return part


def _by_offsets(text: str, options: Mapping[str, str]) -> str:
    """Return the lines from ``start-line`` to before ``end-line``, counted from 0, as docutils counts."""
    try:
        first, last = int(options.get("start-line") or 0), options.get("end-line")
        return "\n".join(text.splitlines()[first : int(last) if last else None])
    except ValueError:
        raise NoSuchPart("start-line and end-line must be numbers") from None


def _by_marks(text: str, options: Mapping[str, str]) -> str:
    """Return the lines between those that hold the options' texts; ``-at`` keeps the line itself."""
    found = text.splitlines()
    for name in ("start-after", "start-at"):
        if mark := options.get(name):
            found = found[_line_with(mark, found, name) + (name == "start-after") :]
    for name in ("end-before", "end-at"):
        if mark := options.get(name):
            found = found[: _line_with(mark, found, name) + (name == "end-at")]
    return "\n".join(found)


def _line_with(mark: str, found: list[str], name: str) -> int:
    for number, line in enumerate(found):
        if mark in line:
            return number
    raise NoSuchPart(f"it has no line with {mark!r:.80} ({name})")


def _python_object(text: str, name: str) -> str:
    """Return a function or class by its dotted name; the file is read and not run."""
    try:
        body: list[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        raise NoSuchPart("it is not Python") from None
    node: ast.stmt | None = None
    for part in name.split("."):
        node = next((each for each in body if getattr(each, "name", None) == part), None)
        body = getattr(node, "body", [])
    if node is None:
        raise NoSuchPart(f"it has no {name}")
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
