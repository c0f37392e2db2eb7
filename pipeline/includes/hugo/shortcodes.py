"""The shortcodes of Hugo and Quarto: ``{{< ref "x" >}}``, ``{{% note %}}``, figures, tabs, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from .. import as_markdown
from ..as_markdown import Arguments, arguments
from ..fences import Fences, code_of, fenced, indent_before, language_of
from ..parts import PAGES_BELOW, Directive, Literal
from ..project import Context, shown, value_named, without_front_matter
from .templates import filled

MARKS = ("{{<", "{{%")

# It passes no other opening, so that thousands of them stay linear.
_TOKEN = re.compile(
    r"\{\{(?P<mark>[<%])(?P<escaped>/\*)?[ \t]*(?P<close>/)?\s*(?P<name>[A-Za-z_][\w./-]*)"
    r"(?P<rest>(?:(?!\{\{[<%])(?![>%]\}\})[\s\S])*)[>%]\}\}"
)
_CODE = frozenset({"highlight", "code", "codeblock", "mermaid", "code-block", "prism"})
# Of a theme's own shortcodes, such as code-toggle.
_NAMES_CODE = re.compile(r"(?:\A|[/_-])code(?:\Z|[_-])")
# A template that shows what is enclosed as it is written.
_SHOWS_CODE = re.compile(
    r"<pre\b(?:(?!</pre|\{\{).){0,300}\{\{-?\s*\.Inner\b(?![^{}]{0,200}(?:markdownify|RenderString))",
    re.DOTALL,
)
_TEXT_AFTER = re.compile(r"[ \t]*\S")
_FOLDS = frozenset({"details", "expand", "collapse", "spoiler"})
_INCLUDES = frozenset({"include", "includes", "readfile", "include-md", "include_md", "snippet"})
_FIGURES = frozenset({"figure", "img", "image", "imgproc"})
_SILENT_NAMES = "br cards column columns icon katex math rawhtml rss steps tabpane tabs tabset toc"
_SILENT = frozenset(_SILENT_NAMES.split())
_TABS = frozenset({"tab", "tabitem"})
_TAB_GROUPS = frozenset({"tabs", "tabpane", "tabset"})
# The last part of their names, as in hextra/feature-card: what they say in arguments that are not names.
_WORDS = frozenset({"badge", "kbd", "label"})
_SAYING_NAMES = "badge button card feature-card hero-badge hero-button kbd label linkcard link-card"
_SAYING = frozenset(_SAYING_NAMES.split())
_FILES = frozenset({"file", "folder"})
# Of the themes Relearn, Book, Docsy and Geekdoc: a list of the pages below.
_PAGE_LISTS = frozenset({"children", "section", "section-index", "toc-tree"})


@dataclass(frozen=True, slots=True)
class _TabGroup:
    """Tabs up to the shortcode numbered ``end``, their ``titles`` if the group names them, and its language.

    Docsy's hold code unless they say otherwise.
    """

    end: int
    titles: Iterator[str]
    is_code: bool
    language: str


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
        self.groups: list[_TabGroup] = []
        self.endings: dict[int, str] = {}  # by the place of the shortcode that closes

    def read(self) -> Iterator[Directive | Literal]:
        at, closes_box = 0, set(self.closings.values())
        boxes = {self.closings[n] for n in self.closings if _is_box(self.tokens[n]["name"])}
        for number, found in enumerate(self.tokens):
            if found.start() < at:
                continue
            while self.groups and number >= self.groups[-1].end:
                self.groups.pop()
            if found["escaped"]:
                yield self.escaped(found)
            elif self.code.hold(found.start()):
                continue
            elif number in boxes:
                self.depth = max(0, self.depth - 1)
                yield Literal(*found.span(), as_markdown.closed(self.depth, self.indent(found)))
            elif found["close"] and (number in closes_box or found["name"] in _SILENT):
                yield Literal(*found.span(), self.endings.get(found.start(), ""))
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
        if number in self.closings:
            self.enter(name, given, self.closings[number])
            return self.pair(name, given, found, self.tokens[self.closings[number]])
        if name in _INCLUDES and given.first("file", "path", "src"):
            return self.include(given, found)
        if _is_box(name) and (said := given.named.get("text") or given.named.get("content")):
            kind, title = _box(name, Arguments((), given.named))
            opened = as_markdown.opened(kind, title, self.depth, self.indent(found))
            return Literal(*found.span(), opened + said + as_markdown.closed(self.depth, self.indent(found)))
        is_known, text = self.single(name, given)
        return Literal(*found.span(), text) if is_known else self.saying(name, given, found)

    def enter(self, name: str, given: Arguments, end: int) -> None:
        """Note a group of tabs that ends at a shortcode, and the titles that it gives to them."""
        if name in _TAB_GROUPS:
            titles = iter([each.strip() for each in given.named.get("items", "").split(",")])
            is_code = name == "tabpane" and given.named.get("text") != "true"
            self.groups.append(_TabGroup(end, titles, is_code, given.named.get("lang", "")))

    def pair(self, name: str, given: Arguments, found: re.Match[str], end: re.Match[str]) -> Literal:
        inside = self.text[found.end() : end.start()]
        if (whole := self.whole(name, given, inside)) is not None:
            return Literal(found.start(), end.end(), whole)
        if _is_box(name):
            return self.box(name, given, found, end)
        if file := _file_entry(name, given):
            return Literal(*found.span(), file)
        if made := self.rendered(name, given, encloses=True):
            if made[1] is None:
                return Literal(found.start(), end.end(), self.placed(made[0], found.start(), end.end()))
            gap = "\n\n" if "\n" in inside.strip() else ""
            self.endings[end.start()] = gap + made[1]
            return Literal(*found.span(), made[0] + gap)
        is_silent = name in _SILENT or name.rpartition("/")[2] in _SAYING
        note = "" if is_silent else f"the shortcode {name:.80} is not known: what it encloses is shown"
        return Literal(*found.span(), "", note)

    def whole(self, name: str, given: Arguments, inside: str) -> str | None:
        """Return what stands for a pair and what it encloses; ``None`` where what it encloses is read on."""
        if name in _CODE or _NAMES_CODE.search(name):
            return _highlighted(name, given, inside)
        if _SHOWS_CODE.search(self.context.project.template(name) or ""):
            return _highlighted(name, Arguments((), given.named), inside)
        if name == "comment":
            return ""
        if name in _FIGURES:
            return f"{as_markdown.figure(self.of_bundle(given))}\n\n{inside.strip()}"
        if name in ("button", "link") and (address := given.first("href", "url", "link", "relref")):
            return f"[{' '.join(inside.split())}]({self.address(address)})"
        return None

    def box(self, name: str, given: Arguments, found: re.Match[str], end: re.Match[str]) -> Literal:
        """Return the opening of a box, or all of a tab that holds code."""
        (kind, title), group = _box(name, given), self.groups[-1] if self.groups and name in _TABS else None
        title = title or (next(group.titles, "") if group else "")
        opened = as_markdown.opened(kind, title, self.depth, self.indent(found))
        if group and group.is_code and given.named.get("text") != "true":
            language = given.first("lang", at=1) or group.language
            code = fenced(language, self.text[found.end() : end.start()].strip("\n").rstrip())
            closed = as_markdown.closed(self.depth, self.indent(found))
            return Literal(found.start(), end.end(), opened + code + closed)
        self.depth += 1
        return Literal(*found.span(), opened)

    def saying(self, name: str, given: Arguments, found: re.Match[str]) -> Literal:
        """Return the words in the arguments, with a remark where it is not known what else there would be."""
        if made := self.rendered(name, given):
            return Literal(*found.span(), self.placed(made[0], *found.span()))
        if name in _PAGE_LISTS and not as_markdown.said(given, self.address, is_block=False):
            return Literal(*found.span(), f"\n\n{PAGES_BELOW}\n\n")
        last, indent = name.rpartition("/")[2], self.indent(found)
        line = self.text[found.start() - len(indent) - 1 : found.start()] + self.text[found.end() :][:1]
        is_block = not line.strip() and "button" not in last
        text = _file_entry(name, given) or as_markdown.said(given, self.address, is_block=is_block)
        text = text or (given.first("content") if last in _WORDS else "")
        start = found.start() - len(indent) if text.startswith("- ") and last not in _FILES else found.start()
        what = "its words are shown" if text else "it is removed"
        note = "" if last in _SAYING | _FILES else f"the shortcode {name:.80} is not known: {what}"
        return Literal(start, found.end(), text, note)

    def placed(self, made: str, first: int, end: int) -> str:
        """Return what a template made, on one line within a text: a tag alone on its line would be HTML."""
        start = first - len(indent_before(self.text, first))
        is_within = (start and self.text[start - 1] != "\n") or _TEXT_AFTER.match(self.text, end)
        return " ".join(made.splitlines()) if is_within and "<pre" not in made else made

    def single(self, name: str, given: Arguments) -> tuple[bool, str]:
        """Return whether the shortcode is known, and what stands for it."""
        if name in ("ref", "relref"):
            return True, self.address(given.first("path"))
        if name in _FIGURES:
            return True, as_markdown.figure(self.of_bundle(given))
        if name in ("param", "meta"):
            return self.parameter(given.first("key"))
        # So short a name may be one of the site's own.
        is_own = name in as_markdown.POSTS and self.context.project.template(name) is not None
        if not is_own and (link := as_markdown.on_the_web(name, given)):
            return True, link
        return name in _SILENT or name in _TABS, ""

    def of_bundle(self, given: Arguments) -> Arguments:
        """Return an image's arguments with the file beside the page that a name without an ending means."""
        name = given.first("src", "link")
        if "." in name or not re.fullmatch(r"[\w/-]{1,100}", name):
            return given
        found = self.context.project.resource(name, self.context.path)
        return Arguments((), {**given.named, "src": found}) if found else given

    def parameter(self, name: str) -> tuple[bool, str]:
        page, site = self.context.page, self.context.project.site
        own = (value_named(name, page), value_named(f"params.{name}", page))
        values = (*own, value_named(f"params.{name.lower()}", site))
        found = next(filter(None, map(shown, values)), "")
        return bool(found), found

    def rendered(
        self, name: str, given: Arguments, *, encloses: bool = False
    ) -> tuple[str, str | None] | None:
        """Return what a site's own shortcode puts before and after what it encloses, if that is known."""
        template = self.context.project.template(name)
        return None if template is None else filled(template, given, self.context, encloses=encloses)

    def address(self, target: str) -> str:
        if re.match(r"[a-z][a-z+.-]*:|#", target):
            return target
        return self.context.project.address_of(target, self.context.path)

    def include(self, given: Arguments, found: re.Match[str]) -> Directive:
        target, indent = given.first("file", "path", "src"), self.indent(found)
        named = given.first("lang", "language", at=9)
        language = named or language_of(target)
        is_code = given.named.get("code", "true" if named else "").strip("'\"") == "true"
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
        if not found["close"] and not found["rest"].rstrip().endswith("/"):
            opened.setdefault(found["name"], []).append(number)
        elif found["close"] and opened.get(found["name"]):
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


def _file_entry(name: str, given: Arguments) -> str:
    """Return a file or a folder of a tree as an item of a list, which its indentation nests."""
    is_file = "/" in name and name.rpartition("/")[2] in _FILES
    return f"- `{named}`" if is_file and (named := given.first("name").replace("`", "")) else ""


def _highlighted(name: str, given: Arguments, code: str) -> str:
    file = next((given.named[each] for each in ("file", "filename") if "." in given.named.get(each, "")), "")
    said = given.first("lang", "language", "type") or language_of(file)
    language = "mermaid" if name == "mermaid" else said
    marked = re.search(r"\bhl_lines=\[?\"?([\d ,\"-]{1,200})", " ".join(given.positional[1:]))
    marked_lines = marked[1].replace('"', "").strip() if marked else given.named.get("hl_lines", "")
    info = f'{language} hl_lines="{marked_lines}"' if marked_lines else language
    return f"\n{fenced(info, code.strip(chr(10)).rstrip())}\n"
