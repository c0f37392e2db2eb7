"""Versions side by side: each in a site of its own below one folder, which lists them for pages' menus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from shutil import copyfile, copystat

from ...artifacts.disk import durable, folders
from ...pipeline.errors import SourceError
from ...pipeline.settings.site import VERSION_NAME, Site
from .. import urls
from ..build import refuse_other_content
from ..incremental.previous import previous_site
from ..incremental.staging_folders import abandon, new_stage, replacing

# As mike writes it, for tools that read it; and the same as a script, for pages on a disk may fetch nothing.
LIST, SCRIPT = "versions.json", "versions.js"
_MAX_BYTES = 1_000_000
_PART = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """A version and the other names under which its site can be read."""

    version: str
    aliases: tuple[str, ...] = ()


def site_of_version(settings: Site) -> Site:
    """Return the settings of the version's own site; its address is that of its first alias, if any."""
    if not settings.version or not settings.base_url:
        return settings
    name = settings.aliases[0] if settings.aliases else settings.version
    return settings.model_copy(update={"base_url": f"{settings.base_url.rstrip('/')}/{name}"})


def require_room_for_versions(folder: Path) -> None:
    """Raise ``SourceError`` unless the folder is empty, absent or one of versions."""
    if (folder / LIST).is_file():
        return
    if (folder / urls.MARKER).exists():
        raise SourceError(
            "this folder holds a site without versions, which the list of versions would overwrite",
            where=str(folder),
            hint="Choose another folder, or remove the site and build it as a version.",
        )
    refuse_other_content(folder)


def add_version(folder: Path, settings: Site) -> tuple[ListedVersion, ...]:
    """Add the version that was just built to the list; return all whose sites are there, newest first.

    Its aliases are copies of its site: files have a second name where the file system can. An alias that
    another version had is taken from it. Raises ``SourceError`` if an alias is the name of something else.
    """
    version, aliases = settings.version, settings.aliases
    for alias in aliases:
        refuse_other_content(folder / alias)
        _copy_site(folder / version, folder / alias)
    taken = {version, *aliases}
    others = [
        ListedVersion(each.version, tuple(alias for alias in each.aliases if alias not in taken))
        for each in read_versions(folder)
        if each.version not in taken
    ]
    before = {alias for each in read_versions(folder) if each.version == version for alias in each.aliases}
    kept = tuple(sorted(name for name in before - set(aliases) if _is_site(folder / name)))
    for alias in kept:
        _copy_site(folder / version, folder / alias)
    known = sorted([*others, ListedVersion(version, (*aliases, *kept))], key=_newness, reverse=True)
    found = tuple(each for each in known if _is_site(folder / each.version))
    with replacing(folder) as put:
        for name, content in (*_lists(found), _pages(folder, version)):
            put(folder / name, content)
    return found


def read_versions(folder: Path) -> tuple[ListedVersion, ...]:
    """Return the versions that the folder's list names; none if there is no sound list."""
    try:
        with (folder / LIST).open("rb") as file:
            given = json.loads(file.read(_MAX_BYTES))
        rows = [(str(each["version"]), tuple(map(str, each["aliases"]))) for each in given]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()
    named = (ListedVersion(version, aliases) for version, aliases in rows)
    return tuple(each for each in named if all(map(VERSION_NAME.fullmatch, (each.version, *each.aliases))))


def _newness(edition: ListedVersion) -> tuple[bool, tuple[tuple[int, int, str], ...]]:
    """Return a key that sorts 1.10 after 1.9, 2.0rc1 before 2.0, and names such as main last."""
    parts = _PART.findall(edition.version.lstrip("vV"))
    keys = tuple((1, int(part), "") if part.isdecimal() else (-1, 0, part) for part in parts)
    return (not parts or not parts[0].isdecimal(), (*keys, (0, 0, "")))


def _is_site(folder: Path) -> bool:
    return (folder / urls.MARKER).is_file()


def _lists(editions: Sequence[ListedVersion]) -> Iterator[tuple[str, bytes]]:
    rows: list[Mapping[str, object]] = [
        {"version": each.version, "title": each.version, "aliases": list(each.aliases)} for each in editions
    ]
    yield LIST, (json.dumps(rows, indent=2) + "\n").encode()
    yield SCRIPT, f"window.noctuleVersions = {json.dumps(rows)};\n".encode()
    yield urls.HOME, _leading_on(default_name(editions)).encode()


def _pages(folder: Path, version: str) -> tuple[str, bytes]:
    """Return the list of the version's pages, as a script that other versions load when asked to switch."""
    with previous_site(folder / version) as site:
        pages = sorted(path for path in site.by_path if path.endswith(".html"))
    listed = f"{json.dumps(version)}: {json.dumps(pages, ensure_ascii=False)}"
    script = f"window.noctulePages = Object.assign(window.noctulePages || {{}}, {{{listed}}});\n"
    return f"pages-{version}.js", script.encode()


def default_name(editions: Sequence[ListedVersion]) -> str:
    """Return the name that the folder's front page leads to: ``latest``, an alias, or the newest version."""
    aliases = [alias for each in editions for alias in each.aliases]
    numbered = [each.version for each in editions if _newness(each) < (True, ())]
    return "latest" if "latest" in aliases else [*aliases, *numbered, editions[0].version][0]


def _leading_on(name: str) -> str:
    address = escape(f"{urls.encoded(name)}/index.html")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="refresh" content="0; url={address}">\n<title>{escape(name)}</title>\n'
        f'</head>\n<body>\n<p><a href="{address}">{escape(name)}</a></p>\n</body>\n</html>\n'
    )


def _copy_site(source: Path, target: Path) -> None:
    """Put a copy of the site in the target's place in one step."""
    staged = new_stage(target)
    try:
        for path in sorted(source.rglob("*")):
            _copy(path, staged / path.relative_to(source))
        folders.swap_directory(staged, target)
    except BaseException:
        abandon(staged)
        raise


def _copy(path: Path, target: Path) -> None:
    with durable.refusals(target):
        if path.is_dir():
            durable.make_directory(target)
        # The marker's time is changed by later builds, and each site has its own.
        elif path.name == urls.MARKER or not durable.link(path, target):
            copyfile(path, target)
            copystat(path, target)
