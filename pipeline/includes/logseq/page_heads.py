"""The head of a page of a Logseq graph: its properties and its name, as front matter.

A page is named by ``title::``, or by its file: ``a___b.md`` is ``a/b``, and ``journals/2024_01_05.md`` the
day as the graph writes it, which is how links name it.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote

from ...visibility import FALSE
from ..fences import fences_of
from ..front_matter_blocks import FoundBlock, find_block
from ..parts import Literal
from ..project import Context

# Logseq keeps these for itself and shows them on no page.
HIDDEN_PROPERTIES = (
    r"collapsed|id|icon|public|filters|exclude-from-graph-view|heading|background-(?:color|image)|created-at"
    r"|updated-at|created_at|last_modified_at|template|template-including-parent|ls-type|file-path"
    r"|query-(?:table|properties|sort-by|sort-desc)|(?:card|hl|logseq)[-.][\w.-]{1,40}"
)
_KEY = r"[^\W\d_][\w.?/-]{0,60}"
# Where the first block ends, and the property in it that keeps a page from being published.
_FIRST_BLOCK = re.compile(r"\s*(?:[-*+][ \t])?")
_NEXT_BLOCK = re.compile(r"^[-*+][ \t]", re.MULTILINE)
_PUBLIC = re.compile(
    r"^[ \t]*+(?:[-*+][ \t]++)?public::[ \t]++(?:\[\[)?(?P<value>\w+)(?:\]\])?[ \t]*+$",
    re.IGNORECASE | re.MULTILINE,
)
# The same in front matter, also in one that cannot be read.
_PUBLIC_KEY = re.compile(
    r"^[ \t]*+[\"']?public[\"']?[ \t]*:[ \t]*[\"']?(?P<value>\w+)", re.IGNORECASE | re.MULTILINE
)
_PRIVATE = {"published": False}
_HEAD = re.compile(
    rf"(?:-[ \t]+)?{_KEY}::(?:[ \t][^\n]*)?(?:\n|\Z)(?:[ \t]*{_KEY}::(?:[ \t][^\n]*)?(?:\n|\Z)){{0,200}}"
)
_PROPERTY = re.compile(rf"^(?:-[ \t]+)?[ \t]*(?P<key>{_KEY})::[ \t]*(?P<value>[^\n]*)$", re.MULTILINE)
_IS_HIDDEN = re.compile(HIDDEN_PROPERTIES)
_NAME = re.compile(r"\s*#?\[\[(?P<linked>[^\[\]\n]{1,300})\]\]|(?P<plain>[^,，]+)")
_DAY = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)")
_TOKEN = re.compile(r"yyyy|yy|MMMM|MMM|MM|M|do|dd|d|EEEE|EEE|E|'[^']*'")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKENS: Mapping[str, Callable[[datetime.date], str]] = {
    "yyyy": lambda day: f"{day.year:04}",
    "yy": lambda day: f"{day.year % 100:02}",
    "MMMM": lambda day: _MONTHS[day.month - 1],
    "MMM": lambda day: _MONTHS[day.month - 1][:3],
    "MM": lambda day: f"{day.month:02}",
    "M": lambda day: str(day.month),
    "do": lambda day: f"{day.day}{_ordinal(day.day)}",
    "dd": lambda day: f"{day.day:02}",
    "d": lambda day: str(day.day),
    "EEEE": lambda day: _DAYS[day.weekday()],
    "EEE": lambda day: _DAYS[day.weekday()][:3],
    "E": lambda day: _DAYS[day.weekday()][:3],
}


def page_head(text: str, context: Context) -> Literal:
    """Return what stands for the properties at the head of a page; its own front matter stays as it is.

    That of a page which is not public says only this.
    """
    found = find_block(text)
    block = found if found is not None and found.is_any else None
    is_private = _is_private(text, block)
    if block is not None:
        return Literal(0, block.end or 0, _front_matter(_PRIVATE)) if is_private else Literal(0, 0, "")
    return _properties(text, context, _PRIVATE if is_private else {})


def _properties(text: str, context: Context, added: Mapping[str, object]) -> Literal:
    """Return what stands for the properties at the head of a page, and a name for one that has none."""
    found = _HEAD.match(text)
    given = [*_PROPERTY.finditer(found[0])] if found else []
    values = {each["key"].lower(): each["value"].strip() for each in given}
    front: dict[str, object] = {
        "title": _plain(values.get("title", "")) or _title(context),
        "aliases": _names(values.get("alias", "")),
        "tags": _names(values.get("tags", "")),
        **added,
    }
    head = _front_matter({key: value for key, value in front.items() if value not in ("", [])})
    return Literal(0, found.end() if found else 0, head + "".join(_shown(values)))


def _front_matter(values: Mapping[str, object]) -> str:
    return f"---json\n{json.dumps(values)}\n---\n"


def _is_private(text: str, block: FoundBlock | None) -> bool:
    """Return whether front matter or a property of the first block says that the page is not public."""
    start = block.end or 0 if block else 0
    first = _FIRST_BLOCK.match(text, start)
    end = _NEXT_BLOCK.search(text, first.end() if first else start)
    said = _PUBLIC.finditer(text, start, end.start() if end else len(text))
    found = [each.start() for each in said if each["value"].lower() in FALSE]
    keys = _PUBLIC_KEY.finditer(block.head if block else "")
    if any(each["value"].lower() in FALSE for each in keys):
        return True
    return bool(found) and not all(map(fences_of(text).hold, found))


def _shown(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the properties that readers see as lines, and the end of their paragraph."""
    taken = {"title", "alias", "tags"}
    lines = [
        f"**{key}:** {value}  \n"
        for key, value in values.items()
        if value and key not in taken and not _IS_HIDDEN.fullmatch(key)
    ]
    yield from [*lines, "\n"] if lines else []


def _names(value: str) -> list[str]:
    """Return the names of pages that a property lists."""
    found = ((each["linked"] or each["plain"]).strip().removeprefix("#") for each in _NAME.finditer(value))
    return [name for name in found if name]


def _plain(title: str) -> str:
    return title.removeprefix("[[").removesuffix("]]").strip()


def _title(context: Context) -> str:
    """Return the name that Logseq gives a page by its file."""
    path = PurePosixPath(context.path)
    day = _DAY.fullmatch(path.stem) if path.parent.name == "journals" else None
    if day and (date := _date(*map(int, day.groups()))):
        title_format = context.project.site.get("title_format")
        return day_title(date, title_format if isinstance(title_format, str) else "")
    return unquote(path.stem.replace("___", "/"))


def day_title(day: datetime.date, title_format: str) -> str:
    """Return the title of a day's page in a format of Logseq's."""
    return _TOKEN.sub(
        lambda found: _TOKENS[found[0]](day) if found[0] in _TOKENS else found[0][1:-1], title_format
    )


def _ordinal(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None
