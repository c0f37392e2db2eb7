"""Front matter: YAML, TOML or JSON at the head of a document, validated and read into a few known keys."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import yaml

from ..errors import RejectedDocument
from ..identity import canonical_json
from ..includes.front_matter_blocks import MAX_CHARS, FoundBlock, find_block
from ..untrusted import read_toml
from .dates import day_of
from .drafts import draft_of, twice

MAX_DEPTH = 16
# Begins what is said of a block that cannot be read.
FAULTY = "front matter"

# "title: Actions: an introduction" is no YAML; some tools read it line by line, and its meaning is plain.
_PLAIN_COLON = re.compile(r"^([\w-]+:[ \t]+)([^\s\"'\[{|>&*!%@`#-][^\n]*?:[ \t][^\n]*)$", re.MULTILINE)
_BLANKS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]+")
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DATE_KEYS = (
    "date", "updated", "modified", "last_modified", "last-modified", "lastmod", "lastupdated", "last_update",
)  # fmt: skip


@dataclass(frozen=True)
class FrontMatter:
    """What the block says; ``end`` is the offset at which the text after it begins.

    ``draft`` is the key and value that keep the document from being published, empty if there is none, and
    ``fault`` what is wrong with a block that could not be read.
    """

    end: int = 0
    title: str = ""
    description: str = ""
    author: str = ""
    language: str = ""
    slug: str = ""
    draft: str = ""
    modified: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    json: str = "{}"
    fault: str = ""


NONE = FrontMatter()


def read_front_matter(text: str, where: str, *, is_plain: bool = False) -> FrontMatter:
    """Return the front matter at the start of ``text``, or an empty one if there is none.

    In a plain text what is never closed is text, unless it may say that the document is private.

    A block that is invalid, too big or too deep, YAML that uses anchors, aliases or tags, and a known
    key with a value of the wrong shape are a ``fault``, with the line. Raises ``RejectedDocument``
    where such a block may say that the document is private, and for one that is never closed.
    """
    found = find_block(text)
    if found is None or not found.is_any:
        return NONE
    if found.end is None:
        if not (found.may_hide or (found.is_sure and not is_plain)):
            return NONE
        raise _fault(f"the block of {found.kind.upper()} is never closed", where, max(1, found.line - 1))
    if found.is_empty:
        return FrontMatter(end=found.end)
    try:
        return _READERS[found.kind](found, where).read(found.end)
    except RejectedDocument as fault:
        if found.may_hide:
            raise
        if not found.is_sure:
            return NONE
        return FrontMatter(end=found.end, fault=f"{fault.what}; the document is indexed without it")


def _quoted(found: re.Match[str]) -> str:
    escaped = found[2].rstrip().replace("\\", "\\\\").replace('"', '\\"')
    return f'{found[1]}"{escaped}"'


def _fault(what: str, where: str, line: int) -> RejectedDocument:
    return RejectedDocument(
        f"{FAULTY}, line {line}: {what}", where=where, hint="Fix that line, or remove the block."
    )


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Reads YAML, and no block that says twice whether its document is private."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if both := twice(keys):
            raise yaml.MarkedYAMLError(problem=f"{both} is there twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


class _Block:
    """The lines between the fences, for reading and for errors that name a line."""

    def __init__(self, found: FoundBlock, where: str) -> None:
        self.head, self.line, self.where = found.head, found.line, where

    def read(self, end: int) -> FrontMatter:
        if len(self.head) > MAX_CHARS:
            raise _fault(f"more than {MAX_CHARS} characters", self.where, 1)
        values = self._load()
        return FrontMatter(
            end=end,
            title=self._text(values, "title", is_prose=True),
            description=self._text(values, "description", "summary", "desc", is_prose=True),
            author=self._names(values, "author", "authors"),
            language=self._text(values, "language", "lang"),
            slug=self._text(values, "slug"),
            draft=draft_of(values),
            modified=_latest(values),
            tags=tuple(tag.lstrip("#") for tag in self._list(values, "tags", splits=r"[,\s]+")),
            aliases=self._list(values, "aliases", "alias", splits=","),
            keywords=self._list(values, "keywords", splits=","),
            json=self._json(values),
        )

    def _load(self) -> dict[str, Any]:
        try:
            return self._loaded(self.head)
        except RejectedDocument as fault:
            quoted = _PLAIN_COLON.sub(_quoted, self.head)
            if quoted == self.head:
                raise
            try:
                return self._loaded(quoted)
            except RejectedDocument:
                raise fault from None

    def _loaded(self, head: str) -> dict[str, Any]:
        try:
            self._check_events(head)
            values = yaml.load(head, Loader=_Loader)  # noqa: S506 - a safe loader, named above
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + self.line if error.problem_mark else 1
            raise _fault(str(error.problem or error.context), self.where, line) from None
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            raise _fault(f"not YAML: {str(error).splitlines()[0]}", self.where, 1) from None
        if not isinstance(values, dict):
            raise _fault("not a list of `key: value`", self.where, self.line)
        return {str(key): _plain(value) for key, value in values.items()}

    def _check_events(self, head: str) -> None:
        # Before anything is built, so that an alias bomb or deep nesting costs nothing.
        depth = 0
        for event in yaml.parse(head, Loader=_Loader):
            line = event.start_mark.line + self.line if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise _fault("anchors and aliases are not read", self.where, line)
            if tag := getattr(event, "tag", None):
                raise _fault(f"the tag {tag} is not read", self.where, line)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _fault(f"nested deeper than {MAX_DEPTH}", self.where, line)

    def _first(self, values: Mapping[str, Any], *keys: str) -> tuple[str, Any]:
        given = {key.lower(): key for key in reversed(tuple(values))}
        for key in keys:
            if key in given and values[given[key]] not in (None, "", []):
                return given[key], values[given[key]]
        return "", None

    def _text(self, values: Mapping[str, Any], *keys: str, is_prose: bool = False) -> str:
        key, value = self._first(values, *keys)
        if isinstance(value, dict | list):
            raise self._shape(key, "one value")
        text = "" if value is None else str(value)
        # Most tools put it into their pages as it stands, so that authors write "&mdash;" there.
        return one_line(unescape(text) if is_prose else text)

    def _list(self, values: Mapping[str, Any], *keys: str, splits: str) -> tuple[str, ...]:
        key, value = self._first(values, *keys)
        is_list = isinstance(value, list)
        items = [_label(each) for each in value] if is_list else re.split(splits, str(value or ""))
        if isinstance(value, dict) or any(isinstance(each, dict | list) for each in items):
            raise self._shape(key, "a flat list")
        return unique(one_line(str(item)) for item in items if item is not None)

    def _names(self, values: Mapping[str, Any], *keys: str) -> str:
        key, value = self._first(values, *keys)
        people = value if isinstance(value, list) else [value]
        names = [person.get("name") if isinstance(person, dict) else person for person in people]
        if any(isinstance(name, dict | list) for name in names):
            raise self._shape(key, "a name or a list of names")
        return ", ".join(unique(one_line(str(name)) for name in names if name is not None))

    def _shape(self, key: str, shape: str) -> RejectedDocument:
        found = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*[:=]", self.head, re.MULTILINE)
        line = self.head.count("\n", 0, found.start()) + self.line if found else 1
        return _fault(f"{key} must be {shape}", self.where, line)

    def _json(self, values: Mapping[str, Any]) -> str:
        written = canonical_json(values)
        try:
            written.encode()
        except UnicodeEncodeError:
            raise _fault("half of a surrogate pair is not a character", self.where, 1) from None
        return written


class _Toml(_Block):
    """The lines between the fences of TOML."""

    def _load(self) -> dict[str, Any]:
        try:
            values = read_toml(self.head)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            found = re.search(r"\(at line (\d+)", str(error))
            line = int(found[1]) + self.line - 1 if found else 1
            raise _fault(f"not TOML: {str(error).splitlines()[0]}", self.where, line) from None
        _check_depth(values, self.where)
        return {key: _plain(value) for key, value in values.items()}


class _Json(_Block):
    """The object in braces that Hugo reads, and what stands between dashes that name it."""

    def _load(self) -> dict[str, Any]:
        try:
            values = json.loads(self.head, object_pairs_hook=_told_once)
        except json.JSONDecodeError as error:
            line = self.line + error.lineno - 1
            raise _fault(f"not JSON: {error.msg}", self.where, line) from None
        except (ValueError, RecursionError) as error:
            raise _fault(f"not JSON: {str(error).splitlines()[0]}", self.where, self.line) from None
        if not isinstance(values, dict):
            raise _fault("not an object of keys and values", self.where, self.line)
        _check_depth(values, self.where)
        return {key: _plain(value) for key, value in values.items()}


def _told_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if both := twice([key for key, _ in pairs]):
        raise ValueError(f"{both} is there twice")
    return dict(pairs)


_READERS = {"yaml": _Block, "toml": _Toml, "json": _Json}


def _label(item: Any) -> Any:
    """Return the text of a tag that is written as an object (Docusaurus), any other item as it is."""
    return item["label"] if isinstance(item, dict) and isinstance(item.get("label"), str) else item


def _check_depth(value: Any, where: str, depth: int = 1) -> None:
    if depth > MAX_DEPTH:
        raise _fault(f"nested deeper than {MAX_DEPTH}", where, 1)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(item, where, depth + 1)


def _plain(value: Any) -> Any:
    """Return the value as JSON can hold it: dates as ISO strings, keys as strings, infinities by name."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value


def _latest(values: Mapping[str, Any]) -> str | None:
    given = [value for key, value in values.items() if key.lower() in _DATE_KEYS]
    # Docusaurus says there too who changed it.
    days = [day_of(value.get("date") if isinstance(value, dict) else value) for value in given]
    return max((day for day in days if day), default=None)


def one_line(text: str) -> str:
    """Return the text on one line, white space and control characters folded to single spaces."""
    return _BLANKS.sub(" ", text).strip()


def unique(items: Any) -> tuple[str, ...]:
    """Return the distinct non-empty items, in order of first appearance."""
    return tuple(dict.fromkeys(item for item in items if item))
