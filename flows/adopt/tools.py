"""Which tool a folder was written for, and what of its settings has a place here."""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...pipeline.errors import SourceError
from ...pipeline.navigation.sidebars import read_script
from ...pipeline.navigation.summary import read_summary
from ...pipeline.navigation.yaml_files import NotRead, read_yaml
from .taken_over import MAX_BYTES, TakenOver

_MAX_DEPTH, _MAX_FOLDERS = 3, 2_000
_PASSED_OVER = {"node_modules", "venv", "build", "dist", "public", "_site", "target"}
_PLAIN_PLUGINS = {"search", "redirects", "autorefs", "mkdocstrings", "awesome-pages", "literate-nav", "tags"}


def take_over(path: Path) -> TakenOver:
    """Return what can be taken over from the tool whose folder, or settings file, this is.

    Raises ``SourceError`` if it is none that is known, or its file cannot be read.
    """
    for config in [path] if path.is_file() else _candidates(path):
        for names, reader in _TOOLS:
            if config.name in names and (reader is not _vitepress or config.parent.name == ".vitepress"):
                try:
                    return reader(config)
                except (OSError, NotRead, tomllib.TOMLDecodeError, SyntaxError, ValueError) as error:
                    raise SourceError(
                        f"the settings cannot be read: {' '.join(str(error).split())[:200]}",
                        where=str(config),
                        hint="Mend the file, or begin with: noctule init",
                    ) from None
    raise SourceError(
        "this is no folder of a tool that is known here",
        where=str(path),
        hint=f"Known are {', '.join(names[0] for names, _ in _TOOLS)}. Or begin with: noctule init",
    )


def _candidates(top: Path) -> Iterator[Path]:
    """Yield files and folders that tools know their folders by, those nearest to the top first."""
    names = {name for known, _ in _TOOLS for name in known}
    level, looked = [top], 0
    for _ in range(_MAX_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            here = {entry.name for entry in entries}
            yield from (folder / name for known, _ in _TOOLS for name in known if name in here & names)
            below += [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and (not entry.name.startswith(".") or entry.name == ".vitepress")
                and entry.name not in _PASSED_OVER
            ]
            looked += 1
            if looked > _MAX_FOLDERS:
                return
        level = below


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise NotRead("it is over 2 MB")
    return content.decode("utf-8", "replace")


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mkdocs(config: Path) -> TakenOver:
    given = _table(read_yaml(_text(config)))
    found = TakenOver("MkDocs", config, config.parent / str(given.get("docs_dir") or "docs"))
    found.site(given, title="site_name", description="site_description", base_url="site_url")
    theme = _table(given.get("theme"))
    found.take("site", "language", theme.get("language"), "theme.language")
    repo, edit = given.get("repo_url"), given.get("edit_uri")
    if isinstance(repo, str) and isinstance(edit, str):
        found.take("site", "edit_url", f"{repo.rstrip('/')}/{edit.strip('/')}/{{path}}", "repo_url, edit_uri")
    if given.get("nav"):
        _order(found, config)
    elif any(found.root.rglob(".pages")):
        _order(found, found.root)
    plugins = _plugins(given.get("plugins"))
    maps = _table(_table(plugins.get("redirects")).get("redirect_maps"))
    found.take("site", "redirects", _texts(maps), "plugins.redirects")
    found.left += [f"the plugin {name}" for name in sorted(plugins.keys() - _PLAIN_PLUGINS)]
    found.left += [key for key in ("INHERIT", "extra_css", "extra_javascript", "hooks") if given.get(key)]
    found.left += [f"theme.{key}" for key in ("custom_dir", "palette", "logo", "favicon") if theme.get(key)]
    found.left += ["extra.alternate (languages)"] if _table(given.get("extra")).get("alternate") else []
    return found


def _plugins(given: object) -> dict[str, object]:
    """Return the settings of MkDocs' plugins, which are a list or a table."""
    items = given if isinstance(given, list) else [given]
    named: dict[str, object] = {}
    for item in items:
        named |= {item: None} if isinstance(item, str) else _table(item)
    return named


def _order(found: TakenOver, *files: Path) -> None:
    """Let these files say in which order pages are."""
    listed = [Path(os.path.relpath(file.resolve(), Path.cwd())).as_posix() for file in files]
    found.take("site", "navigation", {"NAME": listed}, "the order of pages")


def _texts(given: Mapping[str, Any]) -> dict[str, str]:
    return {str(old): new for old, new in given.items() if isinstance(new, str)}


def _mdbook(config: Path) -> TakenOver:
    given = tomllib.loads(_text(config))
    book, html = _table(given.get("book")), _table(_table(given.get("output")).get("html"))
    found = TakenOver("mdBook", config, config.parent / str(book.get("src") or "src"))
    found.site(book, title="title", description="description", language="language")
    if isinstance(html.get("edit-url-template"), str):
        below = found.root.name + "/{path}"
        found.take(
            "site", "edit_url", html["edit-url-template"].replace("{path}", below), "edit-url-template"
        )
    summary = found.root / "SUMMARY.md"
    entries = read_summary(_text(summary)).entries if summary.is_file() else ()
    found.take("site", "home", entries[0].target if entries else "", "the first chapter of SUMMARY.md")
    found.take("site", "redirects", _texts(_table(html.get("redirect"))), "output.html.redirect")
    found.left += [f"the preprocessor {name}" for name in sorted(_table(given.get("preprocessor")))]
    found.left += [f"output.html.{key}" for key in ("additional-css", "additional-js") if html.get(key)]
    return found


def _docusaurus(config: Path) -> TakenOver:
    given = _table(read_script(_text(config), config.name))
    presets = given.get("presets")
    options = [each[1] for each in presets if isinstance(each, list) and len(each) > 1] if presets else []
    docs = next((_table(each.get("docs")) for each in options if isinstance(each, dict)), {})
    path = docs.get("path")
    root = config.parent / (path if isinstance(path, str) else "docs")
    found = TakenOver("Docusaurus", config, root, include=["**/*.md", "**/*.mdx"])
    found.site(given, title="title", description="tagline")
    if isinstance(given.get("url"), str):
        base = given.get("baseUrl")
        base_url = given["url"].rstrip("/") + (base if isinstance(base, str) else "/")
        found.take("site", "base_url", base_url, "url, baseUrl")
    found.site(_table(given.get("i18n")), language="defaultLocale")
    names = ("sidebars.js", "sidebars.ts", "sidebars.json")
    _order(found, *(config.parent / n for n in names if (config.parent / n).is_file()), found.root)
    for plugin in given.get("plugins") or [] if isinstance(given.get("plugins"), list) else []:
        _docusaurus_plugin(found, plugin)
    found.left += [] if given else ["everything: its settings are not literals"]
    found.left += ["the blog and pages in src/"] if (config.parent / "src").is_dir() else []
    return found


def _docusaurus_plugin(found: TakenOver, plugin: object) -> None:
    name, *options = plugin if isinstance(plugin, list) and plugin else [plugin]
    if isinstance(name, str) and name.endswith("client-redirects") and options:
        moved: dict[str, str] = {}
        for each in _table(options[0]).get("redirects") or []:
            old, new = _table(each).get("from"), _table(each).get("to")
            several = old if isinstance(old, list) else [old]
            moved |= {one: new for one in several if isinstance(one, str) and isinstance(new, str)}
        found.take("site", "redirects", moved, "plugins")
    elif isinstance(name, str):
        found.left.append(f"the plugin {name}")


def _vitepress(config: Path) -> TakenOver:
    given = _table(read_script(_text(config), config.name))
    source = given.get("srcDir")
    found = TakenOver(
        "VitePress", config, config.parent.parent / (source if isinstance(source, str) else ".")
    )
    found.site(given, title="title", description="description", language="lang")
    _order(found, config)
    found.exclude = [each for each in given.get("srcExclude") or [] if isinstance(each, str)]
    found.left += [f"{key} of VitePress" for key in ("head", "rewrites", "locales") if given.get(key)]
    return found


def _jekyll(config: Path) -> TakenOver:
    given = _table(read_yaml(_text(config)))
    found = TakenOver("Jekyll", config, config.parent)
    found.site(given, title="title", description="description", language="lang")
    if isinstance(given.get("url"), str):
        found.take(
            "site", "base_url", given["url"].rstrip("/") + str(given.get("baseurl") or ""), "url, baseurl"
        )
    left_out = given.get("exclude")
    found.exclude = [str(each) for each in left_out] if isinstance(left_out, list) else []
    found.exclude += [name for name in ("_layouts/", "_includes/", "_data/", "vendor/") if _has(found, name)]
    data = config.parent / "_data" / "navigation.yml"
    if data.is_file():
        _order(found, data)
    found.left += [
        f"{key} of Jekyll" for key in ("plugins", "collections", "defaults", "permalink") if given.get(key)
    ]
    found.left += ["layouts"] if _has(found, "_layouts/") else []
    return found


def _has(found: TakenOver, name: str) -> bool:
    return (found.root / name).is_dir()


def _hugo(config: Path) -> TakenOver:
    text = _text(config)
    given = _table(tomllib.loads(text) if config.suffix == ".toml" else read_yaml(text))
    given = {key.lower(): value for key, value in given.items()}
    found = TakenOver("Hugo", config, config.parent / str(given.get("contentdir") or "content"))
    found.site(given, title="title", base_url="baseurl", language="languagecode")
    found.left += [
        f"{key} of Hugo" for key in ("theme", "menu", "menus", "languages", "module") if key in given
    ]
    return found


def _dendron(config: Path) -> TakenOver:
    given = _table(read_yaml(_text(config)))
    vaults = _table(given.get("workspace")).get("vaults")
    named = [_table(each).get("fsPath") for each in vaults] if isinstance(vaults, list) else []
    paths = [each for each in named if isinstance(each, str)]
    found = TakenOver("Dendron", config, config.parent / (paths[0] if paths else "vault"))
    publishing = _table(given.get("publishing"))
    found.site(_table(publishing.get("seo")), title="title", description="description")
    found.site(publishing, base_url="siteUrl")
    found.left += [f"the vault {each}" for each in paths[1:]]
    index = publishing.get("siteIndex")
    if isinstance(index, str) and (found.root / f"{index}.md").is_file():
        found.take("site", "home", f"{index}.md", "publishing.siteIndex")
    found.left += (
        ["publishing.siteHierarchies: every note is read"] if publishing.get("siteHierarchies") else []
    )
    return found


def _obsidian(config: Path) -> TakenOver:
    found = TakenOver("Obsidian", config, config.parent)
    found.take("site", "title", config.parent.resolve().name, "the vault's folder")
    templates = config / "templates.json"
    folder = (
        _table(read_yaml(_text(templates).replace("\t", " "))).get("folder") if templates.is_file() else ""
    )
    found.exclude = [f"{str(folder).strip('/')}/"] if folder else []
    return found


def _sphinx(config: Path) -> TakenOver:
    given: dict[str, Any] = {}
    found = TakenOver("Sphinx", config, config.parent, include=["**/*.rst", "**/*.md", "**/*.ipynb"])
    for node in ast.parse(_text(config)).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                given[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError, MemoryError, RecursionError):
                found.left.append(f"{node.targets[0].id}: not a literal")
    found.site(given, title="project", language="language", base_url="html_baseurl")
    found.site(given, title="html_title")
    patterns = given.get("exclude_patterns")
    found.exclude = [each for each in patterns if isinstance(each, str)] if isinstance(patterns, list) else []
    extensions = given.get("extensions")
    found.left += [f"the extension {each}" for each in extensions] if isinstance(extensions, list) else []
    return found


def _quartz(config: Path) -> TakenOver:
    given = _table(_table(read_script(_text(config), config.name)).get("configuration"))
    found = TakenOver("Quartz", config, config.parent / "content")
    found.site(given, title="pageTitle")
    if isinstance(given.get("baseUrl"), str):
        found.take("site", "base_url", f"https://{given['baseUrl']}", "baseUrl")
    if isinstance(given.get("locale"), str):
        found.take("site", "language", given["locale"].partition("-")[0], "locale")
    patterns = given.get("ignorePatterns")
    found.exclude = [each for each in patterns if isinstance(each, str)] if isinstance(patterns, list) else []
    found.left += ["theme"] if given.get("theme") else []
    return found


def _antora(config: Path) -> TakenOver:
    given = _table(read_yaml(_text(config)))
    found = TakenOver("Antora", config, config.parent / "modules" / "ROOT" / "pages")
    found.site(given, title="title")
    found.left += ["pages in AsciiDoc, which is not read", "nav.adoc"]
    return found


def _scripts(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}.{ending}" for ending in ("js", "ts", "mjs", "mts", "cjs"))


_TOOLS: tuple[tuple[tuple[str, ...], Callable[[Path], TakenOver]], ...] = (
    (("mkdocs.yml", "mkdocs.yaml", "properdocs.yml"), _mkdocs),
    (("book.toml",), _mdbook),
    (_scripts("docusaurus.config"), _docusaurus),
    (_scripts("config"), _vitepress),
    (("quartz.config.ts",), _quartz),
    (("dendron.yml",), _dendron),
    (("hugo.toml", "hugo.yaml", "hugo.yml", "config.toml"), _hugo),
    (("_config.yml",), _jekyll),
    (("conf.py",), _sphinx),
    (("antora.yml",), _antora),
    ((".obsidian",), _obsidian),
)
