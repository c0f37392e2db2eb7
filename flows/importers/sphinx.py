"""What is imported from Sphinx's ``conf.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...pipeline.includes.sphinx.conf_values import formats_of
from .imported_settings import ImportedSettings
from .myst import TOC, take_toc
from .tool_file import ToolFile, as_table, as_text, as_texts

# What they put into documents is read.
_READ_EXTENSIONS = frozenset(
    [
        "sphinx.ext.autodoc",
        "sphinx.ext.extlinks",
        "sphinx.ext.intersphinx",
        "sphinx.ext.napoleon",
        "sphinx.ext.mathjax",
        "myst_parser",
        "myst_nb",
        "nbsphinx",
        "sphinx_design",
        "sphinx_tabs.tabs",
        "sphinx_copybutton",
        "sphinx_external_toc",
    ]
)
# Of what is computed there, nobody misses the rest.
_READ_SETTINGS = frozenset(
    [
        *("project", "author", "copyright", "release", "version", "language", "html_baseurl", "html_title"),
        *("extensions", "exclude_patterns", "include_patterns", "source_suffix", "external_toc_path"),
        *("extlinks", "intersphinx_mapping", "myst_substitutions", "rst_epilog", "rst_prolog"),
    ]
)
# Endings with what conf.py names if extensions read them, or brings from elsewhere.
_READ_IF_NAMED = {
    ".md": re.compile(r"\.md\b|myst|markdown|commonmark|m2r"),
    ".ipynb": re.compile(r"ipynb|nbsphinx|myst_nb|jupyter"),
}
_EXTENSIONS_FROM_ELSEWHERE = re.compile(
    r"^[ \t]*from[^\n]*\bimport\b[^#\n]*(?:\bextensions\b|\*)", re.MULTILINE
)
_UPDATED = re.compile(r"^globals\(\)\.update\(", re.MULTILINE)


def sphinx(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``conf.py``, of which only plain values are read."""
    given: dict[str, Any] = {}
    found = ImportedSettings("Sphinx", config, config.folder)
    for node in ast.parse(config.text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                given[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError, MemoryError, RecursionError):
                if node.targets[0].id in _READ_SETTINGS:
                    found.left.append(f"{node.targets[0].id}: not a literal")
    found.site(given, title="project", language="language", base_url="html_baseurl")
    found.site(given, title="html_title")
    _take_images(found, given)
    found.leave_out(given.get("exclude_patterns"))
    extensions = as_texts(given.get("extensions"))
    found.include = [f"**/*{ending}" for ending in _formats(found, given.get("source_suffix"))]
    if _UPDATED.search(config.text()):
        found.left.append("settings that globals().update() computes")
    has_all = isinstance(given.get("extensions"), list | tuple)  # else one cannot tell
    found.api = "all" if "sphinx.ext.autodoc" in extensions else "" if has_all else "described"
    if "sphinx_external_toc" in extensions:
        take_toc(found, as_text(given.get("external_toc_path")) or TOC)
    found.left += [f"the extension {each:.80}" for each in extensions if each not in _READ_EXTENSIONS]
    return found


def _take_images(found: ImportedSettings, given: Mapping[str, Any]) -> None:
    """Import Sphinx's logo and icon, and the logos that Furo and the PyData theme have for each theme."""
    folder, options = found.config.folder, as_table(given.get("html_theme_options"))
    named = as_table(options.get("logo"))
    folders = [folder, *(folder / each for each in as_texts(given.get("html_static_path")))]
    for key in ("logo", "favicon"):
        found.take_image(key, given.get(f"html_{key}"), f"html_{key}", folder)
    for key, theme in (("logo", "light"), ("logo_dark", "dark")):
        image = options.get(f"{theme}_logo") or named.get(f"image_{theme}")
        found.take_image(key, image, f"html_theme_options: the {theme} logo", *folders)


def _formats(found: ImportedSettings, suffix: object) -> Iterator[str]:
    """Yield the endings that Sphinx reads; files with others, such as a README, are no pages of it."""
    conf, others = found.config.text(), list(formats_of(suffix))
    usual = [ending for ending, sign in _READ_IF_NAMED.items() if sign.search(conf)]
    if any(each.startswith("extensions: ") for each in found.left) or _EXTENSIONS_FROM_ELSEWHERE.search(conf):
        found.left.append("extensions from elsewhere: files of all formats that Sphinx may read are taken")
        usual = [*_READ_IF_NAMED]
    if not isinstance(suffix, str | list | tuple | dict) or ".rst" in suffix:
        usual.insert(0, ".rst")
    if not usual and not others:
        found.left.append("source_suffix: it names no format that is read")
        usual = [".rst", *_READ_IF_NAMED]
    yield from (*usual, *others)
