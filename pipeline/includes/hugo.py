"""The shortcodes of Hugo and Quarto: ``{{< ref "x" >}}``, ``{{% note %}}``, figures, tabs, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from . import as_markdown
from .as_markdown import Arguments, arguments
from .fences import Fences, code_of, fenced, indent_before, language_of
from .parts import Directive, Literal
from .project import Context, shown, value_at, without_front_matter

MARKS = ("{{<", "{{%")

# It passes no other opening, so that thousands of them stay linear.
_TOKEN = re.compile(
    r"\{\{(?P<mark>[<%])(?P<escaped>/\*)?[ \t]*(?P<close>/)?\s*(?P<name>[A-Za-z_][\w./-]*)"
    r"(?P<rest>(?:(?!\{\{[<%])(?![>%]\}\})[\s\S])*)[>%]\}\}"
)
_CODE = frozenset({"highlight", "code", "codeblock", "mermaid", "code-block", "prism"})
# Of a theme's own shortcodes, such as code-toggle.
_NAMES_CODE = re.compile(r"(?:\A|[/_-])code(?:\Z|[_-])")
_HIDDEN = frozenset({"comment"})
_FOLDS = frozenset({"details", "expand", "collapse", "spoiler"})
_INCLUDES = frozenset({"include", "includes", "readfile", "include-md", "include_md", "snippet"})
_FIGURES = frozenset({"figure", "img", "image", "imgproc"})
_SILENT_NAMES = "tabs tabpane tabset toc br steps columns column cards rawhtml math katex"
_SILENT = frozenset(_SILENT_NAMES.split())
_TABS = frozenset({"tab", "tabitem"})


def directives(text: str, context: Context) -> Iterator[Directive | Literal]:
    """Yield the shortcodes of a text in order; of those in code, only ones that are escaped."""
    return _Reader(text, code_of(text), context).read()


class _Reader:
    """One pass over a text, whose shortcodes are paired by name beforehand."""

    def __init__(self, text: str, code: Fences, context: Context) -> None:
        self.text, self.code, self.context = text, code, context
        self.tokens = list(_TOKEN.finditer(text))
        self.closings = _paired(self.tokens, code)
        self.depth = 0

    def read(self) -> Iterator[Directive | Literal]:
        at, closes_box = 0, set(self.closings.values())
        boxes = {self.closings[n] for n in self.closings if _is_box(self.tokens[n]["name"])}
        for number, found in enumerate(self.tokens):
            if found.start() < at:
                continue
            if found["escaped"]:
                yield self.escaped(found)
            elif self.code.hold(found.start()):
                continue
            elif number in boxes:
                self.depth = max(0, self.depth - 1)
                yield Literal(*found.span(), as_markdown.closed(self.depth, self.indent(found)))
            elif found["close"] and (number in closes_box or found["name"] in _SILENT):
                yield Literal(*found.span(), "")
            else:
                each = self.shortcode(number, found)
                at = each.end
                yield each

    def indent(self, found: re.Match[str]) -> str:
        return indent_before(self.text, found.start())

    def escaped(self, found: re.Match[str]) -> Literal:
        """Return the shortcode that is shown: ``{{</* x */>}}`` stands for ``{{< x >}}``."""
        bare = re.sub(r"(\{\{[<%])/\*|\*/([>%]\}\})", r"\1\2", found[0])
        is_code = self.code.hold(found.start())
        return Literal(*found.span(), bare if is_code else as_markdown.literal(bare))

    def shortcode(self, number: int, found: re.Match[str]) -> Directive | Literal:
        name, given = found["name"].lower(), arguments(found["rest"].rstrip().removesuffix("/"))
        closing = self.tokens[self.closings[number]] if number in self.closings else None
        if closing is not None:
            return self.pair(name, given, found, closing)
        if name in _INCLUDES and given.first("file", "path", "src"):
            return self.include(given, found)
        if _is_box(name) and (said := given.named.get("text") or given.named.get("content")):
            kind, title = _box(name, Arguments((), given.named))
            opened = as_markdown.opened(kind, title, self.depth, self.indent(found))
            return Literal(*found.span(), opened + said + as_markdown.closed(self.depth, self.indent(found)))
        is_known, text = self.single(name, given)
        note = "" if is_known else f"the shortcode {name:.80} is not known and is removed"
        return Literal(*found.span(), text, note)

    def pair(self, name: str, given: Arguments, found: re.Match[str], end: re.Match[str]) -> Literal:
        inside = self.text[found.end() : end.start()]
        if name in _CODE or _NAMES_CODE.search(name):
            return Literal(found.start(), end.end(), _highlighted(name, given, inside))
        if name in _HIDDEN:
            return Literal(found.start(), end.end(), "")
        if name in ("button", "link") and (address := given.first("href", "url", "link", "relref")):
            target = self.address(address)
            return Literal(found.start(), end.end(), f"[{' '.join(inside.split())}]({target})")
        if _is_box(name):
            kind, title = _box(name, given)
            self.depth += 1
            return Literal(*found.span(), as_markdown.opened(kind, title, self.depth - 1, self.indent(found)))
        note = "" if name in _SILENT else f"the shortcode {name:.80} is not known: what it encloses is shown"
        return Literal(*found.span(), "", note)

    def single(self, name: str, given: Arguments) -> tuple[bool, str]:
        """Return whether the shortcode is known, and what stands for it."""
        if name in ("ref", "relref"):
            return True, self.address(given.first("path"))
        if name in _FIGURES:
            return True, as_markdown.figure(given)
        if name in ("param", "meta"):
            return self.parameter(given.first("key"))
        if link := as_markdown.on_the_web(name, given):
            return True, link
        return name in _SILENT, ""

    def parameter(self, name: str) -> tuple[bool, str]:
        found = shown(value_at(self.context.page, name)) or shown(
            value_at(self.context.page, f"params.{name}")
        )
        return bool(found), found

    def address(self, target: str) -> str:
        if re.match(r"[a-z][a-z+.-]*:|#", target):
            return target
        return self.context.project.address_of(target, self.context.path)

    def include(self, given: Arguments, found: re.Match[str]) -> Directive:
        target, indent = given.first("file", "path", "src"), self.indent(found)
        language = given.first("lang", "language", at=9) or language_of(target)
        is_code = given.named.get("code", "").strip("'\"") == "true"
        return Directive(
            found.start() - len(indent),
            found.end(),
            target,
            without_front_matter,
            partial(fenced, language) if is_code else str,
            indent,
            is_nested=not is_code,
        )


def _paired(tokens: list[re.Match[str]], code: Fences) -> dict[int, int]:
    """Return the number of the closing shortcode for each opening one that has one."""
    pairs, opened = dict[int, int](), dict[str, list[int]]()
    for number, found in enumerate(tokens):
        if found["escaped"] or code.hold(found.start()):
            continue
        if not found["close"]:
            opened.setdefault(found["name"], []).append(number)
        elif opened.get(found["name"]):
            pairs[opened[found["name"]].pop()] = number
    return pairs


def _is_box(name: str) -> bool:
    return name.lower() in as_markdown.BOXES or name.lower() in _FOLDS or name.lower() in _TABS


def _box(name: str, given: Arguments) -> tuple[str, str]:
    if name in _TABS:
        return "tab", given.first("name", "title", "header", "label", "tabName")
    if name in _FOLDS:
        return "details", given.first("title", "summary")
    return as_markdown.box(name, given)


def _highlighted(name: str, given: Arguments, code: str) -> str:
    file = next((given.named[each] for each in ("file", "filename") if "." in given.named.get(each, "")), "")
    said = given.first("lang", "language", "type") or language_of(file)
    language = "mermaid" if name == "mermaid" else said
    marked = re.search(r"\bhl_lines=\[?\"?([\d ,\"-]{1,200})", " ".join(given.positional[1:]))
    marked_lines = marked[1].replace('"', "").strip() if marked else given.named.get("hl_lines", "")
    info = f'{language} hl_lines="{marked_lines}"' if marked_lines else language
    return f"\n{fenced(info, code.strip(chr(10)).rstrip())}\n"
