"""What is imported from ``mkdocs.yml`` or ``zensical.toml``, with the files that it inherits from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...docsite.appearance import legible_pair
from ...pipeline.navigation.summary import NAME as SUMMARY
from ...pipeline.settings.site import LANGUAGE
from ...pipeline.untrusted import NotRead, read_toml, read_yaml
from .imported_settings import MARKDOWN, ImportedSettings, set_order
from .tool_file import ToolFile, as_list, as_table, as_text, as_texts, texts_of

_MAX_INHERITED = 10
_DATE = "yyyy/MM/dd"
_DATE_WORDS = {"yyyy": "{year}", "MM": "{month}", "dd": "{day}"}
_DATE_PARTS = re.compile(r"(?<![a-zA-Z])(?:yyyy|MM|dd)(?![a-zA-Z])")
_POST_WORDS = re.compile(r"\{(?:year|month|day|slug|file|categories)\}")
_MACROS = ("macros", "markdownextradata", "zensical.extensions.macros")
_PLAIN_PLUGINS = {
    "search",
    "redirects",
    "autorefs",
    "mkdocstrings",
    "awesome-pages",
    "literate-nav",
    "tags",
    "blog",
    "include-markdown",
    "i18n",
    "mkdocs-jupyter",
    *_MACROS,
}
# Extensions that write into pages what programs say.
_PROGRAMS = {"mkdocs-click", "mkdocs-typer", "mkdocs-typer2", "markdown_exec"}
# They make pages of the modules that no document names.
_API_GENERATORS = {"gen-files", "api-autonav", "autoapi", "mkdocs-autoapi", "mkapi"}
# The options of mkdocstrings that are imported: their values where nothing is said, and those that are known.
_BOTH = (False, True)
_MKDOCSTRINGS: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
    "heading_level": (2, (1, 2, 3, 4, 5, 6)),
    "show_root_heading": (False, _BOTH),
    "show_root_full_path": (True, _BOTH),
    "show_if_no_docstring": (False, _BOTH),
    "inherited_members": (False, _BOTH),
    "merge_init_into_class": (False, _BOTH),
    "members_order": ("alphabetical", ("alphabetical", "source")),
    "group_by_category": (True, _BOTH),
    "docstring_style": ("", ("google", "numpy", "sphinx")),
}
# Of Material for MkDocs 9.
_PRIMARY = {
    "red": "#ef5552", "pink": "#e92063", "purple": "#ab47bd", "deep-purple": "#7e56c2", "indigo": "#4051b5",
    "blue": "#2094f3", "light-blue": "#02a6f2", "cyan": "#00bdd6", "teal": "#009485", "green": "#4cae4f",
    "light-green": "#8bc34b", "lime": "#cbdc38", "yellow": "#ffec3d", "amber": "#ffc105", "orange": "#ffa724",
    "deep-orange": "#ff6e42", "brown": "#795649", "grey": "#757575", "blue-grey": "#546d78",
}  # fmt: skip


def mkdocs(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``mkdocs.yml``, or from the file of Zensical, which has its keys."""
    chain = _inherited(config)
    given = _merged([values for _, values in chain])
    tool = "Zensical" if config.name.startswith("zensical") else "MkDocs"
    found = ImportedSettings(tool, config, config.beside(given.get("docs_dir"), "docs"), include=[*MARKDOWN])
    theme = as_table(given.get("theme"))
    _import_site(found, given, theme)
    named = [file for file, values in chain if values.get("nav")][:1]
    plugins, extensions = _plugins(given.get("plugins")), _plugins(given.get("markdown_extensions"))
    if "literate-nav" in plugins and _has_summaries(found, as_table(plugins["literate-nav"])):
        set_order(found, *named, found.root)
    elif named:
        set_order(found, *named)
    elif any(found.root.rglob(".pages")):
        set_order(found, found.root)
    for key in ("exclude_docs", "draft_docs"):
        found.leave_out([line for line in as_text(given.get(key)).splitlines() if line.strip()])
    _import_plugins(found, plugins)
    _import_values(found, {**extensions, **plugins}, [file for file, _ in chain])
    nested = as_table(extensions.get("pymdownx"))  # TOML's way with the dot
    _import_snippets(found, extensions.get("pymdownx.snippets", nested.get("snippets")))
    found.left += [key for key in ("extra_css", "extra_javascript", "hooks") if given.get(key)]
    found.left += [
        f"the extension {name}, which runs programs" for name in sorted(_PROGRAMS & extensions.keys())
    ]
    _import_palette(found, theme.get("palette"))
    found.left += ["theme.custom_dir"] if theme.get("custom_dir") else []
    found.left += ["extra.alternate (languages)"] if as_table(given.get("extra")).get("alternate") else []
    return found


def _import_site(found: ImportedSettings, given: Mapping[str, Any], theme: Mapping[str, Any]) -> None:
    found.site(given, title="site_name", description="site_description", base_url="site_url")
    if address := found.tables.get("site", {}).get("base_url"):
        # Pages link to each other by it: /project/guide/
        found.take("collections.NAME.address", "base_url", address[0], "site_url")
    found.take("site", "language", theme.get("language"), "theme.language")
    custom = as_text(theme.get("custom_dir"))
    folders = [found.config.folder / custom, found.root] if custom else [found.root]
    for key in ("logo", "favicon"):
        found.take_image(key, theme.get(key), f"theme.{key}", *folders)
    repo, edit = given.get("repo_url"), given.get("edit_uri")
    if isinstance(repo, str) and isinstance(edit, str):
        found.take("site", "edit_url", f"{repo.rstrip('/')}/{edit.strip('/')}/{{path}}", "repo_url, edit_uri")


def _import_palette(found: ImportedSettings, given: object) -> None:
    """Import the primary colour of Material's first palette that names one, as text can be read in it."""
    palettes = [as_table(each) for each in (given if isinstance(given, list) else [given])]
    named = next(filter(None, (as_text(each.get("primary")) for each in palettes)), "")
    if color := _PRIMARY.get(named.replace(" ", "-")):
        found.take("site", "colors", {"accent": list(legible_pair(color))}, f"theme.palette.primary: {named}")
    elif named not in ("", "black", "white"):
        found.left.append(f"theme.palette.primary: {named!r:.40} is defined in a style sheet")


def _import_plugins(found: ImportedSettings, plugins: Mapping[str, Any]) -> None:
    maps = as_table(as_table(plugins.get("redirects")).get("redirect_maps"))
    found.take("site", "redirects", texts_of(maps), "plugins.redirects")
    found.heading_references = not plugins.keys().isdisjoint(("autorefs", "mkdocstrings"))
    if "mkdocstrings" in plugins:  # which by itself makes no page
        found.api = "all" if _API_GENERATORS & plugins.keys() else "described"
        _import_mkdocstrings(found, as_table(plugins["mkdocstrings"]))
    if "blog" in plugins:
        _import_blog(found, as_table(plugins["blog"]))
    if "mkdocs-jupyter" in plugins:
        found.include.append("**/*.ipynb")
    if "i18n" in plugins:
        _import_languages(found, as_table(plugins["i18n"]))
    found.left += [f"the plugin {name}" for name in sorted(plugins.keys() - _PLAIN_PLUGINS)]


def _has_summaries(found: ImportedSettings, literate_nav: Mapping[str, Any]) -> bool:
    """Return whether a folder has a navigation of its own in ``SUMMARY.md``; name another ``nav_file``."""
    name = as_text(literate_nav.get("nav_file")) or SUMMARY
    if name != SUMMARY:
        found.left.append(f"the plugin literate-nav: nav_file {name!r:.80} is not {SUMMARY}")
    return name == SUMMARY and any(found.root.rglob(SUMMARY))


def _import_languages(found: ImportedSettings, plugin: Mapping[str, Any]) -> None:
    """Import the languages of mkdocs-static-i18n that have folders; the default one may be at the top."""
    listed = map(as_table, as_list(plugin.get("languages")))
    tags = [as_text(each.get("locale")) for each in listed if each.get("build") is not False]
    known = [tag for tag in tags if LANGUAGE.fullmatch(tag)]
    if plugin.get("docs_structure") != "folder":
        found.left.append("the plugin i18n: languages by the ends of names, index.fr.md")
        return
    folders = {tag: tag if found.finds(found.root / tag) else "" for tag in known}
    without = [tag for tag, folder in folders.items() if not folder]
    if len(folders) > 1 and len(without) < 2:
        found.take("site", "languages", folders, "plugins.i18n")


def _import_mkdocstrings(found: ImportedSettings, plugin: Mapping[str, Any]) -> None:
    """Import how objects of Python are described, with mkdocstrings' own values where it says nothing."""
    options = as_table(as_table(as_table(plugin.get("handlers")).get("python")).get("options"))
    for key, (default, known) in _MKDOCSTRINGS.items():
        value = options.get(key, default)
        if value in known and type(value) is type(default):
            found.take("collections.NAME.api", key, value, "plugins.mkdocstrings")


def _import_blog(found: ImportedSettings, blog: Mapping[str, Any]) -> None:
    """Import where the blog of Material is, how many posts a page lists, and the addresses of posts."""
    found.take_blog(as_text(blog.get("blog_dir")) or "blog")
    if type(shown := blog.get("pagination_per_page")) is int and shown > 0:
        found.take("site", "posts_per_page", shown, "plugins.blog")
    date = _DATE_PARTS.sub(lambda part: _DATE_WORDS[part[0]], as_text(blog.get("post_date_format")) or _DATE)
    url = (as_text(blog.get("post_url_format")) or "{date}/{slug}").replace("{date}", date)
    if re.search(r"[a-zA-Z]", _POST_WORDS.sub("", date)):
        found.left.append("plugins.blog: post_date_format has more than yyyy, MM and dd")
    elif set("{}") & set(_POST_WORDS.sub("", url)):
        found.left.append(
            "plugins.blog: post_url_format has more than {date}, {slug}, {file} and {categories}"
        )
    elif found.tables.get("site", {}).get("blogs"):
        found.take("site", "post_url", url, "plugins.blog: post_url_format, post_date_format")


def _import_values(found: ImportedSettings, given: Mapping[str, Any], files: Sequence[Path]) -> None:
    """Import the files of values for ``{{ name }}``: the settings, and those that they name."""
    named = [name for name in _MACROS if name in given]
    for name in named:
        options = as_table(given[name])
        named_files = [found.config.folder / each for each in as_texts(options.get("include_yaml"))]
        found.variables = [each for each in [*files, *named_files] if found.finds(each)]
        if options.get("modules") or found.finds(
            found.config.folder / f"{options.get('module_name') or 'main'}.py"
        ):
            found.left.append(f"the functions of {name}")


def _import_snippets(found: ImportedSettings, snippets: object) -> None:
    """Import the folders that snippets looks in, and the files that it ends every page with.

    Each of these is from the first folder that has it.
    """
    options, top = as_table(snippets), found.config.folder
    base = options.get("base_path")
    named = [top / each for each in as_texts(base) or [as_text(base) or "."] if "\0" not in each]
    apart = [each for each in named if each.is_dir() and each.resolve() not in _known(found)]
    found.snippets += [each for each in apart if found.finds(each)]
    for name in (each for each in as_texts(options.get("auto_append")) if "\0" not in each):
        places = (folder / name for folder in (*named, top))
        found.append += [path for path in places if path.is_file() and found.finds(path)][:1]


def _known(found: ImportedSettings) -> tuple[Path, Path]:
    """Return the folders that are looked in anyway, as far as documents need it."""
    return found.root.resolve(), found.config.folder.resolve()


def _inherited(config: ToolFile) -> list[tuple[Path, dict[str, Any]]]:
    """Return the settings of the file, then those of each file that it inherits from, with the files.

    Raises ``NotRead`` where they inherit from each other, or from more than ten.
    """
    chain: list[tuple[Path, dict[str, Any]]] = []
    pending: Path | None = config.path
    while pending is not None:
        if len(chain) > _MAX_INHERITED:
            raise NotRead(f"INHERIT leads through more than {_MAX_INHERITED} files, or in a circle")
        values = _values(config.text(pending), pending)
        chain.append((pending, values))
        parent = values.get("INHERIT")
        pending = pending.parent / parent if isinstance(parent, str) else None
    return chain


def _values(text: str, path: Path) -> dict[str, Any]:
    return as_table(read_toml(text).get("project") if path.suffix == ".toml" else read_yaml(text))


def _merged(chain: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings as one table: the first that says something counts, and tables are merged."""
    merged: dict[str, Any] = {}
    for values in reversed(chain):
        for key, value in values.items():
            if isinstance(value, dict) and isinstance(merged.get(key), dict):
                merged[key] = _merged([value, merged[key]])
            else:
                merged[key] = value
    return merged


def _plugins(given: object) -> dict[str, object]:
    """Return the settings of MkDocs' plugins, which are a list or a table; Material's may have its prefix."""
    named: dict[str, object] = {}
    for item in as_list(given) or [given]:
        named |= {item: None} if isinstance(item, str) else as_table(item)
    return {name.removeprefix("material/"): each for name, each in named.items()}
