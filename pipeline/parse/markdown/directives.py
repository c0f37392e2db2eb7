"""Openings of boxes as MkDocs, Docusaurus, VitePress, MyST and mdBook write them, and what each box is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...visibility import SEARCH_EXCLUDED
from ..conditions import is_for_web_pages
from ..labels import VERSION_TITLES, label_anchor
from .myst.descriptions import DESCRIBED
from .myst.directive_kinds import kind_of_directive
from .myst.inline_options import read_inline_options

TAB, FOLDED, GROUP, IMAGE, LINKS, RST, NOTHING = "tab", "details", "group", "image", "toctree", "eval-rst", ""
MATH = "math"

_OPENING = re.compile(
    r"(/{3,}|:{3,})[ \t]*(\{?)\.?([A-Za-z][\w:-]{0,30})\}?(?:\[([^\]\n]*)\])?[ \t]*(?:\|[ \t]*)?([^\n|]*)\Z"
)
_FENCE = re.compile(r"(`{3,}|~{3,})\{([A-Za-z][\w:-]{0,30})\}[ \t]*([^\n`]*)\Z")
_ADMONISH = re.compile(r"(`{3,}|~{3,})admonish\b[ \t]*([A-Za-z][\w-]{0,30}(?![\w-]|[ \t]*=))?([^\n`]*)\Z")
_QUOTED = re.compile(r"(?:\btitle[ \t]*=[ \t]*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')")

# Of VitePress, behind a title.
_ATTRIBUTES = re.compile(r"[ \t]*\{(open|[.#][\w-][^{}\n]{0,100})\}\Z")
_CALLOUTS = "attention caution danger error hint important note seealso tip todo warning admonition"
# Of VitePress and Docusaurus.
_OTHER_CALLOUTS = frozenset({"info", "success", "secondary"})
_VERSIONS = "deprecated versionadded versionchanged versionremoved"
CARDS = frozenset({"card", "grid-item-card"})
# What follows a title is looked for where a run of blanks begins: in a long one it takes no time.
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+([^\n]*?)(?<![ \t])(?:[ \t]+#+)?(?:[ \t]*\{[^{}\n]*\})?[ \t]*\Z")
_CARETS = re.compile(r"\s*\^{3,}\s*")
_TITLED = "card grid-item-card rubric sidebar topic"
_KIND_NAMES = {
    GROUP: """
        caption card-carousel carousel code-group column columns compound container content-tabs div epigraph
        figure-caption figure-md glossary grid grid-item group hlist html layout margin nested-tabs only
        panels pull-quote row tab-set table-caption tabs
    """,
    TAB: "tab tab-item group-tab",
    FOLDED: "dropdown details collapse toggle",
    IMAGE: "image figure",
    LINKS: "toctree",
    RST: "eval-rst",
    NOTHING: """
        bibliography codeauthor contents default-domain highlight index sectionauthor tableofcontents
        tabularcolumns toc towncrier-draft-entries
    """,
}
_KINDS = {name: kind for kind, names in _KIND_NAMES.items() for name in names.split()}
# Quarto's, and whether what they hold is for the format that they name.
_BY_FORMAT = {"content-visible": True, "content-hidden": False}
# "raw" is VitePress's, which keeps its styles from what it holds.
_NO_CLASSES = (NOTHING, LINKS, *DESCRIBED, "raw")
# Those of ``:::`` without braces that hold what follows, though nothing closes them.
_FOLLOWED = [name for name, kind in _KINDS.items() if kind in (FOLDED, GROUP)]
_CONTAINERS = frozenset([*_CALLOUTS.split(), *_OTHER_CALLOUTS, *_FOLLOWED])
# A fence of {html} is code in notebooks of R.
_PROSE = frozenset([*_KINDS, *f"{_CALLOUTS} {_VERSIONS} {_TITLED}".split()]) - {"html"}


@dataclass(frozen=True, slots=True)
class Box:
    """A box: the line that closes it, its name and kind, its title, and whether it folds.

    What an ``unsearched`` one holds stands on the page and is not found by searches. One that
    ``ends_by_itself`` goes on to the end of what it stands in where nothing closes it. Only a directive,
    which has its name in braces, has lines of options; ``options`` are those on its own line.
    """

    marker: str
    name: str
    kind: str
    title: str = ""
    folds: bool = False
    is_open: bool = False
    unsearched: bool = False
    ends_by_itself: bool = False
    is_directive: bool = False
    options: dict[str, str] = field(default_factory=dict)


def read_opening(line: str) -> Box | None:
    """Return the box that the line opens, if it opens one."""
    found = read_inline_options(line)
    made = _opened(found.opening if found else line)
    if not found or not made:
        return made
    # Extensions of Quarto have callouts of their own.
    kind = made.name if found.is_callout and made.kind == GROUP else made.kind
    title = made.title or found.options.get("title", "")
    return replace(made, kind=kind, title=title, options=found.options)


def _opened(line: str) -> Box | None:
    if line.startswith(("/", ":")):
        found = _OPENING.match(line)
        if not found:
            return None
        name = found[3].lower()
        is_of_colons = found[1][0] == ":"
        is_known = is_of_colons and (bool(found[2]) or name in _CONTAINERS)
        title = (found[4] or found[5]).strip()
        attributes = _ATTRIBUTES.search(title) if is_of_colons else None
        title = title[: attributes.start()] if attributes else title
        if _KINDS.get(name) == TAB:  # VuePress
            title = title.strip('"')
        is_open = attributes is not None and attributes[1] == "open"
        in_braces = is_of_colons and line[len(found[1]) :].lstrip().startswith(f"{{{found[3]}}}")
        made = _box(found[1], name, title, in_braces=in_braces)
        is_class = is_of_colons and not in_braces
        if is_class and ((found[2] and name not in _CONTAINERS) or made.kind in _NO_CLASSES):
            made = replace(made, kind=GROUP)  # of a div, no directive
        return replace(made, ends_by_itself=is_known, is_open=is_open)
    if found := _ADMONISH.match(line):
        return _of_mdbook(found[1], (found[2] or "note").lower(), found[3])
    if found := _FENCE.match(line):
        made = _box(found[1], found[2].lower(), found[3].strip(), in_braces=True)
        if made.name in _PROSE or made.kind in DESCRIBED:
            return replace(made, ends_by_itself=True)
    return None


def _box(marker: str, name: str, title: str, *, in_braces: bool = False) -> Box:
    kind = _KINDS.get(name, name)
    if in_braces and name not in _PROSE:
        kind = kind_of_directive(name, title) or kind
    if name in VERSION_TITLES:
        version = f"{VERSION_TITLES[name]} {title}".strip()
        kind = "warning" if name == "deprecated" else "note"
        return Box(marker, name, kind, version, is_directive=in_braces)
    if name in ("card", "grid-item-card", "rubric", "sidebar", "topic") and not title:
        kind = GROUP
    if name in ("admonition", *_VERSIONS.split()):
        kind = "note"
    if name == "only" and marker[0] != "/" and not is_for_web_pages(title):
        kind = NOTHING
    return Box(marker, name, kind, title, folds=kind == FOLDED, is_directive=in_braces)


def _of_mdbook(marker: str, kind: str, rest: str) -> Box:
    """Return the box of mdbook-admonish: ``admonish warning "Title" collapsible=true``."""
    title = _QUOTED.search(rest)
    said = (title[1] or title[2] or "") if title else ""
    return Box(marker, kind, kind, said, folds="collapsible=true" in rest.replace(" ", ""))


def with_options(box: Box, options: dict[str, str]) -> Box:
    """Return the box as its options change it: MyST names its kind and its folding as classes."""
    classes = options.get("class", "").split()
    if box.name in _BY_FORMAT and not {"when-format", "unless-format"}.isdisjoint(options):
        box = replace(box, kind=_kind_by_format(_BY_FORMAT[box.name], options))
    if box.name == "admonition" and (kinds := [each for each in classes if each in _CALLOUTS.split()]):
        box = replace(box, kind=kinds[0])
    if not {"dropdown", "toggle"}.isdisjoint(classes) or "collapsible" in options:
        box = replace(box, folds=True)
    return replace(box, is_open=True) if "open" in options or "toggle-shown" in classes else box


def _kind_by_format(shows: bool, options: Mapping[str, str]) -> str:
    """Return whether a page shows a box of Quarto that is shown, or hidden, when or unless for a format."""
    when, unless = (options.get(f"{word}-format", "") for word in ("when", "unless"))
    holds = (not when or when.startswith("html")) and not unless.startswith("html")
    return GROUP if holds == shows else NOTHING


def with_heading(box: Box, lines: Sequence[str]) -> tuple[Box, int]:
    """Return a callout of Quarto with the heading that it begins with as its title, and the lines above."""
    above = next((at for at, line in enumerate(lines) if line.strip()), 0)
    found = _HEADING.match(lines[above]) if lines and not box.title else None
    return (replace(box, title=found[1]), above + 1) if found else (box, 0)


def as_card(box: Box, options: dict[str, str], lines: Sequence[str]) -> tuple[Box, int]:
    """Return a card that leads where ``:link:`` says, and the number of lines above its row of carets.

    These are its title, with the one that it is given.
    """
    above = next((at + 1 for at, line in enumerate(lines) if _CARETS.fullmatch(line)), 0)
    title = " ".join(filter(None, (box.title, *map(str.strip, lines[: max(0, above - 1)]))))
    target = re.sub(r"[<>]", "", options.get("link", ""))
    if target and options.get("link-type") in ("ref", "any"):
        target = f"#{label_anchor(target)}"
    if target and "](" not in title:
        title = f"<{target}>" if "://" in target and not title else f"[{title}](<{target}>)"
    return replace(box, title=title, kind=box.name if title else box.kind), above


def with_block_options(box: Box, options: dict[str, str]) -> Box:
    """Return the box as options of PyMdown's blocks change it."""
    return replace(
        box,
        kind=options.get("type", box.kind) if box.folds or box.name == "admonition" else box.kind,
        is_open=box.is_open or options.get("open", "").lower() == "true",
        unsearched=SEARCH_EXCLUDED in options.get("attrs", ""),
    )


_TITLED_ENTRY = re.compile(r"([^<>]+?)[ \t]*<([^<>]+)>\Z")


def entries(lines: Sequence[str]) -> list[str]:
    """Return the documents that a table of contents names, as links in markdown; patterns are left out."""
    found = []
    for line in filter(None, map(str.strip, lines)):
        titled = _TITLED_ENTRY.match(line)
        target = titled[2] if titled else line
        if "*" not in target and target != "self" and not line.startswith((":", "---", "#")):
            plain = not titled and "://" not in target and "`" not in target
            found.append(f"{{doc}}`{target}`" if plain else f"[{titled[1] if titled else line}](<{target}>)")
    return found
