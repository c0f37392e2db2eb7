"""Markdown with descriptions in place of ``:::`` blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from ..includes.parts import indented
from ..includes.python_blocks import DESCRIPTIONS_END, ApiBlock, blocks
from ..model import PythonModule
from ..settings.collection import Api
from .describe import Options, describe
from .objects import Modules, NotFound

_HEADING = re.compile(r"^(#{1,6})[ \t]+\S", re.MULTILINE)
_NAMED_HEADING = re.compile(r"^[ \t]*#{1,6} `[^`\n]+` \{#([\w.]+)\}$", re.MULTILINE)
_PLACE = re.compile(r'^[ \t]*<a id="([\w.]+)"></a>\n', re.MULTILINE)
MAX_OPTION_CHARS = 20_000
# Behind a block, where the next word is looked for.
_MAX_BLANK = 1_000


@dataclass(frozen=True, slots=True)
class DescribedText:
    """A text with descriptions in place of blocks, and remarks on what could not be described."""

    text: str
    notes: tuple[str, ...]


def with_descriptions(text: str, modules: Sequence[PythonModule], api: Api, limit: int) -> DescribedText:
    """Return the text with what its blocks describe, of ``limit`` characters at most."""
    names, notes = {module.name.partition(".")[0] for module in modules}, list[str]()
    known = Modules(modules)
    pieces, at = list[str](), 0
    room = limit - len(text)
    for block in blocks(text, lambda name: name.partition(".")[0] in names):
        described = _described(block, block.level or _level(text, block.start), known, api, notes)
        described += "" if block.indent else _end(text[block.end : block.end + _MAX_BLANK])
        if len(described) > room:
            notes.append(f"::: {block.name} is not described: the document would become too large")
            described = block.name_alone
        room -= len(described)
        pieces += [text[at : block.start], described]
        at = block.end
    pieces[1::2] = _places_once(pieces[1::2])
    return DescribedText("".join((*pieces, text[at:])), (*known.notes, *notes))


def _places_once(descriptions: list[str]) -> list[str]:
    """Return the descriptions in which a dotted name is one place: a heading, or the first of others."""
    taken = {name for each in descriptions for name in _NAMED_HEADING.findall(each)}

    def kept(found: re.Match[str]) -> str:
        is_new = found[1] not in taken
        taken.add(found[1])
        return found[0] if is_new else ""

    return [_PLACE.sub(kept, each) for each in descriptions]


def _end(after: str) -> str:
    """Return the mark that what follows is no part of the descriptions, where no heading says so."""
    follows = after.lstrip()
    return f"\n{DESCRIPTIONS_END}\n\n" if follows and not follows.startswith(("#", ":::")) else ""


def _described(block: ApiBlock, level: int, known: Modules, api: Api, notes: list[str]) -> str:
    try:
        options = _options(block, level, notes, api)
        return indented(describe(known, block.name, options, api.docstring_style), block.indent)
    except NotFound as error:
        notes.append(f"::: {block.name} is not described: {error}")
        return block.name_alone


def _level(text: str, at: int) -> int:
    """Return the level of a heading below the last one before this place."""
    last = text.rfind("\n#", 0, at) + 1
    found = _HEADING.match(text, last)
    return min(len(found[1]) + 1, 6) if found else 2


def _options(block: ApiBlock, level: int, notes: list[str], api: Api) -> Options:
    """Return the options that are understood; others are mkdocstrings' own business."""
    try:
        given = yaml.safe_load(block.options) if 0 < len(block.options) <= MAX_OPTION_CHARS else {}
        given = given.get("options", given) if isinstance(given, Mapping) else {}
    except (yaml.YAMLError, ValueError, RecursionError):
        notes.append(f"::: {block.name}: its options are no YAML")
        given = {}
    given = given if isinstance(given, Mapping) else {}
    given = {**dict(api), **given}
    members, filters, own = given.get("members"), given.get("filters"), given["heading_level"]
    return Options(
        level=min(max(own, 1), 6) if isinstance(own, int) and own and not block.level else level,
        shows_heading=given["show_root_heading"] is not False,
        members=tuple(map(str, members)) if isinstance(members, list) else None,
        shows_members=members is not False,
        filters=tuple(map(str, filters)) if isinstance(filters, list) else ("!^_",),
        inherited=_inherited(given["inherited_members"]),
        shows_undocumented=given["show_if_no_docstring"] is not False,
        shows_full_path=given["show_root_full_path"] is True,
        merges_init=given["merge_init_into_class"] is True,
        order="alphabetical" if given["members_order"] == "alphabetical" else "source",
        grouped=given["group_by_category"] is True,
        shows_imported=not api.pages,
    )


def _inherited(given: object) -> bool | frozenset[str]:
    """Return whether inherited members are shown, or the names of those that are."""
    return frozenset(map(str, given)) if isinstance(given, list) else given is True
