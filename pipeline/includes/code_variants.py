"""Code with its variants for other versions of Python: ``{* file hl[1:3] *}`` of markdown-include-variants.

Beside ``a_py310.py`` may stand ``a_py39.py``, and ``a_an_py310.py``, which uses ``Annotated``. A page shows
the file that it names, or lines of it, and folds the whole file and the others below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from ..visibility import SEARCH_EXCLUDED
from .fences import fenced, fences_of, language_of
from .parts import Composed, NoSuchPart, ReadIncluded, line_ranges

MARKS = ("{*",)

_DIRECTIVE = re.compile(
    r"^(?P<indent>[ \t]*)\{\*[ \t]+(?P<target>\S+)(?=[ \t])(?P<rest>[^\n*]*)\*\}[ \t]*$", re.MULTILINE
)
_SHOWN = re.compile(r"\bln\[([^\]]*)\]")
_MARKED = re.compile(r"\bhl\[([\d:,\s]*)\]")
_TITLE = re.compile(r"\btitle\[\s*([\"'])([^\"'\[\]\n]{1,200})\1\s*\]")
# Lines beyond it are not marked.
_MAX_LINE = 2_000
_SUFFIX = re.compile(r"(?:_an|_py3\d{1,2})+\Z")
_VERSIONS = {"_py311": "Python 3.11+", "_py310": "Python 3.10+", "_py39": "Python 3.9+", "": "Python 3.8+"}
_ABOVE, _BETWEEN, _BELOW = "# Code above omitted 👆", "# Code here omitted 👈", "# Code below omitted 👇"


@dataclass(frozen=True, slots=True)
class _Variant:
    """A file for a version of Python, and whether one with ``Annotated`` is to be preferred to it."""

    target: str
    text: str
    title: str
    is_second: bool = False


def directives(text: str) -> Iterator[Composed]:
    """Yield the directives of a markdown text."""
    fences = fences_of(text)
    for found in _DIRECTIVE.finditer(text):
        if not fences.hold(found.start()):
            compose = partial(_composed, found["target"], found["rest"])
            yield Composed(*found.span(), found["target"], compose, found["indent"])


def _composed(target: str, rest: str, text: str, read: ReadIncluded) -> str:
    """Return the code that a directive shows, and folded below it the whole file and its variants."""
    shown, titled = _SHOWN.search(rest), "".join(each[0] for each in _TITLE.finditer(rest))
    variants = _variants(target, read) if target.endswith(".py") else []
    own = next((each for each in variants if each.target == target), None)
    code = _code(target, rest, _excerpt(text, shown[1] if shown else "", with_omissions=own is not None))
    if own is None:
        return code
    pieces = [_tab(own, code)]
    if shown:
        pieces.append(_folded("👀 Full file preview", _tab(own, _code(target, rest, _excerpt(text)))))
    others = [_tab(each, _code(target, titled, _excerpt(each.text))) for each in variants if each is not own]
    if others:
        pieces.append(_folded("🤓 Other versions and variants", "\n\n".join(others)))
    return "\n\n".join(pieces)


def _variants(target: str, read: ReadIncluded) -> list[_Variant]:
    """Return a file with its variants, or those of its folder; nothing if its name is of another version."""
    path = PurePosixPath(target)
    name, folder = _SUFFIX.sub("", path.stem), _SUFFIX.sub("", path.parent.name)
    found = _named(lambda suffix: str(path.with_name(f"{name}{suffix}.py")), read)
    if len(found) == 1 and path.parent.name:
        others = _named(lambda suffix: str(path.parent.with_name(f"{folder}{suffix}") / path.name), read)
        if len(others) > 1 or (name == path.stem and folder != path.parent.name):
            found = others
    return found if any(each.target == target for each in found) else []


def _named(name_of: Callable[[str], str], read: ReadIncluded) -> list[_Variant]:
    """Return the variants that are there: with ``Annotated``, those beside them, and the others."""
    annotated, beside, others = list[_Variant](), list[_Variant](), list[_Variant]()
    for suffix, title in _VERSIONS.items():
        names = name_of(f"_an{suffix}"), name_of(suffix)
        first, second = map(read, names)
        if first is not None:
            annotated.append(_Variant(names[0], first, title))
        if second is not None and first is not None:
            beside.append(_Variant(names[1], second, f"{title} - non-Annotated", is_second=True))
        elif second is not None:
            others.append(_Variant(names[1], second, title))
    return [*annotated, *beside, *others]


def _excerpt(text: str, spec: str = "", *, with_omissions: bool = False) -> list[tuple[int, str]]:
    """Return the lines of some ranges with their numbers; a comment on what is left out has the number 0."""
    every = list(enumerate(text.splitlines(), start=1))
    if not spec:
        return every
    found, last = list[tuple[int, str]](), 0
    for first, last in line_ranges(spec, ":", len(every), alone_to_end=False):
        if with_omissions and (found or first > 1):
            found += [(0, ""), (0, _BETWEEN), (0, "")] if found else [(0, _ABOVE), (0, "")]
        found += every[max(first, 1) - 1 : last]
    if not any(number for number, _ in found):
        raise NoSuchPart(f"it has {len(every)} lines, none of which is in {spec!r}")
    return [*found, (0, ""), (0, _BELOW)] if with_omissions and last < len(every) else found


def _code(target: str, rest: str, excerpt: Sequence[tuple[int, str]]) -> str:
    """Return an excerpt as a code block; the directive counts the lines to mark in the whole file."""
    marked = _marked(rest)
    places = ",".join(str(place) for place, (number, _) in enumerate(excerpt, start=1) if number in marked)
    title = _TITLE.search(rest)
    info = language_of(target) + (f" {{{places}}}" if places else "")
    info += f' title="{title[2].strip()}"' if title else ""
    return fenced(info, "\n".join(line for _, line in excerpt))


def _marked(rest: str) -> frozenset[int]:
    """Return the numbers of the lines to mark."""
    found, numbers = _MARKED.search(rest), set[int]()
    with suppress(NoSuchPart):
        for first, last in line_ranges(found[1], ":", _MAX_LINE, alone_to_end=False) if found else ():
            numbers.update(range(first, last + 1))
    return frozenset(numbers - {0})


def _tab(variant: _Variant, code: str) -> str:
    tip = (
        "/// tip\n\nPrefer to use the `Annotated` version if possible.\n\n///\n\n"
        if variant.is_second
        else ""
    )
    return f"//// tab | {variant.title}\n\n{tip}{code}\n\n////"


def _folded(title: str, content: str) -> str:
    # It says almost what the code above says: in a search both would compete.
    return f"///// details | {title}\n    attrs: {{{SEARCH_EXCLUDED}: ''}}\n\n{content}\n\n/////"
