"""The tags of Liquid, as Jekyll and GitBook write them: links, includes, code, values of site and page.

Names are evaluated, and loops over what is known. Of a condition all branches stay, of another loop what it
repeats if it does not use what it goes over, each with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import quote

from . import as_markdown
from .as_markdown import Arguments, arguments
from .fences import Fences, code_of, indent_before
from .jekyll.loops import followed
from .jekyll.tags import BRANCHES, filled, highlighted, page_address, remark
from .jekyll.values import Budget, NotFollowed, Values, below
from .parts import Directive, Literal
from .project import Context, shown, value_named

# In a folder of Jekyll also any other "{{".
MARKS = ("{%", "{{ site.", "{{site.", "{{ page.", "{{page.", "relative_url", "absolute_url")

# Neither passes another opening, so that thousands of them stay linear.
_TOKEN = re.compile(
    r"(?<!\{)\{%-?\s*(?P<name>#|[A-Za-z_][\w-]*)(?P<rest>(?:(?!\{%|%\})[\s\S])*)-?%\}"
    r"|\{\{-?(?P<value>(?:(?!\{\{|\}\}|\{%)[^\n])*(?:\n(?:(?!\{\{|\}\}|\{%)[^\n])*){0,2})\}\}"
)
_LOOPS = frozenset(["for", "tablerow"])
_MAX_SEARCHED = 2_000
_ENDS_A_PARAGRAPH = re.compile(r"\n[ \t]*\n|^[ \t]{0,3}#{1,6}[ \t]", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CODE_TAGS = frozenset({"highlight", "codeblock"})
_HIDDEN_TAGS = frozenset({"comment", "schema"})
_LEADS = re.compile(r"(?:\]\(<?|=[\"']|\]:[ \t]*)(?:\{\{[^{}\n]{0,100}\}\}){0,3}\Z")
_TEXT = re.compile(r"\A(?:\"([^\"]*)\"|'([^']*)')\Z")
_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")
_FILTERS: Mapping[str, Callable[[str, str], str]] = {
    "append": lambda value, given: value + given,
    "prepend": lambda value, given: given + value,
    "default": lambda value, given: value or given,
    "upcase": lambda value, _: value.upper(),
    "downcase": lambda value, _: value.lower(),
    "capitalize": lambda value, _: value[:1].upper() + value[1:].lower(),
    "strip": lambda value, _: value.strip(),
    "escape": lambda value, _: value,
    "xml_escape": lambda value, _: value,
    "markdownify": lambda value, _: value,
    "relative_url": lambda value, _: value,
    "absolute_url": lambda value, _: value,
}
_ADDRESS_FILTERS = frozenset({"relative_url", "absolute_url"})


def directives(text: str, context: Context) -> Iterator[Directive | Literal]:
    """Yield the tags and values of a text in order; those in code are examples of themselves."""
    code = code_of(text)
    yield from _Reader(text, code, context).read()


class _Reader:
    """One pass over a text; ``variables`` are what it assigns, ``depth`` how many boxes are open."""

    def __init__(self, text: str, code: Fences, context: Context) -> None:
        self.text, self.code, self.context = text, code, context
        self.variables: dict[str, str] = {}
        self.lists: dict[str, object] = {}  # of what it assigns what is no text
        self.budget = Budget()
        # Jekyll follows what stands in them; on a forge nobody does.
        self.comments = Fences([] if context.is_of("jekyll") else [*_comments(text, code)])
        self.depth = 0
        self.ends: dict[str, list[int]] = {}
        self.loops: dict[int, int] = {}  # from the start of each to its end
        # Where there are conditions and loops, values in braces are the template's too.
        self.is_template = context.is_of("jekyll")

    def read(self) -> Iterator[Directive | Literal]:
        at = 0
        tokens = [found for found in _TOKEN.finditer(self.text) if not self.comments.hold(found.start())]
        self.look_ahead(tokens)
        for found in tokens:
            in_title = not self.context.is_of("jekyll") and self.code.opens_at(self.text, found.end())
            if found.start() < at or in_title:
                continue
            if self.code.hold(found.start()):
                if found["name"] in ("raw", "endraw") and self.context.is_of("jekyll"):
                    yield Literal(*found.span(), "")
                continue
            for each in self.token(found):
                at = max(at, each.end)
                yield each

    def look_ahead(self, tokens: list[re.Match[str]]) -> None:
        """Note of each closing tag the places, from last to first, and where each loop ends."""
        open_ends: dict[str, list[int]] = {name: [] for name in _LOOPS}
        for found in reversed(tokens):
            name, is_code = found["name"] or "", self.code.hold(found.start())
            if name.startswith("end"):
                self.ends.setdefault(name, []).append(found.start())
                if name[3:] in _LOOPS and not is_code:
                    open_ends[name[3:]].append(found.end())
            elif name in _LOOPS and not is_code and open_ends[name]:
                self.loops[found.start()] = open_ends[name].pop()
            self.is_template |= name in BRANCHES and not is_code and not self.context.is_of("sphinx")

    def token(self, found: re.Match[str]) -> Iterator[Directive | Literal]:
        if found["name"] is None:
            yield from self.value(found)
            return
        name, rest = found["name"], found["rest"].strip().removesuffix("-").strip()
        if name in _CODE_TAGS or name in _HIDDEN_TAGS or name in ("raw", "capture"):
            yield self.enclosing(name, rest, found)
        elif name in ("include", "include_relative", "include_cached", "render"):
            yield self.include(name, rest, found)
        elif name == "for" and (written := self.followed(found)) is not None:
            yield Literal(found.start(), self.loops[found.start()], written)
        elif name in _LOOPS and self.varies(rest, found) and not self.is_prose(found):
            note = f"{{% {name} %}} is not evaluated: what it repeats is left out"
            yield Literal(found.start(), self.loops[found.start()], "", note)
        else:
            yield self.simple(name, rest, found)

    def enclosing(self, name: str, rest: str, found: re.Match[str]) -> Literal:
        """Return what stands for the tag and everything up to its end."""
        start, end = found.end(), self.end_of(f"end{name}", found.end())
        if end < 0:
            return Literal(*found.span(), "", f"{{% {name} %}} is never closed")
        after = self.text.index("%}", end) + 2
        if name in _HIDDEN_TAGS:
            return Literal(found.start(), after, "")
        if name == "raw":
            inside = as_markdown.literal_outside_code(self.text, self.code, start, end)
            return Literal(found.start(), after, inside)
        inside = self.text[start:end]
        if name == "capture":
            self.variables[rest] = inside.strip()
            return Literal(found.start(), after, "")
        return Literal(found.start(), after, highlighted(rest, inside))

    def followed(self, found: re.Match[str]) -> str | None:
        """Return what a loop over something known writes."""
        end = self.loops.get(found.start(), 0) if self.context.is_of("jekyll") else 0
        return followed(self.text[found.start() : end], self.at_path, self.budget) if end else None

    def at_path(self, steps: Sequence[str]) -> object:
        """Return the value of a variable, of the site's settings and data, or of the front matter."""
        if steps[0] in self.lists:
            return below(self.lists[steps[0]], steps[1:])
        if steps[0] in self.variables and len(steps) == 1:
            return self.variables[steps[0]]
        owners = {"site": self.context.project.site, "page": self.context.page}
        owner = owners.get(steps[0], {})
        if len(steps) < 2 or steps[1] not in owner:
            raise NotFollowed
        return below(owner, steps[1:])

    def varies(self, rest: str, found: re.Match[str]) -> bool:
        """Return whether the text that a loop repeats uses what it goes over."""
        end, variable = self.loops.get(found.start(), 0), re.match(r"\w{1,100}", rest)
        repeated = self.text[found.end() : min(end, found.end() + _MAX_SEARCHED)]
        uses = (_QUOTED.sub("", _names_in(each)) for each in _TOKEN.finditer(repeated))
        return variable is not None and any(re.search(rf"\b{variable[0]}\b", each) for each in uses)

    def is_prose(self, found: re.Match[str]) -> bool:
        """Return whether a loop encloses more than a paragraph where it may be no more than mentioned."""
        start, end = found.end(), self.loops[found.start()]
        is_long = end - start > _MAX_SEARCHED or _ENDS_A_PARAGRAPH.search(self.text, start, end) is not None
        return is_long and not self.context.is_of("jekyll")

    def end_of(self, name: str, start: int) -> int:
        """Return where the next such tag begins, -1 if there is none."""
        places = self.ends.get(name, [])
        while places and places[-1] < start:
            places.pop()
        return places[-1] if places else -1

    def include(self, name: str, rest: str, found: re.Match[str]) -> Directive:
        target, given = [*rest.split(None, 1), "", ""][:2]
        is_path = target[:1] in ("'", '"') and not self.context.is_of("jekyll")  # of Jinja, in MkDocs
        target = target.strip("\"'")
        named = arguments(given).named
        values = {key: self.resolved(value) or value for key, value in named.items()}
        is_own = is_path or name == "include_relative" or target.startswith((".", "/"))
        indent = indent_before(self.text, found.start())
        return Directive(
            found.start() - len(indent),
            found.end(),
            target if is_own else f"_includes/{target}",
            partial(filled, values, is_html=target.endswith(".html")),
            indent=indent,
            is_nested=True,
        )

    def simple(self, name: str, rest: str, found: re.Match[str]) -> Literal:
        """Return what stands for one tag, whatever follows it."""
        place, indent = found.span(), indent_before(self.text, found.start())
        given = arguments(rest)
        if name in ("link", "post_url"):
            return Literal(*place, page_address(name, rest))
        if name == "assign":
            return self.assign(rest, found)
        if name in as_markdown.BOXES or name == "tab":
            return Literal(*place, self.box(name, given, indent))
        if name.startswith("end") and (name[3:] in as_markdown.BOXES or name == "endtab") and self.depth:
            self.depth -= 1
            return Literal(*place, as_markdown.closed(self.depth, indent))
        if name == "embed" and re.match(r"https?://[^\s<>]+\Z", url := given.first("url")):
            return Literal(*place, f"<{url}>")
        return Literal(*place, "", remark(name))

    def box(self, name: str, given: Arguments, indent: str) -> str:
        kind, title = ("tab", given.first("title")) if name == "tab" else as_markdown.box(name, given)
        self.depth += 1
        return as_markdown.opened(kind, title, self.depth - 1, indent)

    def assign(self, rest: str, found: re.Match[str]) -> Literal:
        name, _, expression = rest.partition("=")
        value = self.resolved(expression)
        if value is None and self.context.is_of("jekyll"):
            try:
                self.lists[name.strip()] = Values(self.at_path, self.budget).of(expression.strip())
                return Literal(*found.span(), "")
            except NotFollowed:
                pass
        if value is None:
            return Literal(*found.span(), "", f"{{% assign {name.strip():.80} %}} is not evaluated")
        self.variables[name.strip()] = value
        self.lists.pop(name.strip(), None)
        return Literal(*found.span(), "")

    def value(self, found: re.Match[str]) -> Iterator[Literal]:
        expression = found["value"].strip().removesuffix("-").strip()
        before = self.text[max(0, found.start() - 400) : found.start()]
        leads = _LEADS.search(before) is not None
        value = self.resolved(expression, leads=leads)
        if value is not None:
            yield Literal(*found.span(), quote(value, safe="/:#?=&%@+,;~.-_") if leads else value)
        elif self.is_template:
            yield Literal(*found.span(), "", f"{{{{ {expression:.80} }}}} has no value")

    def resolved(self, expression: str, *, leads: bool = False) -> str | None:
        """Return the value of an expression, ``None`` if it is not known; ``leads`` where a link begins."""
        name, *filters = (each.strip() for each in expression.split("|"))
        value = self.named(name, leads=leads)
        for each in filters:
            filter_name, _, given = (part.strip() for part in each.partition(":"))
            if filter_name not in _FILTERS:
                return None
            if value is None and filter_name != "default":
                return None
            other = self.named(given, leads=leads) if given else ""
            if other is None:
                return None
            value = _FILTERS[filter_name](value or "", other)
            if filter_name in _ADDRESS_FILTERS and not leads:
                value = str(self.context.project.site.get("baseurl") or "") + value
        return value

    def named(self, name: str, *, leads: bool) -> str | None:
        if quoted := _TEXT.match(name):
            return quoted[1] or quoted[2] or ""
        if name in self.variables:
            return self.variables[name]
        owner, _, key = name.partition(".")
        if not key or not _NAME.match(name):
            return None
        if owner == "site" and key in ("baseurl", "url"):
            # The site's own address: links lead to the page itself, wherever this site is published.
            return "" if leads else str(self.context.project.site.get(key) or "")
        if owner not in ("site", "page"):
            return None
        values = self.context.project.site if owner == "site" else self.context.page
        return shown(value_named(key, values)) or None


def _comments(text: str, code: Fences) -> Iterator[tuple[int, int, str]]:
    """Yield where comments of HTML begin and end that are not in code."""
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        at = start + 4
        if not code.hold(start):
            end = text.find("-->", at)
            at = end + 3 if end >= 0 else len(text)
            yield start, at, ""


def _names_in(token: re.Match[str]) -> str:
    """Return the part of a tag or value in which names stand, and not paths."""
    inside = token["rest"] or token["value"] or ""
    return inside.partition("{{")[2] if token["name"] in ("link", "post_url") else inside
