"""Texts of Sphinx and MyST with what ``conf.py`` gives them: substitutions, links of roles, text around."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from ...model import PythonModule
from ...untrusted import as_text
from ..fences import Fences, code_of, literal_blocks
from ..front_matter_blocks import find_block
from ..project import front_matter_of
from .conf_values import MARKDOWN, RST, SphinxValues, is_value
from .object_types import declaration

_USED = re.compile(r"\|([A-Za-z][\w -]*)\|")
# The first lines of a document that say something of it, as Sphinx finds them, and an empty one.
_FIELDS = re.compile(r"(?::[\w -]+:(?=\s)[^\n]*\n(?:[ \t]+\S[^\n]*\n)*)+\n?")
_RST_ROLE = re.compile(
    r"(?<![`\w:\\]):([A-Za-z][\w:+-]{0,80}):`(?!`)((?:[^`\n]|\n(?![ \t]*\n)){1,500})`(?!`)"
)
_MYST_ROLE = re.compile(r"(?<![`\\])\{([A-Za-z][\w:+-]{0,80})\}`(?!`)([^`\n]{1,500})`(?!`)")
_MYST_VALUE = re.compile(r"(?<!`)\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}")
_EVAL_RST = re.compile(r"^([ \t]*)(?:`{3,}|~{3,}|:{3,})\{eval-rst\}[ \t]*\n", re.MULTILINE)
_OWN_KEYS = ("substitutions", "myst")
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}")
# Of MyST's directives, those whose content is no markdown.
_OF_CODE = frozenset(
    [
        "code",
        "code-block",
        "code-cell",
        "doctest",
        "eval-rst",
        "graphviz",
        "highlight",
        "ipython",
        "literalinclude",
        "math",
        "mermaid",
        "parsed-literal",
        "plantuml",
        "program-output",
        "prompt",
        "raw",
        "sourcecode",
        "testcode",
        "testoutput",
        "tikz",
        "uml",
    ]
)
_MAX_NESTED = 20
_FULL = "some values of conf.py are not filled in: the document would become larger than max_bytes"
_LABEL_ROLES = frozenset({"ref", "doc", "numref", "any", "term", "keyword", "option"})
_TITLED = re.compile(r"(.+?)\s*<([^<>]+)>", re.DOTALL)
_EXTERNAL = re.compile(r"external(?:\+([\w-]+))?(?::|\Z)")
# What might end a comment or the string of a docstring, or begin an escape in it.
_OF_STRINGS = re.compile(r"[\"'\\\n]")


@dataclass(slots=True)
class _Room:
    """The characters that values may still add to a text."""

    left: int
    is_full: bool = False

    def put(self, value: str, written: str) -> str:
        """Return a value in the place of what is written; that stays once there was no room for one."""
        added = len(value) - len(written)
        self.is_full |= added > self.left
        if self.is_full:
            return written
        self.left -= added
        return value


def with_values(text: str, path: str, values: SphinxValues, max_chars: int) -> tuple[str, tuple[str, ...]]:
    """Return the text of a document with the values that it names, and remarks on those not known.

    None of them makes it longer than ``max_chars`` characters, but for the text around reStructuredText.
    """
    room, remarks = _Room(max(0, max_chars - len(text))), tuple[str, ...]()
    if path.lower().endswith(RST):
        text = _rst(_with_rst_links(text, values, room), values)
    elif path.lower().endswith(MARKDOWN):
        if values.links or values.projects:
            text = _outside_code(
                _MYST_ROLE, text, lambda found: room.put(_myst_link(found, values), found[0])
            )
        text, remarks = _substituted(text, values, room)
        text = _with_default_role(text, values, room)
    return text, (*remarks, *((_FULL,) if room.is_full else ()))


def _with_rst_links(text: str, values: SphinxValues, room: _Room) -> str:
    if not (values.links or values.projects):
        return text
    code = literal_blocks(text)

    def link(found: re.Match[str]) -> str:
        return found[0] if code.hold(found.start()) else room.put(_rst_link(found, values), found[0])

    return _RST_ROLE.sub(link, text)


def with_linked_docstrings(
    modules: Iterable[PythonModule], values: SphinxValues, max_chars: int
) -> tuple[PythonModule, ...]:
    """Return the modules with links in place of the roles that ``conf.py`` gives a meaning.

    None becomes longer by more than ``max_chars`` characters.
    """

    def linked(module: PythonModule) -> PythonModule:
        try:
            text = module.content.decode("utf-8")
        except UnicodeDecodeError:
            return module
        room = _Room(max_chars)
        text = _RST_ROLE.sub(lambda found: room.put(_docstring_link(found, values), found[0]), text)
        return replace(module, content=text.encode())

    return tuple(map(linked, modules) if values.links or values.projects else modules)


def _outside_code(pattern: re.Pattern[str], text: str, change: Callable[[re.Match[str]], str]) -> str:
    """Return the markdown with each match of a pattern changed that is not in code."""
    if not pattern.search(text):
        return text
    code = _code_of(text)
    return pattern.sub(lambda found: found[0] if code.hold(found.start()) else change(found), text)


def _code_of(text: str) -> Fences:
    """Return the code of a text, also that within the fences of MyST's directives, which are prose."""
    spans, pending = list[tuple[int, int, str]](), [(0, len(text), 0)]
    while pending:
        first, last, depth = pending.pop()
        for start, end, info in code_of(text[first:last]).spans:
            named = _DIRECTIVE.match(info)
            if named and named[1] not in _OF_CODE and depth < _MAX_NESTED:
                pending.append((first + start, first + end, depth + 1))
            else:
                spans.append((first + start, first + end, info))
    return Fences(sorted(spans))


def _substituted(text: str, values: SphinxValues, room: _Room) -> tuple[str, tuple[str, ...]]:
    """Return the text with the values that it names, and a remark on each that the script computes.

    The name stands in the place of one that is computed, as in reStructuredText.
    """
    own = _own(text) if any(f"{key}:" in text for key in _OWN_KEYS) else {}
    known = {**values.substitutions, **own}
    left: dict[str, None] = {}

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in values.computed and name not in known:
            left[name] = None
            return name
        return room.put(known.get(name, found[0]), found[0])

    filled = _outside_code(_MYST_VALUE, text, value) if known or values.computed else text
    return filled, tuple(
        f"the value of {name!r:.80} is computed in conf.py: its name stands there" for name in left
    )


def _own(text: str) -> dict[str, str]:
    given = front_matter_of(text)
    myst = given.get("myst")
    tables = (given.get("substitutions"), myst.get("substitutions") if isinstance(myst, Mapping) else None)
    pairs = (pair for table in tables if isinstance(table, Mapping) for pair in table.items())
    texts = ((as_text(name), as_text(each)) for name, each in pairs)
    return {name: text or "" for name, text in texts if name is not None and (text == "" or is_value(text))}


def _link(found: re.Match[str], values: SphinxValues) -> tuple[str, str] | None:
    """Return the text and the address of a role that ``extlinks`` defines, or of another project's label."""
    known = values.links.get(found[1])
    titled = _TITLED.fullmatch(found[2])
    target = (titled[2] if titled else found[2]).strip()
    if known is None:
        return _elsewhere(found[1], target, titled[1] if titled else "", values)
    address, caption = known
    shown = (caption or address).replace("%s", target, 1)
    return (titled[1] if titled else shown), address.replace("%s", quote(target, safe="/:#?=&%+@~,;.!*-_"), 1)


def _elsewhere(role: str, target: str, title: str, values: SphinxValues) -> tuple[str, str] | None:
    """Return the text and the address of a reference to a page or label of another project."""
    external = _EXTERNAL.match(role)
    project, _, label = target.partition(":")
    if external:
        project, label = external[1] or "", target
    if role.rpartition(":")[2] not in _LABEL_ROLES or not label or project not in values.projects:
        return None
    return title or label, values.projects[project]


def _rst_link(found: re.Match[str], values: SphinxValues) -> str:
    link = _link(found, values)
    if link is None:
        project, _, name = found[2].lstrip("~!").partition(":")
        is_elsewhere = project in values.projects and name[:1] not in (":", "") and "<" not in name
        before, named, after = found[0].partition("`")
        return f"{before}{named}!{after.replace(f'{project}:', '', 1)}" if is_elsewhere else found[0]
    return f"`{link[0]} <{link[1]}>`__" if link[1] else link[0]


def _docstring_link(found: re.Match[str], values: SphinxValues) -> str:
    link = _rst_link(found, values)
    return link if len(_OF_STRINGS.findall(link)) <= len(_OF_STRINGS.findall(found[0])) else found[0]


def _myst_link(found: re.Match[str], values: SphinxValues) -> str:
    link = _link(found, values)
    if link is None or not link[1]:
        return found[0] if link is None else link[0]
    return f"[{link[0]}](<{link[1]}>)"


def _default_role(values: SphinxValues) -> str:
    return f".. default-role:: {values.default_role}\n\n" if values.default_role else ""


def _with_default_role(text: str, values: SphinxValues, room: _Room) -> str:
    """Return the markdown whose reStructuredText has the role of text in single backticks."""
    if not values.default_role or "{eval-rst}" not in text:
        return text
    return _outside_code(
        _EVAL_RST, text, lambda found: room.put(f"{found[0]}{found[1]}{_default_role(values)}", found[0])
    )


def _rst(text: str, values: SphinxValues) -> str:
    """Return the text between prolog and epilog, if it uses names, and with what the used ones stand for."""
    used = {name for name in _USED.findall(text) if name in values.texts and f".. |{name}|" not in text}
    defined = "".join(f"\n.. |{name}| replace:: {values.texts[name]}" for name in sorted(used))
    around = values.prolog + values.epilog
    names_something = bool(around) and ("|" in text or "_" in text or ":" in text)
    head = declaration(values.objects, text) + _default_role(values)
    head += f"{values.prolog.strip(chr(10))}\n\n" if names_something and values.prolog else ""
    tail = f"\n\n{values.epilog.strip(chr(10))}\n" if names_something and values.epilog else ""
    given = "".join(line for line in (head, tail))
    defined = "".join(
        line for line in defined.splitlines(True) if line.split("replace::")[0].strip() not in given
    )
    above = _above_text(text) if head else 0
    return f"{text[:above]}{head}{text[above:]}{tail}" + (f"\n{defined}\n" if defined else "")


def _above_text(text: str) -> int:
    """Return where the text begins behind its byte order mark, its front matter and its first fields.

    Sphinx inserts the prolog there; in front of them, they would say nothing of the document any more.
    """
    found = find_block(text)
    if found is not None and found.is_any and found.end is None:
        return len(text)  # whether it is front matter, only its own first line tells
    start = (found.end or 0) if found is not None and found.is_any else len(text) - len(text.lstrip("\ufeff"))
    fields = _FIELDS.match(text, start)
    return fields.end() if fields else start
