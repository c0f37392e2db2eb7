"""What the settings of a folder's tool say of which documents are published.

Nothing of them is run. Where they cannot be read, everything is private that they might keep so.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from ...pipeline.errors import RejectedDocument, SourceError, is_transient
from ...pipeline.filesystems.availability import briefly_away, is_empty_folder, real_path
from ...pipeline.filesystems.opening import is_address
from ...pipeline.includes.tool_folders import Tool, settings_folders, tools_of, written_and_real
from ...pipeline.navigation.literals import is_certain
from ...pipeline.navigation.script_imports import Script
from ...pipeline.parse.front_matter import read_front_matter
from ...pipeline.patterns import pattern_fault
from ...pipeline.settings.collection import Collection
from ...pipeline.settings.settings import Settings
from ...pipeline.untrusted import NotRead, as_text, read_regular, with_lower_keys
from ..run.retry import with_retries
from .exclusions import Exclusion, exclusions_of
from .mdbook_chapters import Book, books_of
from .tool_settings import MAX_BYTES, NotKnown, tables_at, tables_in, texts_of, unread

_HUGO_ENDINGS = ("toml", "yaml", "yml", "json")
_HUGO = tuple(
    f"{folder}{name}.{ending}"
    for folder in ("", "config/_default/", "config/production/")
    for name in ("hugo", "config", *(("cascade",) if folder else ()))
    for ending in _HUGO_ENDINGS
)
# Where it may be said which folders hold its content.
_OF_CONTENTS = (*_HUGO, *(f"config/_default/{n}.{e}" for n in ("languages", "module") for e in _HUGO_ENDINGS))
# The page of a folder of Hugo that holds no other page, in any language.
_OF_BUNDLE = re.compile(r"index(?:\.[\w-]+)?\.(?:md|markdown|html?|adoc|org|rst)", re.IGNORECASE)
_QUARTZ, _QUARTZ_FILTER, _QUARTZ_IGNORES = ("quartz.config.ts",), "ExplicitPublish", "ignorePatterns"
# What patterns of a shell have and those of .gitignore have not.
_OF_SHELL = re.compile(r"[{}|]|[@+?!*]\(|^!")
_JEKYLL, _DENDRON = ("_config.yml",), ("dendron.yml",)


@dataclass(frozen=True, slots=True)
class PublishingRules:
    """What holds for all documents of a collection.

    ``handed_down`` are tables of values that settings of Hugo, Jekyll or Dendron give to pages, in Hugo's
    form, of which the first counts. ``sections`` are the paths and front matter of Hugo's sections that may
    do so, known only where not all pages are at hand: a page's section may be in another shard. ``bundles``
    are the folders of Hugo of which all files belong to the one page there. With ``is_explicit`` only pages
    that say ``publish: true`` are published, and those that ``ignored`` matches never. Of what lies in
    ``books`` of mdBook, only chapters are. Where ``unread`` names a file, none is. ``exclusions`` are what
    lists of files in such settings leave out, of which ``remarks`` tell what could not be read. Where the
    settings are ``away`` for the moment nothing is known, and the collection fails; so it does if the folder
    ``is_empty``, as where nothing is mounted, and documents appear in it afterwards.
    """

    of_hugo: bool = False
    handed_down: tuple[Mapping[str, Any], ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    bundles: frozenset[str] = frozenset()
    is_explicit: bool = False
    ignored: tuple[str, ...] = ()
    books: tuple[Book, ...] = ()
    unread: str = ""
    away: SourceError | None = None
    exclusions: tuple[Exclusion, ...] = ()
    remarks: tuple[str, ...] = ()
    is_empty: bool = False


NO_RULES = PublishingRules()
Rules = tuple[tuple[str, PublishingRules], ...]
"""The rules of collections by their names, of which one may have two."""


def rules_of(settings: Settings, *, with_sections: bool = False) -> Rules:
    """Return the rules of each collection; the sections of Hugo where there are shards, or it is asked.

    A collection whose root links lead to may have two: what either keeps private is.
    """
    wanted, found = with_sections or settings.shards.wanted, list[tuple[str, PublishingRules]]()
    for name, collection in settings.collections.items():
        for rules in _retried(collection, with_sections=wanted):
            found += [(name, rules)] if (name, rules) not in found[-1:] else []
    return tuple(found)


def rules_then_and_now(before: Rules, settings: Settings, names: Set[str]) -> Rules:
    """Return the rules that were read before the documents, and those of now that differ.

    What either keeps private is: a page may have come with the setting that hides it. ``names`` are the
    collections to look at.
    """
    wanted = {name: each for name, each in settings.collections.items() if name in names}
    now = rules_of(settings.model_copy(update={"collections": wanted}))
    return (*before, *(each for each in now if each not in before))


def _retried(collection: Collection, *, with_sections: bool) -> list[PublishingRules]:
    """Return the rules of the folder as it is written, and as it is where links lead to it."""
    try:
        places = with_retries(partial(written_and_real, collection))
        return [with_retries(partial(_rules, each, with_sections=with_sections)) for each in places]
    except SourceError as error:
        return [PublishingRules(away=error)]


def _rules(collection: Collection, *, with_sections: bool) -> PublishingRules:
    """Return what is said in a collection's folder, above it, or in a folder that is read from."""
    if is_address(collection.root):
        return NO_RULES
    is_empty = is_empty_folder(collection.root)
    folders = settings_folders(collection)
    tools = tools_of(folders)
    try:
        found = _found(Path(collection.root), folders, tools, with_sections=with_sections)
        return replace(found, is_empty=is_empty)
    except OSError as error:
        if is_transient(error):
            raise briefly_away(error, collection.root) from error
        return PublishingRules("hugo" in tools, unread=collection.root)
    except NotKnown as fault:
        return PublishingRules("hugo" in tools, unread=str(fault))


def _found(root: Path, folders: Sequence[Path], tools: Set[Tool], *, with_sections: bool) -> PublishingRules:
    """Return the rules in these folders; raise ``NotKnown``, ``SourceError`` and ``OSError``."""
    hugo = tuple(_of_hugo(folders)) if "hugo" in tools else ()
    sections = tuple(_sections(root)) if with_sections and "hugo" in tools else ()
    jekyll = tuple(_of_jekyll(folders, root.name)) if "jekyll" in tools else ()
    dendron = tuple(_of_dendron(folders)) if "dendron" in tools else ()
    quartz = (
        [Script(each.text, each.name) for each in texts_of(folders, _QUARTZ)] if "quartz" in tools else []
    )
    left_out = exclusions_of(root, folders, tools)
    return PublishingRules(
        "hugo" in tools,
        hugo + jekyll + dendron,
        sections,
        frozenset(_bundles(root, folders)) if "hugo" in tools else frozenset(),
        any(script.names(_QUARTZ_FILTER) for script in quartz),
        tuple(pattern for script in quartz for pattern in _ignored(script)),
        books_of(root),
        exclusions=left_out.exclusions,
        remarks=left_out.remarks,
    )


def _of_hugo(folders: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of ``cascade`` in Hugo's settings, or in a file of that name beside them."""
    for name, values in tables_at(folders, _HUGO, "cascade"):
        given = with_lower_keys(values)
        is_own = Path(name).stem == "cascade" and "cascade" not in given
        found = given if is_own else given.get("cascade")
        yield from tables_in(found)


def _sections(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the front matter of each section that may hand something down."""
    for path in sorted(_below(root, "_index.")):
        name = path.relative_to(root).as_posix()
        try:
            text = read_regular(path, MAX_BYTES, root).decode("utf-8", "replace")
            if "cascade" in text.lower():
                yield name, read_front_matter(text, name).json
        except (OSError, NotRead) as error:
            raise unread(error, name) from error
        except RejectedDocument:
            continue  # such a section is quarantined, and hands nothing down


def _bundles(root: Path, folders: Sequence[Path]) -> Iterator[str]:
    """Yield the folders below a root that are leaf bundles of Hugo."""
    real = Path(real_path(root))
    for content in _contents(real, folders):
        paths = [path for path in _below(content, "index.") if _OF_BUNDLE.fullmatch(path.name)]
        yield from (str(path.parent.relative_to(real)) for path in paths if path.parent != content)


def _below(folder: Path, prefix: str) -> Iterator[Path]:
    """Yield what lies anywhere in a folder under a name that begins so; raise ``SourceError``.

    A search by pattern would say nothing of folders that are away for the moment.
    """

    def require_lasting(error: OSError) -> None:
        if is_transient(error):
            raise briefly_away(error, str(folder)) from error

    for place, folders, files in os.walk(folder, onerror=require_lasting):
        yield from (Path(place, name) for name in (*folders, *files) if name.startswith(prefix))


def _contents(root: Path, folders: Sequence[Path]) -> list[Path]:
    """Return where Hugo's pages may lie in a root: in ``content``, or anywhere if settings name folders.

    Documents of another tool may lie beside them, where a page ``index.md`` owns nothing.
    """
    if any(found.mentions("contentdir", "mounts") for found in texts_of(folders, _OF_CONTENTS)):
        return [root]
    of_hugo = [folder for folder in folders if "hugo" in tools_of([folder])]
    contents = [Path(real_path(folder)) / "content" for folder in of_hugo]
    is_within = any(map(root.is_relative_to, contents))
    return [root] if is_within else [each for each in contents if each.is_relative_to(root)]


def bundle_of(path: str, bundles: Set[str]) -> str:
    """Return the leaf bundle that a file belongs to without being its page; empty if it is in none."""
    if not bundles or _OF_BUNDLE.fullmatch(posixpath.basename(path)):
        return ""
    return next((each for each in map(str, PurePosixPath(path).parents) if each in bundles), "")


def _of_jekyll(folders: Sequence[Path], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the ``defaults`` of Jekyll, of which the most special count, and of these the last.

    Their paths may begin at the folder above the one of this name, where the settings may be.
    """
    settings = (values.get("defaults") for _, values in tables_at(folders, _JEKYLL, "defaults"))
    given = [each for defaults in settings if isinstance(defaults, list) for each in tables_in(defaults)]
    scopes = [(each.get("scope"), each.get("values")) for each in given]
    tables = [(scope if isinstance(scope, dict) else {}, values) for scope, values in scopes]
    plain = [
        (as_text(scope.get("path")) or "", as_text(scope.get("type")) or "", values)
        for scope, values in tables
        if isinstance(values, dict)
    ]
    for scope, kind, values in sorted(plain, key=lambda each: (len(each[0]), bool(each[1])))[::-1]:
        path = scope.strip("/").removeprefix(f"{name}/")
        yield {**values, "target": {"path": f"/{path}" if path not in ("", name) else "**", "type": kind}}


def _of_dendron(folders: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
    """Yield whether the notes of a hierarchy are published that do not say it, those of ``root`` last."""
    for _, values in tables_at(folders, _DENDRON, "publishByDefault"):
        sections = (values.get("publishing"), values.get("site"))
        given = (
            each.get(key) for each in sections if isinstance(each, dict) for key in ("hierarchy", "config")
        )
        tables = [table for table in given if isinstance(table, dict)]
        named = {as_text(key) or "": each for table in tables for key, each in table.items()}
        for name in sorted(named, key=lambda name: name == "root"):
            default = named[name].get("publishByDefault") if isinstance(named[name], dict) else None
            is_public = all(default.values()) if isinstance(default, dict) else default
            if is_public is not None:
                path = "**" if name == "root" else f"{name}.*"
                yield {"published": bool(is_public), "target": {"path": path}}


def _ignored(script: Script) -> Iterator[str]:
    """Yield the patterns of files that Quartz passes over; raise ``NotKnown`` for those not understood.

    They begin at the top of its folder of pages, which may be ``content`` in the collection's.
    """
    given = script.value
    configuration = given.get("configuration") if isinstance(given, dict) else None
    patterns = configuration.get(_QUARTZ_IGNORES) if isinstance(configuration, dict) else None
    is_whole = isinstance(patterns, list) and is_certain(configuration, _QUARTZ_IGNORES)
    for each in [*(patterns if isinstance(patterns, list) else ()), *([] if is_whole else [None])]:
        if isinstance(each, str) and not pattern_fault(each) and not _OF_SHELL.search(each):
            path = each.removeprefix("./").lstrip("/")
            yield from (f"/{path}", f"/content/{path}")
        elif script.names(_QUARTZ_IGNORES):
            raise NotKnown(f"{_QUARTZ_IGNORES} of {_QUARTZ[0]}")
