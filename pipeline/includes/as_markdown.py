"""What directives become in markdown: boxes, tabs, figures, links, and text that stands for itself."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .fences import Fences

# A name, if there is one, and a value: "quoted", `quoted`, 'quoted' or bare.
_ARGUMENT = re.compile(
    r"(?:([\w-]+)\s*=\s*)?(?:\"((?:[^\"\\]|\\.){0,500})\"|'([^'\n]{0,500})'|`([^`]{0,500})`|([^\s\"`']+))"
)
_BOX_NAMES = """
    admonition alert attention callout caution danger hint important info note notice pageinfo tip warning
"""
BOXES = frozenset(_BOX_NAMES.split())
# Names of boxes whose kind is an argument.
_NEUTRAL = frozenset({"admonition", "alert", "callout", "hint", "notice", "pageinfo"})
_KIND_NAMES = ("type", "style", "kind", "color", "level", "context")
_KINDS = {"primary": "note", "secondary": "note", "success": "tip", "error": "danger", "default": "note"}
POSTS = ("x", "tweet", "twitter")
_HOSTS = {
    "youtube": "https://www.youtube.com/watch?v={}",
    "vimeo": "https://vimeo.com/{}",
    "gist": "https://gist.github.com/{}",
    "instagram": "https://www.instagram.com/p/{}/",
    **dict.fromkeys(POSTS, "https://x.com/{}"),
}
_TITLES, _LINKS = ("title", "text", "label"), ("link", "href", "url", "to")
_DESCRIPTIONS = ("subtitle", "description", "desc")
# Longer than those that authors write, so that theirs may stand inside.
_MARKER_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a directive, by position and by name."""

    positional: tuple[str, ...]
    named: Mapping[str, str]

    def first(self, *names: str, at: int = 0) -> str:
        """Return the first argument that has one of these names, or else the one at this position."""
        given = next((self.named[name] for name in names if name in self.named), "")
        return given or (self.positional[at] if at < len(self.positional) else "")


def arguments(text: str) -> Arguments:
    """Return the arguments that a directive is given, such as ``"x" width=300``."""
    positional, named = list[str](), dict[str, str]()
    for name, *values in _ARGUMENT.findall(text):
        value = "".join(values).replace('\\"', '"')
        if name:
            named.setdefault(name, value)
        else:
            positional.append(value)
    return Arguments(tuple(positional), named)


def box(name: str, given: Arguments) -> tuple[str, str]:
    """Return the kind and the title of a box: ``note "Title"``, ``hint warning``, ``alert color="info"``."""
    if name not in _NEUTRAL:
        return name, given.first("title")
    kind = given.first(*_KIND_NAMES).lower()
    if not re.fullmatch(r"[a-z][a-z-]{0,20}", kind):
        return "note", given.first("title", at=0)
    return _KINDS.get(kind, kind), given.first("title", at=0 if kind in given.named.values() else 1)


def opened(kind: str, title: str, depth: int, indent: str) -> str:
    """Return the lines that open a box inside ``depth`` others."""
    marker = "/" * (_MARKER_LENGTH + min(depth, 90))
    clean = " ".join(title.replace("|", " ").split())
    return f"\n\n{indent}{marker} {kind}{f' | {clean}' if clean else ''}\n\n{indent}"


def closed(depth: int, indent: str) -> str:
    """Return the lines that close it."""
    return f"\n\n{indent}{'/' * (_MARKER_LENGTH + min(depth, 90))}\n\n{indent}"


def figure(given: Arguments) -> str:
    """Return the image of a ``figure`` with its width and its caption."""
    source = given.first("src", "link").strip()
    if not source or re.search(r"[\s<>]", source):
        return ""
    text = re.sub(r"[\[\]\n]", " ", given.first("alt", "title", "caption", at=9))
    width = given.named.get("width", "").removesuffix("px")
    image = f"![{text}]({source}){f'{{width={width}}}' if width.isdigit() else ''}"
    if "src" in given.named and (target := _address(given.named.get("link", ""))):
        image = f"[{image}]({target})"
    words = [given.named[name].strip() for name in ("title", "caption") if given.named.get(name, "").strip()]
    caption = ": ".join(dict.fromkeys(words))
    if source_of := given.named.get("attr", "").strip():
        target = _address(given.named.get("attrlink", ""))
        caption = f"{caption} {f'[{source_of}]({target})' if target else source_of}".strip()
    return f"{image}\n\n*{caption}*" if caption and "*" not in caption else f"{image}\n\n{caption}".rstrip()


def said(given: Arguments, address: Callable[[str], str], *, is_block: bool) -> str:
    """Return the words that a card, a button or a shortcode that is not known says in its arguments.

    One that stands alone in a block and says more than a title is an item of a list; ``address`` makes an
    address of what it links to.
    """
    title, described = _words(given, _TITLES), _words(given, _DESCRIPTIONS)
    target = _address(given.first(*_LINKS, at=99))
    is_link = bool(target and title) and not re.search(r"[\[\]]", title)
    heading = f"[{title}]({address(target)})" if is_link else title
    if not is_block or not (target or described):
        return heading or described
    picture = _address(given.named.get("image", ""))
    shown = f"![{title}]({picture}) " if picture and not re.search(r"[\[\]]", title) else ""
    words = " — ".join(filter(None, [f"**{heading}**" if heading else "", described]))
    return f"- {shown}{words}" if words else ""


def _words(given: Arguments, names: tuple[str, ...]) -> str:
    """Return what the first of these arguments says; one that turns something on or off says nothing."""
    words = " ".join(given.first(*names, at=99).split())
    return "" if words in ("true", "false") else words


def _address(given: str) -> str:
    """Return an address that may stand in round brackets, else nothing."""
    return "" if re.search(r"[\s<>()]", given.strip()) else given.strip()


def on_the_web(name: str, given: Arguments) -> str:
    """Return the link to a video or a gist, empty if it is none; nothing is loaded from there."""
    name = name.removesuffix("_simple")  # Hugo's forms without scripts
    if name not in _HOSTS:
        return ""
    found = "/".join(given.positional[:2] if name == "gist" else given.positional[:1])
    found = found or given.first("id")
    if name in POSTS:
        found = f"{given.named.get('user', 'i')}/status/{found}" if found.isdecimal() else ""
    return f"<{_HOSTS[name].format(found)}>" if re.fullmatch(r"[\w/-]{1,100}", found) else ""


_BRACES = re.compile(r"\{(?=[{%])")
_SUM = re.compile(r"[\d.(][\d.\s()+*/-]{0,80}")
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def literal(text: str, brace: str = r"\{") -> str:
    """Return prose in which braces stand for themselves, as their author means them."""
    return _BRACES.sub(lambda _: brace, text)


def literal_outside_code(text: str, code: Fences, start: int, end: int, brace: str = r"\{") -> str:
    """Return ``text[start:end]`` in which braces in prose stand for themselves."""
    pieces, at = list[str](), start
    for first, last, _ in code.within(start, end):
        pieces += [literal(text[at:first], brace), text[first:last]]
        at = last
    return "".join([*pieces, literal(text[at:end], brace)])


def sum_of(expression: str) -> str:
    """Return the result of a sum of numbers, as a script would write it; nothing for another expression."""
    if not _SUM.fullmatch(expression):
        return ""
    try:
        result = _number(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return ""
    return f"{result:.0f}" if result.is_integer() and abs(result) < 1e15 else repr(result)


def _number(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and (operation := _OPERATIONS.get(type(node.op))):
        return operation(_number(node.left), _number(node.right))
    raise ValueError("not a sum of numbers")
