"""Which tool a folder was written for, and what of its settings has a place here."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ...pipeline.errors import SourceError
from ...pipeline.includes.tool_folders import HUGO_SETTINGS, OF_HUGO
from ...pipeline.navigation.summary import read_summary
from ...pipeline.printable import printable
from ...pipeline.untrusted import NotRead, is_within, read_toml, read_yaml
from .docusaurus import docusaurus
from .hugo import hugo
from .imported_settings import MARKDOWN, ImportedSettings, set_order
from .mkdocs import mkdocs
from .myst import is_jupyter_book, jupyter_book, myst
from .scripts import mintlify, starlight, vitepress, vuepress
from .sphinx import sphinx
from .tool_file import MAX_BYTES, ToolFile, as_table, as_text, project_of, texts_of
from .vaults import dendron, logseq, obsidian, quartz

_MAX_DEPTH, _MAX_FOLDERS = 3, 2_000
# Of Jekyll: pages only if they have front matter.
_ABOUT_THE_PROJECT = frozenset(["readme", "license", "licence", "copying", "code_of_conduct", "contributing"])
# Also of Jekyll: how many files of HTML are looked at, and how one begins to list posts or data.
_MAX_HTML = 500
_LISTS = re.compile(rb"\{%-?\s*(?:for|tablerow)\s")
_OF_PATTERNS = set("*?[]!#\\{}")
# A project with a site in each language has mkdocs.en.yml; themes have mkdocs_theme.yml.
_VARIANT = re.compile(r"(mkdocs|zensical|properdocs)[.-][\w-]+(\.ya?ml|\.toml)")
_PASSED_OVER = {"node_modules", "venv", "build", "dist", "public", "_site", "target"}

# Of mdBook: what they do to pages, pages here have anyway.
_PREPROCESSORS = {"admonish", "alerts", "callouts", "emojicodes", "index", "katex", "links"}

# Nesting without end, in a hostile file, costs a parser the memory or the stack that it may have.
_UNREADABLE = (
    OSError,
    NotRead,
    tomllib.TOMLDecodeError,
    SyntaxError,
    ValueError,
    MemoryError,
    RecursionError,
)


def read_tool(path: Path) -> ImportedSettings:
    """Return what can be imported from the tool whose folder, or settings file, this is.

    Raises ``SourceError`` if it is none that is known, or its file cannot be read.
    """
    project = project_of(path)
    for config in [path] if not path.is_dir() else chain(_candidates(path), _above(path, project)):
        for names, reader in _TOOLS:
            if _VARIANT.sub(r"\1\2", config.name) in names and _belongs(config, reader):
                try:
                    found = reader(ToolFile(config, project))
                    if config.is_relative_to(path) or is_within(path, found.root):
                        return found
                except _UNREADABLE as error:
                    reason = " ".join(str(error).split())[:200] or type(error).__name__
                    raise SourceError(
                        f"the settings cannot be read: {printable(reason)}",
                        where=str(config),
                        hint="Fix the file, or begin with: noctule init",
                    ) from None
    raise SourceError(
        "no settings of a known tool are in this folder",
        where=str(path),
        hint=f"Its documents can be indexed as they are: noctule index {shlex.quote(printable(str(path)))}. "
        f"For settings of your own, run noctule init there. Known tools: {', '.join(_KNOWN)}",
    )


def _belongs(config: Path, reader: Callable[[ToolFile], ImportedSettings]) -> bool:
    """Return whether a file of a name that others use too is this tool's."""
    if reader in (vitepress, vuepress):
        folder = config.parent.parent if config.stem == "index" else config.parent
        return folder.name == (".vitepress" if reader is vitepress else ".vuepress")
    if reader is jupyter_book:
        return is_jupyter_book(config)
    if reader is hugo:
        is_own = config.suffix == ".toml" or config.stem == "hugo" or config.parent.name == "_default"
        return is_own or OF_HUGO.search(_head(config)) is not None
    if reader is logseq:
        return (config / "config.edn").is_file()
    return reader is not mintlify or b'"navigation"' in _head(config)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""


def _candidates(top: Path) -> Iterator[Path]:
    """Yield files and folders that tools know their folders by, those nearest to the top first."""
    level, looked = [top], 0
    for _ in range(_MAX_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:  # a folder that may not be read holds nothing that could be imported
                continue
            yield from _settings_among(folder, {entry.name for entry in entries})
            below += [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and (not entry.name.startswith(".") or entry.name in (".vitepress", ".vuepress"))
                and entry.name not in _PASSED_OVER
            ]
            looked += 1
            if looked > _MAX_FOLDERS:
                return
        level = below


def _settings_among(folder: Path, here: set[str], known: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the settings of a folder that holds these names: a tool's own name first, and English first."""
    yield from (folder / name for name in known or SETTINGS_NAMES if name in here)
    variants = [name for name in here if _VARIANT.fullmatch(name)]
    yield from (folder / name for name in sorted(variants, key=lambda name: (".en." not in name, name)))


def _mdbook(config: ToolFile) -> ImportedSettings:
    given = read_toml(config.text())
    book, html = as_table(given.get("book")), as_table(as_table(given.get("output")).get("html"))
    found = ImportedSettings("mdBook", config, config.beside(book.get("src"), "src"))
    found.site(book, title="title", description="description", language="language")
    if isinstance(html.get("edit-url-template"), str):
        below = found.root.name + "/{path}"
        found.take(
            "site", "edit_url", html["edit-url-template"].replace("{path}", below), "edit-url-template"
        )
    summary = found.root / "SUMMARY.md"
    entries = read_summary(config.text(summary)).entries if summary.exists() else ()
    first = posixpath.normpath(entries[0].target) if entries and entries[0].target else ""
    found.take("site", "home", first, "the first chapter of SUMMARY.md")
    if entries:  # mdBook makes no page of it
        set_order(found, summary)
        found.exclude = ["SUMMARY.md"]
    found.take("site", "redirects", texts_of(html.get("redirect")), "output.html.redirect")
    theme = config.folder / (as_text(html.get("theme")) or "theme")
    icon = next((name for name in ("favicon.svg", "favicon.png") if (theme / name).is_file()), "")
    found.take_image("favicon", icon, f"theme/{icon}", theme)
    found.repository = as_text(html.get("git-repository-url"))
    preprocessors = as_table(given.get("preprocessor")).keys() - _PREPROCESSORS
    found.left += [f"the preprocessor {name}" for name in sorted(preprocessors)]
    found.left += [f"output.html.{key}" for key in ("additional-css", "additional-js") if html.get(key)]
    return found


def _jekyll(config: ToolFile) -> ImportedSettings:
    given = as_table(read_yaml(config.text()))
    found = ImportedSettings("Jekyll", config, config.folder, include=[*MARKDOWN])
    title = "title" if given.get("title") else "name"
    found.site(given, title=title, description="description", language="lang")
    if isinstance(given.get("url"), str):
        found.take(
            "site", "base_url", given["url"].rstrip("/") + as_text(given.get("baseurl")), "url, baseurl"
        )
    found.take_image("logo", given.get("logo"), "logo", config.folder)
    found.take_image("favicon", given.get("favicon_ico"), "favicon_ico", config.folder)
    found.leave_out(given.get("exclude"))
    found.exclude += [name for name in ("_layouts/", "_includes/", "_data/", "vendor/") if _has(found, name)]
    found.exclude += _about_the_project(config.folder)
    _take_html(found)
    found.take_blog("_posts")
    found.take("site", "slugs", True, "Jekyll's permalink in front matter, and the days of posts")
    data = config.folder / "_data" / "navigation.yml"
    if data.is_file():
        set_order(found, data)
    found.left += [
        f"{key} of Jekyll" for key in ("plugins", "collections", "defaults", "permalink") if given.get(key)
    ]
    found.left += ["layouts"] if _has(found, "_layouts/") else []
    return found


def _about_the_project(folder: Path) -> list[str]:
    """Return the files at the top that Jekyll makes no page of, with and without GitHub's plugins."""
    files = [path for path in sorted(folder.glob("*.*")) if path.suffix in (".md", ".markdown", ".html")]
    files = [path for path in files if path.is_file()]
    has_index = any(path.stem.lower() == "index" for path in files)
    about = _ABOUT_THE_PROJECT if has_index else _ABOUT_THE_PROJECT - {"readme"}
    files = [path for path in files if path.stem.lower() in about and path.suffix != ".html"]
    return [f"/{path.name}" for path in files if not _has_front_matter(path)]


def _take_html(found: ImportedSettings) -> None:
    """Import the HTML with front matter, of which Jekyll makes pages, but what lists computed values."""
    pages = [path for path in islice(_html(found.root), _MAX_HTML) if _has_front_matter(path)]
    for path in pages:
        name = path.relative_to(found.root).as_posix()
        if _LISTS.search(_head(path)):
            found.left.append(f"{name}, which lists what Jekyll computes")
        elif not _OF_PATTERNS & set(name):
            found.include.append(f"/{name}")


def _html(root: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name[0] not in "._" and name not in _PASSED_OVER)
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".html"))


def _has_front_matter(path: Path) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?---[ \t]*(?:\r?\n|\Z)", _head(path)) is not None


def _has(found: ImportedSettings, name: str) -> bool:
    return (found.root / name).is_dir()


def _antora(config: ToolFile) -> ImportedSettings:
    given = as_table(read_yaml(config.text()))
    found = ImportedSettings("Antora", config, config.beside("modules/ROOT/pages"))
    found.site(given, title="title")
    found.left += ["pages in AsciiDoc, which is not read", "nav.adoc"]
    return found


def _above(folder: Path, project: Path) -> Iterator[Path]:
    """Yield the same in the folders around, up to the project: documents often lie below their settings."""
    for around in Path(os.path.realpath(folder)).parents:
        if not around.is_relative_to(project):
            return
        files = (each.name for each in os.scandir(around) if each.is_file())
        yield from _settings_among(around, set(files), sorted(SETTINGS_NAMES))


def _scripts(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}.{ending}" for ending in ("js", "ts", "mjs", "mts", "cjs"))


_TOOLS: tuple[tuple[tuple[str, ...], Callable[[ToolFile], ImportedSettings]], ...] = (
    # A project on the way from one to the other has both.
    (("zensical.toml", "zensical.yml", "zensical.yaml"), mkdocs),
    (("mkdocs.yml", "mkdocs.yaml", "properdocs.yml"), mkdocs),
    (("book.toml",), _mdbook),
    (_scripts("docusaurus.config"), docusaurus),
    ((*_scripts("config"), *_scripts("index")), vitepress),
    (_scripts("config"), vuepress),
    (_scripts("astro.config"), starlight),
    (("quartz.config.ts",), quartz),
    (("docs.json", "mint.json"), mintlify),
    (("dendron.yml",), dendron),
    (HUGO_SETTINGS, hugo),
    (("myst.yml",), myst),
    (("_config.yml",), jupyter_book),
    (("_config.yml",), _jekyll),
    (("conf.py",), sphinx),
    (("antora.yml",), _antora),
    ((".obsidian",), obsidian),
    (("logseq",), logseq),
)
SETTINGS_NAMES = tuple(dict.fromkeys(name for names, _ in _TOOLS for name in names))
# VitePress and VuePress have theirs under one name, in folders of their own.
_KNOWN = tuple(dict.fromkeys(names[0] for names, _ in _TOOLS))
