"""Settings of Docusaurus: its documents in the version that readers see, further folders of them, a blog."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...pipeline.navigation.literals import Unread
from ...pipeline.patterns import pattern_fault
from ...pipeline.untrusted import is_within
from .imported_settings import FurtherFolder, ImportedSettings, collection_name, set_order
from .tool_file import ToolFile, as_list, as_table, as_text, as_texts

# Parts of pages, which it leaves out by default. Documents at or below its settings are known to be its own.
_PARTS = ("_*.md", "_*.mdx", "_*/")
_GENERATED = "generated-index"
_ENDINGS = ("js", "ts", "json")
_LEFT = {
    "src": "the pages in src/",
    "versioned_docs": "the versions in versioned_docs/: build each with noctule site --version",
    "i18n": "the translations in i18n/: set [site.languages]",
}


@dataclass(frozen=True, slots=True)
class _Documents:
    """A folder of documents, with its options; that of a version where the current one is not published."""

    config: ToolFile
    options: Mapping[str, Any]
    version: str = ""

    @property
    def address(self) -> str:
        """Return the first part of the addresses of its pages."""
        return as_text(self.options.get("routeBasePath")).strip("/") or "docs"

    @property
    def root(self) -> Path:
        """Return the folder of the documents; raise ``NotRead`` if it lies out of the project."""
        if self.version:
            return self.config.beside(f"{self._prefix}versioned_docs/version-{self.version}")
        return self.config.beside(self.options.get("path"), "docs")

    @property
    def sidebars(self) -> list[Path]:
        """Return the files that say the order of its pages."""
        if self.version:
            name = f"{self._prefix}versioned_sidebars/version-{self.version}-sidebars.json"
            return [path] if (path := self.config.beside(name)).is_file() else []
        given = as_text(self.options.get("sidebarPath"))
        named = [self.config.beside(given)] if given else []
        usual = [] if self._prefix else [self.config.folder / f"sidebars.{ending}" for ending in _ENDINGS]
        return next(([path] for path in (*named, *usual) if path.is_file()), [])

    @property
    def versions(self) -> list[str]:
        """Return the names of its versions, the newest first."""
        path = self.config.beside(f"{self._prefix}versions.json")
        try:
            return as_texts(json.loads(self.config.text(path))) if path.is_file() else []
        except ValueError:
            return []

    @property
    def _prefix(self) -> str:
        own = as_text(self.options.get("id"))
        return f"{own}_" if own and own != "default" else ""

    def as_published(self) -> _Documents:
        """Return the version that readers see first, if the current one is not published or not there."""
        if self.options.get("includeCurrentVersion") is not False and self.root.is_dir():
            return self
        last = [each for each in self.versions if each == self.options.get("lastVersion")]
        found = [_Documents(self.config, self.options, each) for each in (*last, *self.versions)]
        return next((each for each in found if each.root.is_dir()), self)


def docusaurus(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``docusaurus.config.js``."""
    given = as_table(config.script().value)
    docs = _Documents(config, _preset_options(given)).as_published()
    found = ImportedSettings("Docusaurus", config, docs.root, include=["**/*.md", "**/*.mdx"])
    found.site(given, title="title", description="tagline")
    if isinstance(given.get("url"), str):
        base_url = given["url"].rstrip("/") + (as_text(given.get("baseUrl")) or "/")
        found.take("site", "base_url", base_url, "url, baseUrl")
    found.site(as_table(given.get("i18n")), language="defaultLocale")
    set_order(found, *docs.sidebars, found.root)
    found.sidebars = [*_generating(docs)]
    # Its settings stand above a version by two folders.
    found.snippets += [config.folder] if docs.version else []
    is_apart = not is_within(docs.root, config.folder)
    found.leave_out(docs.options.get("exclude", [*_PARTS] if is_apart else None))
    found.take("site", "slugs", True, "Docusaurus's slug and id in front matter")
    if docs.options.get("numberPrefixParser") is not False:
        found.take("site", "number_prefixes", False, "Docusaurus's 01-intro.md is /intro")
    static = as_texts(given.get("staticDirectories")) or ["static"]
    found.take_static(*static)
    _take_images(found, given, [config.folder / name for name in static])
    _take_blog(found, docs)
    for plugin in as_list(given.get("plugins")):
        _take_plugin(found, plugin)
    _begin_with_what_is_there(found)
    found.left += [] if given else ["everything: its settings are not literals"]
    found.left += [said for name, said in _LEFT.items() if (config.folder / name).is_dir()]
    return found


def _take_images(found: ImportedSettings, given: Mapping[str, Any], folders: Sequence[Path]) -> None:
    logo = as_table(as_table(as_table(given.get("themeConfig")).get("navbar")).get("logo"))
    found.take_image("logo", logo.get("src"), "themeConfig.navbar.logo", *folders)
    found.take_image("logo_dark", logo.get("srcDark"), "themeConfig.navbar.logo.srcDark", *folders)
    found.take_image("favicon", given.get("favicon"), "favicon", *folders)


def _begin_with_what_is_there(found: ImportedSettings) -> None:
    """Let a further folder be the first collection if there are no documents in the usual place."""
    if found.root.is_dir() or not found.beside:
        return
    found.name, folder = next(iter(found.beside.items()))
    del found.beside[found.name]
    found.root = folder.root
    order, source = found.tables["site"]["navigation"]
    kept = {name: files for name, files in order.items() if name not in ("NAME", found.name)}
    found.tables["site"]["navigation"] = ({"NAME": order.get(found.name, []), **kept}, source)


def _preset_options(given: Mapping[str, Any]) -> Mapping[str, Any]:
    presets = [each for each in as_list(given.get("presets")) if isinstance(each, list) and len(each) > 1]
    return next((as_table(each[1].get("docs")) for each in presets if isinstance(each[1], dict)), {})


def _generating(docs: _Documents) -> Iterator[Path]:
    """Yield the sidebars that describe pages of categories."""
    for path in docs.sidebars:
        if docs.config.holds(path) and _GENERATED in docs.config.text(path):
            yield path


def _take_blog(found: ImportedSettings, docs: _Documents) -> None:
    """Import the blog beside the documents, and where the sources of both are edited."""
    blog, folder = found.config.folder / "blog", found.root.name
    edit_url = as_text(docs.options.get("editUrl"))
    if docs.address != "blog" and blog.is_dir() and found.finds(blog):
        # Both lie below the top of the site, at the addresses that they have in Docusaurus.
        found.beside["blog"], found.name = FurtherFolder(blog, "the folder of the blog"), docs.address
        found.take("site", "blogs", ["blog"], "the blog")
        found.take_authors(blog)
        folder = "{collection}" if collection_name(found) == folder else ""
    if edit_url and folder and found.root.parent == found.config.folder:
        found.take("site", "edit_url", f"{edit_url.rstrip('/')}/{folder}/{{path}}", "editUrl")


def _take_plugin(found: ImportedSettings, plugin: object) -> None:
    name, *given = plugin if isinstance(plugin, list) and plugin else [plugin]
    options = as_table(given[0]) if given else {}
    if isinstance(name, str) and name.endswith("client-redirects") and options:
        moved: dict[str, str] = {}
        for each in as_list(options.get("redirects")):
            old, new = as_table(each).get("from"), as_table(each).get("to")
            several = old if isinstance(old, list) else [old]
            moved |= {one: new for one in several if isinstance(one, str) and isinstance(new, str)}
        found.take("site", "redirects", moved, "plugins")
    elif isinstance(name, str) and name.endswith("content-docs") and _takes_documents(found, options):
        return
    elif isinstance(name, str):
        found.left.append(f"the plugin {name}")
    elif isinstance(name, Unread) and "function" not in name.kind:
        found.left.append(f"a plugin whose name is computed ({name.where})")


def _takes_documents(found: ImportedSettings, options: Mapping[str, Any]) -> bool:
    """Import a further folder of documents as a collection of its own, named as its addresses begin.

    Where the first lies at the top of the site, it comes below the name of its addresses too.
    """
    docs = _Documents(found.config, options).as_published()
    first = _Documents(found.config, {"routeBasePath": found.name}).address
    if not as_text(options.get("path")) or not docs.root.is_dir() or docs.address in (first, *found.beside):
        return False
    name = collection_name(ImportedSettings(found.tool, found.config, docs.root, name=docs.address))
    if name != docs.address:
        return False
    found.name = first
    sound = [each for each in as_texts(options.get("exclude")) if not pattern_fault(each)]
    found.beside[name] = FurtherFolder(docs.root, f"documents at /{name}/", sound)
    set_order(found, *docs.sidebars, docs.root, name=name)
    return True
