"""Vaults of notes against the rules of the tools that publish them: which notes, and where links lead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from .comparison import Difference, Result, dead_links
from .page_parts import Page

_FRONT = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
_CODE = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->|%%.*?%%", re.DOTALL)
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
# In Dendron the text comes first, and the name of a vault may stand before the note's.
_DENDRON_LINK = re.compile(
    r"(?<!!)\[\[(?:[^\[\]|\n]*\|)?(?:dendron://[^/\[\]\n]*/)?([^\[\]|#\n]+)(?:#[^\[\]\n]*)?\]\]"
)


def check_foam(docs: Path, ours: Mapping[str, Page]) -> Result:
    """Jekyll publishes every page but those below ``_folders``; a wikilink names a file's last parts."""
    files = {file.relative_to(docs).with_suffix("").as_posix(): file for file in sorted(docs.rglob("*.md"))}
    shown = {name: file for name, file in files.items() if not re.search(r"(^|/)[_.]", name)}
    return _checked("foam", shown, {}, ours)


def check_dendron(vault: Path, ours: Mapping[str, Page]) -> Result:
    """Dendron publishes the notes of ``siteHierarchies`` without ``published: false`` or ``publish: false``.

    A wikilink is a note's whole name; the page of ``siteIndex`` is the home page.
    """
    publishing = yaml.safe_load((vault.parent / "dendron.yml").read_text("utf-8"))["publishing"]
    heads, home = publishing["siteHierarchies"], publishing["siteIndex"]
    files = {file.stem: file for file in sorted(vault.glob("*.md"))}
    private = {n for n, f in files.items() if False in (_front(f).get("published"), _front(f).get("publish"))}
    shown = {name for name in files if name.partition(".")[0] in heads} - private
    named = {name: "index" if name == home else name for name in files}
    return _checked(
        "dendron",
        {named[name]: file for name, file in files.items() if name in shown},
        {named[name]: file for name, file in files.items() if name not in shown},
        ours,
        _DENDRON_LINK,
    )


def _checked(
    site: str,
    shown: Mapping[str, Path],
    hidden: Mapping[str, Path],
    ours: Mapping[str, Page],
    wikilink: re.Pattern[str] = _WIKILINK,
) -> Result:
    result = Result(site)
    pages = {_key(name): page for name, page in ours.items()}
    missing = [name for name in shown if _key(name) not in pages]
    leaked = [name for name in hidden if _key(name) in pages]
    result.count("pages", len(shown) - len(missing), len(shown) + len(leaked))
    result.differences += [Difference(name, "page", "is published", "is not") for name in missing]
    result.differences += [Difference(name, "page", "is private", "is published") for name in leaked]
    for name, file in shown.items():
        if page := pages.get(_key(name)):
            result.differences += _links(
                result, name, wikilink.findall(_CODE.sub("", _body(file))), page, set(map(_key, shown))
            )
    return result


def _links(
    result: Result, name: str, links: Sequence[str], page: Page, known: set[str]
) -> Iterator[Difference]:
    """Compare the notes that a note's wikilinks name with where its page's links lead."""
    wanted = {_key(found.strip().removesuffix(".md")) for found in links}
    stems = {key.rsplit("/", 1)[-1] for key in known}
    wanted = {target.rsplit("/", 1)[-1] for target in wanted} & stems
    led = {_key(Path(link.partition("#")[0]).name.removesuffix(".html")) for link in page.links}
    led |= {_key(Path(link.partition("#")[0]).parent.name) for link in page.links if "index.html" in link}
    missing = sorted(wanted - led - {_key(name).rsplit("/", 1)[-1]})
    result.count("links", len(wanted) - len(missing), len(wanted))
    for target in missing:
        yield Difference(name, "links", target, "")
    for link in dead_links(page):
        result.counts["broken"] += 1
        yield Difference(name, "broken", "", link)
    for text in page.prose:
        if re.search(r"\[\[[^\]]+\]\]|\{%.*?%\}|%%", text):
            result.counts["raw"] += 1
            yield Difference(name, "raw", "", text)


def _key(name: str) -> str:
    """Return a note's name as both sides write it; Dendron's dots may be folders on a site."""
    return re.sub(r"(^|/)index$", "", name.lower()).strip("/")


def _front(file: Path) -> dict[str, object]:
    found = _FRONT.match(file.read_text("utf-8"))
    read = yaml.safe_load(found[1]) if found else {}
    return read if isinstance(read, dict) else {}


def _body(file: Path) -> str:
    return _FRONT.sub("", file.read_text("utf-8"))
