"""What is imported from the settings of MyST's tools, ``myst.yml``, and of Jupyter Book before them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...pipeline.navigation.entry import Contents
from ...pipeline.navigation.myst_files import myst_contents, read_toc
from ...pipeline.untrusted import read_yaml
from .imported_settings import ImportedSettings, set_order
from .tool_file import ToolFile, as_table, as_text, as_texts

TOC = "_toc.yml"
_INCLUDE = ("**/*.md", "**/*.ipynb", "**/*.rst")
_HOMES = ("index", "README", "readme")


def is_jupyter_book(config: Path) -> bool:
    """Return whether a file ``_config.yml``, which Jekyll has too, is Jupyter Book's."""
    return (config.parent / TOC).is_file()


def myst(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``myst.yml``."""
    given = as_table(read_yaml(config.text()))
    project, site = as_table(given.get("project")), as_table(given.get("site"))
    found = ImportedSettings("MyST", config, config.folder, include=list(_INCLUDE))
    found.site(project, title="title", description="description")
    found.site(site, title="title")
    found.repository = as_text(project.get("github"))
    if project.get("toc"):
        _take_contents(found, config, myst_contents(given))
    elif is_jupyter_book(config.path):
        take_toc(found)
    excluded = project.get("exclude")
    found.leave_out([excluded] if isinstance(excluded, str) else excluded)
    found.left += [f"the plugin {each:.80}" for each in as_texts(project.get("plugins"))]
    found.left += [f"{each:.80}, which it extends" for each in as_texts(given.get("extends"))]
    options = as_table(site.get("options"))
    for key in ("logo", "logo_dark", "favicon"):
        found.take_image(key, options.get(key), f"site.options.{key}", config.folder)
    found.left += ["site.options.style"] if options.get("style") else []
    return found


def jupyter_book(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``_config.yml`` of Jupyter Book."""
    given = as_table(read_yaml(config.text()))
    found = ImportedSettings("Jupyter Book", config, config.folder, include=list(_INCLUDE))
    found.site(given, title="title")
    html, sphinx = as_table(given.get("html")), as_table(given.get("sphinx"))
    found.site(html, base_url="baseurl")
    found.site(as_table(sphinx.get("config")), language="language")
    if html.get("use_edit_page_button") is True:
        _take_edit_url(found, as_table(given.get("repository")))
    take_toc(found)
    found.leave_out(given.get("exclude_patterns"))
    found.left += [f"the extension {each:.80}" for each in as_texts(sphinx.get("extra_extensions"))]
    found.take_image("logo", given.get("logo"), "logo", config.folder)
    found.take_image("favicon", html.get("favicon"), "html.favicon", config.folder)
    found.left += ["bibtex_bibfiles"] if given.get("bibtex_bibfiles") else []
    return found


def _take_edit_url(found: ImportedSettings, repository: Mapping[str, Any]) -> None:
    url, branch = as_text(repository.get("url")).rstrip("/"), as_text(repository.get("branch")) or "master"
    folder = posixpath.normpath(as_text(repository.get("path_to_book")) or ".").strip("/.")
    address = "/".join(filter(None, (url, "edit", branch, folder, "{path}")))
    found.take("site", "edit_url", address if url else "", "repository")


def take_toc(found: ImportedSettings, name: str = TOC) -> None:
    """Let ``_toc.yml``, or the file that stands for it, order the pages if it is there."""
    path = found.config.beside(name)
    if found.finds(path):
        _take_contents(found, ToolFile(path, found.config.project), read_toc(found.config.text(path)))


def _take_contents(found: ImportedSettings, file: ToolFile, contents: Contents) -> None:
    """Let a table of contents order the pages; its first is the home page."""
    set_order(found, file.path)
    first = contents.entries[0].target if contents.entries else ""
    names = [first, *(first + ending[4:] for ending in _INCLUDE)] if "\0" not in first else []
    files = (name for name in names if name and (found.root / name).is_file())
    home = posixpath.normpath(next(files, ""))
    if home != "." and posixpath.splitext(home)[0] not in _HOMES:
        found.take("site", "home", home, f"the first page of {file.name}")
