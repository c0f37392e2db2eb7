"""Templates of a site's own shortcodes: values, conditions and loops are followed as far as they are simple.

So are the partials that they use. Whatever uses anything else, such as data of the site, is not filled in at
all.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from html import escape
from typing import Any

from ...untrusted import with_lower_keys
from ..as_markdown import Arguments
from ..project import Context
from .expressions import value_of
from .functions import FAILURES, MAX_CHARS, PLAIN, UnknownValue, call, is_true, size_of, text_of
from .template_tree import TemplateNode, nodes_of

# Stands for what the shortcode encloses.
INNER = "\0"
_MAX_STEPS, _MAX_PARTIALS = 2_000, 30
# Of all that functions are given and give, which bounds the memory that variables take.
_MAX_HANDLED = 10 * MAX_CHARS
# What a page, a shortcode, and a template itself keep values in.
_SCRATCH = re.compile(r"(?:\$|\.Page|\$\.Page)?\.(?:Scratch|Store)\.(?P<does>Get|Set)")
# What may be done with what the shortcode encloses.
_OF_INNER = frozenset([*PLAIN, "trimspace", "trim", "chomp", "default", "or", "and", "cond", "print", "not"])


class _Page:
    """Stands for the page that a shortcode is on."""


class _Shortcode:
    """Stands for the shortcode itself, which is the dot of its template."""


_PAGE, _SHORTCODE = _Page(), _Shortcode()
Scope = ChainMap[str, Any]


def filled(
    template: str, given: Arguments, context: Context, *, encloses: bool
) -> tuple[str, str | None] | None:
    """Return what a template puts before and after what its shortcode encloses, if it does.

    Nothing comes after it where the template does not show that. ``None`` if all this is not known.
    """
    try:
        text = _Template(given, context, INNER if encloses else "").text(nodes_of(template))
    except (UnknownValue, *FAILURES):
        return None
    parts = [_plain(part) for part in text.split(INNER)]
    return None if len(parts) > 2 else (parts[0], parts[1] if len(parts) > 1 else None)


def _plain(text: str) -> str:
    """Return the lines without indentation and blank ones, which would mean something in markdown."""
    if "<pre" in text:
        return text.strip()
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


class _Template:
    """A template while it is filled in; it takes so many steps at most."""

    def __init__(self, given: Arguments, context: Context, inner: str) -> None:
        self.given, self.context, self.inner, self.steps = given, context, inner, 0
        self.written, self.handled, self.depth = "", 0, 0
        self.kept: dict[str, object] = {}

    def text(self, nodes: list[TemplateNode]) -> str:
        self._write(nodes, _SHORTCODE, Scope())
        return self.written

    def _write(self, nodes: list[TemplateNode], dot: object, scope: Scope) -> None:
        for node in nodes:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise UnknownValue
            if node.kind == "text":
                self._put(node.said)
            elif node.kind == "action":
                self._act(node.said, dot, scope)
            else:
                self._follow(node, dot, scope.new_child())

    def _act(self, said: str, dot: object, scope: Scope) -> None:
        if setting := re.match(r"(\$\w+)\s*(:?=)\s*", said):
            value = self._value(said[setting.end() :], dot, scope)
            names = (each for each in scope.maps if setting[2] == ":=" or setting[1] in each)
            next(names, scope.maps[0])[setting[1]] = value
            return
        text = text_of(self._value(said, dot, scope))
        in_tag = self.written.rfind("<") > self.written.rfind(">")
        self._put(escape(text) if in_tag else text)

    def _put(self, text: str) -> None:
        self.written += text
        if len(self.written) > MAX_CHARS:
            raise UnknownValue

    def _follow(self, node: TemplateNode, dot: object, scope: Scope) -> None:
        names = re.match(r"(\$\w+)(?:\s*,\s*(\$\w+))?\s*:?=\s*", node.said)
        value = self._value(node.said[names.end() if names else 0 :], dot, scope)
        if node.kind == "range":
            self._repeat(node, _pairs(value), (names[1], names[2]) if names else (None, None), dot, scope)
        elif is_true(value):
            scope |= {names[1]: value} if names else {}
            self._write(node.body, value if node.kind == "with" else dot, scope)
        else:
            self._write(node.otherwise, dot, scope)

    def _repeat(
        self,
        node: TemplateNode,
        pairs: list[tuple[object, object]],
        names: tuple[str | None, str | None],
        dot: object,
        scope: Scope,
    ) -> None:
        self._handle(len(pairs))
        for key, value in pairs:
            one, other = names
            own = {one: key, other: value} if other else {one: value}
            self._write(node.body, value, scope.new_child({name: each for name, each in own.items() if name}))
        if not pairs:
            self._write(node.otherwise, dot, scope)

    def _value(self, said: str, dot: object, scope: Scope) -> object:
        def called(name: str, given: list[Any]) -> object:
            of = scope.get("$", _SHORTCODE) if name == "$.Get" else dot if name == ".Get" else None
            if scratch := _SCRATCH.fullmatch(name):
                value = self._scratch(scratch["does"], given)
            else:
                value = self._argument(*given) if of is _SHORTCODE else self._called(name, given)
            self._handle(size_of([*given, value]))
            return value

        return value_of(said, lambda name: self._named(name, dot, scope), called)

    def _handle(self, size: int) -> None:
        self.handled += size
        if self.handled > _MAX_HANDLED:
            raise UnknownValue

    def _scratch(self, does: str, given: list[Any]) -> object:
        """Keep a value under a name, or return what was kept; what other shortcodes keep is not known.

        Those that this one encloses may change it, and another may show what this one encloses.
        """
        if self.inner:
            raise UnknownValue
        key, *value = given
        if does == "Set":
            self.kept[text_of(key)] = value[0]
            return ""
        if text_of(key) not in self.kept:
            raise UnknownValue
        return self.kept[text_of(key)]

    def _named(self, name: str, dot: object, scope: Scope) -> object:
        """Return the value of a name that begins with a dot or a dollar sign."""
        first, _, rest = name.partition(".")
        if first and first != "$":
            if first not in scope:
                raise UnknownValue
            return self._below(scope[first], rest)
        return self._below(scope.get("$", _SHORTCODE) if first else dot, rest)

    def _below(self, value: Any, fields: str) -> object:
        for name in filter(None, fields.split(".")):
            if value is _SHORTCODE:
                value = self._of_shortcode(name)
            elif value is _PAGE:
                value = self._of_page(name)
            elif value is self.context.project.site:
                value = self._of_site(name)
            elif isinstance(value, Mapping):
                value = value.get(name.lower(), value.get(name))
            elif value is not None:
                raise UnknownValue
        return value

    def _of_shortcode(self, name: str) -> object:
        if name in ("Inner", "InnerDeindent"):
            return self.inner
        if name == "Params":
            return dict(self.given.named) or list(self.given.positional)
        if name == "IsNamedParams":
            return bool(self.given.named)
        if name in ("Page", "Site"):
            return _PAGE if name == "Page" else self.context.project.site
        raise UnknownValue

    def _of_page(self, name: str) -> object:
        page = self.context.page
        if name == "Params":
            return with_lower_keys(page)
        if name == "Title":
            return page.get("title")
        if name == "Site":
            return self.context.project.site
        raise UnknownValue

    def _of_site(self, name: str) -> object:
        """Return a setting of the site, which says much else: only parameters may be lacking."""
        site = self.context.project.site
        key = name.lower() if name.lower() in site else name
        if key not in site and name != "Params":
            raise UnknownValue
        return site.get(key)

    def _called(self, name: str, given: list[Any]) -> object:
        """Return what a function or a method gives."""
        if name in ("ref", "relref") and given:
            return self.context.project.address_of(text_of(given[-1]), self.context.path)
        if name.startswith("site."):
            return self._below(self.context.project.site, name.removeprefix("site."))
        if name in ("partial", "partialCached") and given:
            return self._partial(text_of(given[0]), *given[1:2])
        if any(each is self.context.project.site for each in given):
            raise UnknownValue
        if INNER in given and name.lower().rpartition(".")[2] not in _OF_INNER:
            raise UnknownValue
        return call(name, given)

    def _partial(self, name: str, dot: object = None) -> str:
        """Return what a partial of the site writes; of one that gives a value instead, nothing is known."""
        template = self.context.project.partial(name)
        if template is None or self.depth > _MAX_PARTIALS:
            raise UnknownValue
        before, self.written, self.depth = self.written, "", self.depth + 1
        self._write(nodes_of(template), dot, Scope({"$": dot}))
        made, self.written, self.depth = self.written, before, self.depth - 1
        return made

    def _argument(self, *keys: object) -> str:
        if len(keys) != 1:
            raise UnknownValue
        key = keys[0]
        if isinstance(key, int):
            if key < 0:
                raise UnknownValue
            return self.given.positional[key] if key < len(self.given.positional) else ""
        return self.given.named.get(str(key), "")


def _pairs(value: object) -> list[tuple[object, object]]:
    """Return what a loop goes over, with the keys."""
    if isinstance(value, list):
        return list(enumerate(value))
    if isinstance(value, Mapping) and len({type(key) for key in value}) < 2:
        return sorted(value.items())
    raise UnknownValue
