"""The tags of the plugin include-markdown: ``{% include-markdown "../README.md" start="<!--a-->" %}``.

``{% include "../a.yml" %}`` is followed in code too, if there is such a file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial

from ..as_markdown import arguments
from ..fences import code_of, fences_of, indent_before
from ..parts import Directive, NoSuchPart, dedented, whole
from ..project import without_front_matter

MARKS = ("include-markdown", "{% include", "{%- include", "{%include")
_TAG = re.compile(
    r"\{%-?\s{0,20}(?P<tag>include(?:-markdown)?)\s{1,20}(?:\"(?P<double>[^\"\n]{1,500})\"|'(?P<single>[^'\n]{1,500})')"
    r"(?P<options>(?:(?!%\}|\{%)[\s\S]){0,2000})%\}"
)
_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)
# Of links, images and definitions: a target that is relative.
_RELATIVE = re.compile(
    r"(?:(?<=\]\()<?|(?<=[\s\"]src=[\"'])|(?<=[\s\"]href=[\"'])|(?<=\]:)[ \t]*<?)"
    r"(?P<target>(?![#/]|[A-Za-z][\w+.-]*:)[^\s()<>\"']{1,500})"
)
_NO = frozenset({"false", "no", "off", "0"})


def directives(text: str) -> Iterator[Directive]:
    """Yield the tags of a text that another reader does not know: of markdown in prose, of files in code."""
    code = code_of(text)
    for found in _TAG.finditer(text):
        target, in_code = found["double"] or found["single"], code.hold(found.start())
        is_markdown = found["tag"] == "include-markdown"
        if is_markdown is in_code or (in_code and not target.startswith(".")):
            continue
        options = arguments(found["options"]).named
        indent = indent_before(text, found.start())
        yield Directive(
            found.start() - len(indent),
            found.end(),
            target,
            partial(_page if is_markdown else _part, target, options),
            indent=indent,
            is_nested=is_markdown,
            is_example=in_code,
        )


def _part(_: str, options: Mapping[str, str], text: str) -> str:
    """Return what the options choose of a file."""
    text = _between(text, *map(_unescaped, (options.get("start"), options.get("end"))))
    return dedented(text) if options.get("dedent", "").lower() in ("true", "yes", "on", "1") else text


def _page(target: str, options: Mapping[str, str], text: str) -> str:
    """Return what the options choose of a page, as the plugin changes it."""
    text = _part(target, options, without_front_matter(text))
    if options.get("rewrite-relative-urls", "").lower() not in _NO and target.startswith("."):
        text = _with_links_from(posixpath.dirname(target), text)
    offset = options.get("heading-offset", "0")
    if re.fullmatch(r"-?[1-6]", offset):
        text = _with_headings(text, int(offset))
    return text


def _between(text: str, start: str, end: str) -> str:
    """Return what stands between two texts, each time they stand there; all if there are none."""
    if start and start not in text:
        raise NoSuchPart(f"it has no {start!r:.80}")
    if end and not start:
        return whole(text.partition(end)[0])
    pieces = text.split(start)[1:] if start else [text]
    return whole("".join(each.partition(end)[0] if end else each for each in pieces))


def _unescaped(given: str | None) -> str:
    return (given or "").replace("\\n", "\n").replace("\\t", "\t")


def _with_links_from(folder: str, text: str) -> str:
    """Return the text with relative links that begin at the page that includes it."""
    code = code_of(text)

    def moved(found: re.Match[str]) -> str:
        target = found["target"]
        if code.hold(found.start("target")):
            return found[0]
        before = found[0][: found.start("target") - found.start()]
        path, mark, rest = target.partition("#")
        return before + posixpath.normpath(posixpath.join(folder, path)) + mark + rest

    return _RELATIVE.sub(moved, text)


def _with_headings(text: str, offset: int) -> str:
    fences = fences_of(text)

    def deeper(found: re.Match[str]) -> str:
        is_code = fences.hold(found.start())
        return found[0] if is_code else "#" * min(6, max(1, len(found[1]) + offset))

    return _HEADING.sub(deeper, text)
