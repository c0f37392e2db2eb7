"""A Python object and what it holds as markdown: a heading, a signature and the docstring of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

import griffe

from ..includes.python_blocks import SIGNATURE
from .docstrings import docstring_markdown
from .objects import Modules, NotFound
from .signatures import constructor, signature

Style = Literal["auto", "google", "numpy", "sphinx"]
Member: TypeAlias = griffe.Object | griffe.Alias
MAX_PIECES = 20_000
MAX_BASES = 50
MAX_FILTER = 100


@dataclass(frozen=True, slots=True)
class Options:
    """What a block of mkdocstrings asks for.

    ``members`` are the names to show, in order; ``filters`` are regular expressions of names to show, or with
    ``!`` in front to leave out. ``inherited`` tells whether classes show what they have from others, or names
    what of it. Members that are ``grouped`` come as attributes, classes, functions. A class that
    ``merges_init`` is shown with the parameters and the docstring of ``__init__``. What a package imports is
    described with it if it ``shows_imported``, since no other page does.
    """

    level: int
    shows_heading: bool = True
    shows_members: bool = True
    members: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ("!^_",)
    shows_undocumented: bool = True
    inherited: bool | frozenset[str] = False
    shows_full_path: bool = False
    merges_init: bool = False
    order: Literal["alphabetical", "source"] = "source"
    grouped: bool = False
    shows_imported: bool = False


def describe(known: Modules, name: str, options: Options, style: Style) -> str:
    """Return the description of the object with a dotted name; raise ``NotFound``."""
    found = known.find(name)
    title = name if found.is_module or options.shows_full_path else name.rpartition(".")[2]
    others = (found.path, *known.other_names(found)) if options.shows_imported else ()
    names = tuple(dict.fromkeys((name, *others)))
    return "\n".join(islice(_Description(known, style).pieces(found, names, title, options), MAX_PIECES))


@dataclass(frozen=True, slots=True)
class _Description:
    """A description in progress: what is known of imported objects, and how docstrings are written."""

    known: Modules
    style: Style

    def pieces(
        self, found: griffe.Object, names: tuple[str, ...], title: str, options: Options
    ) -> Iterator[str]:
        """Yield the markdown of an object that has these dotted names, and of its members below it."""
        if options.shows_heading:
            yield f"\n{'#' * options.level} `{title}` {{#{names[0]}}}\n"
        yield from map(_place, names[options.shows_heading :])
        level = options.level + options.shows_heading
        if isinstance(found, griffe.Class) and (init := init_of(found, options)) is not None:
            yield f"```python {SIGNATURE}\n{constructor(found, init)}\n```\n"
            if found.bases:
                yield f"Bases: {', '.join(f'`{base}`' for base in found.bases)}\n"
            yield docstring_markdown(found, self.style, level)
            yield docstring_markdown(init, self.style, level)
        else:
            yield "" if found.is_module else f"```python {SIGNATURE}\n{signature(found)}\n```\n"
            yield docstring_markdown(found, self.style, level)
        if not options.shows_members:
            return
        below = replace(options, level=min(level, 6), shows_heading=True, members=None)
        short = found.name if options.shows_full_path else title
        for member, each in members_of(found, options, self._target if options.shows_imported else _itself):
            inner = f"{short}.{member}" if found.is_class else member
            if isinstance(each, griffe.Alias):
                yield from self._imported(each.target_path, _members(names, member), member, below)
            else:
                yield from self.pieces(each, _members(names, member), inner, below)
        for member, target in self._starred(found, options):
            yield from self._imported(target, _members(names, member), member, below)
        for base, member, each in self._inherited(found, options) if isinstance(found, griffe.Class) else ():
            yield from self.pieces(each, _members(names, member), f"{title}.{member}", below)
            yield f"Inherited from `{base.path}`.\n"

    def _target(self, each: Member) -> Member:
        """Return what an import leads to, itself if nobody knows."""
        try:
            return self.known.find(each.target_path) if isinstance(each, griffe.Alias) else each
        except NotFound:
            return each

    def _inherited(
        self, found: griffe.Class, options: Options
    ) -> Iterator[tuple[griffe.Class, str, griffe.Object]]:
        """Yield members that a class has from others and does not replace, each with the class it is of."""
        taken = set(found.members)
        wanted = options.inherited
        for base in bases_of(self.known, found) if wanted else ():
            for name, each in members_of(base, options):
                asked = isinstance(wanted, bool) or name in wanted
                if asked and name not in taken and isinstance(each, griffe.Object):
                    taken.add(name)
                    yield base, name, each

    def _starred(self, found: griffe.Object, options: Options) -> Iterator[tuple[str, str]]:
        """Yield names that a module offers of what it imports by ``*``, each with where it is defined."""
        exported = [str(name) for name in found.exports or ()] if found.is_module else []
        for name in exported if options.members is None else options.members:
            if name not in found.members:
                with suppress(NotFound):
                    yield name, self.known.find(f"{found.path}.{name}").path

    def _imported(self, target: str, names: tuple[str, ...], title: str, options: Options) -> Iterator[str]:
        """Yield what a package offers of its modules: a link, or all of it where the module has no page."""
        try:
            found = self.known.find(target)
        except NotFound:
            found = None
        if found is not None and not found.is_module and (_has_no_page(found) or options.shows_imported):
            others = (found.path,) if options.shows_imported else ()
            yield from self.pieces(found, tuple(dict.fromkeys((*names, *others))), title, options)
            return
        place = target if found is None else found.path
        shown = f"`{place}`" if found is None or found.is_module else f"[`{place}`][{place}]"
        yield f"\n{'#' * options.level} `{title}` {{#{names[0]}}}\n\nImported from {shown}.\n"


def _place(name: str) -> str:
    """Return the place where references to a dotted name lead, besides the heading."""
    return f'\n<a id="{name}"></a>\n'


def _members(names: tuple[str, ...], member: str) -> tuple[str, ...]:
    return tuple(f"{name}.{member}" for name in names)


def _has_no_page(found: griffe.Object) -> bool:
    return "._" in found.module.path


def init_of(found: griffe.Class, options: Options) -> griffe.Function | None:
    """Return the ``__init__`` that a class is shown with, if it is to be."""
    init = found.members.get("__init__") if options.merges_init else None
    return init if isinstance(init, griffe.Function) else None


def bases_of(known: Modules, found: griffe.Class) -> list[griffe.Class]:
    """Return the classes that this one is derived from, the nearest first; unknown ones are left out."""
    bases, pending = list[griffe.Class](), [found]
    while pending and len(bases) < MAX_BASES:
        for given in (at := pending.pop(0)).bases:
            try:
                path = given.canonical_path if isinstance(given, griffe.Expr) else at.resolve(given)
                base = known.find(path)
            except (NotFound, griffe.NameResolutionError):
                continue
            if isinstance(base, griffe.Class) and base is not found and base not in bases:
                bases.append(base)
                pending.append(base)
    return bases


def _itself(each: Member) -> Member:
    return each


def members_of(
    found: griffe.Object, options: Options, target: Callable[[Member], Member] = _itself
) -> list[tuple[str, Member]]:
    """Return the members to show in the order of the source, or in that of ``members``.

    ``target`` gives what an import leads to, which says of what kind it is and whether it is documented.
    """
    if options.members is not None:
        return [(name, found.members[name]) for name in options.members if name in found.members]
    if not (found.is_module or found.is_class):
        return []
    exported = {str(name) for name in found.exports} if found.is_module and found.exports else None
    shown = [
        (name, each)
        for name, each in found.members.items()
        if (name in exported if exported is not None else _is_public(found, name, each, options))
        and (options.shows_undocumented or _is_documented(target(each)))
        and not (name == "__init__" and isinstance(found, griffe.Class) and init_of(found, options))
    ]
    by_name = options.order == "alphabetical"
    return sorted(
        shown, key=lambda pair: (_group(target(pair[1]), options), pair[0] if by_name else "", _line(pair[1]))
    )


def _is_documented(each: Member) -> bool:
    return isinstance(each, griffe.Alias) or each.has_docstrings


def _group(each: Member, options: Options) -> int:
    """Return the place of its kind among the members; what is imported comes first."""
    if not options.grouped or isinstance(each, griffe.Alias):
        return 0
    return 3 if each.is_function else 2 if each.is_class else 1


def _line(each: Member) -> int:
    return (each.alias_lineno if isinstance(each, griffe.Alias) else each.lineno) or 0


def _is_public(found: griffe.Object, name: str, each: Member, options: Options) -> bool:
    if isinstance(each, griffe.Alias):  # mkdocstrings shows of these what ``__all__`` names
        return not options.shows_imported and _is_offered(found, name, each)
    return not each.is_module and _passes(options.filters, name)


def _is_offered(found: griffe.Object, name: str, each: griffe.Alias) -> bool:
    """Return whether a package offers what it imports: from within itself, or under its own name again."""
    if each.wildcard or name.startswith("_") or not (found.is_module and found.is_init_module):
        return False
    return each.target_path.startswith(f"{found.path.partition('.')[0]}.")


def _passes(filters: tuple[str, ...], name: str) -> bool:
    """Return whether the filters let a name through: the last that matches decides, as in mkdocstrings.

    A name that none matches passes, unless all of them only name what to show.
    """
    matching = [pattern for pattern in filters if _matches(pattern.removeprefix("!"), name)]
    if matching:
        return not matching[-1].startswith("!")
    return not filters or any(pattern.startswith("!") for pattern in filters)


def _matches(pattern: str, name: str) -> bool:
    if len(pattern) > MAX_FILTER:
        return False
    try:
        return re.search(pattern, name[:100]) is not None
    except re.error:
        return False
