"""What is imported of vaults of notes: those of Dendron and Obsidian, graphs of Logseq, sites of Quartz."""

from __future__ import annotations

from ...pipeline.untrusted import read_settings, read_yaml
from .imported_settings import ImportedSettings
from .tool_file import ToolFile, as_list, as_table, as_text, as_texts


def dendron(config: ToolFile) -> ImportedSettings:
    """Return what ``dendron.yml`` says of the vaults and what is published of them."""
    given = as_table(read_yaml(config.text()))
    vaults = [as_table(each) for each in as_list(as_table(given.get("workspace")).get("vaults"))]
    public = [each for each in vaults if each.get("visibility") != "private"]
    paths = as_texts([each.get("fsPath") for each in public])
    found = ImportedSettings("Dendron", config, config.beside(paths[0] if paths else "", "vault"))
    publishing = as_table(given.get("publishing"))
    found.site(as_table(publishing.get("seo")), title="title", description="description")
    found.site(publishing, base_url="siteUrl")
    private = as_texts([each.get("fsPath") for each in vaults if each not in public])
    found.left += [f"the vault {each}" for each in paths[1:]]
    found.left += [f"the vault {each}, which is private" for each in private]
    index = as_text(publishing.get("siteIndex"))
    if index and "/" not in index and "\0" not in index and (found.root / f"{index}.md").is_file():
        found.take("site", "home", f"{index}.md", "publishing.siteIndex")
    tops = as_texts(publishing.get("siteHierarchies"))
    if tops and "root" not in tops:  # other notes are not published
        found.include = [f"/{pattern}" for top in tops for pattern in (f"{top}.md", f"{top}.*.md")]
    return found


def obsidian(config: ToolFile) -> ImportedSettings:
    """Return what the folder of settings says of a vault."""
    found = ImportedSettings("Obsidian", config, config.folder, include=["**/*.md", "**/*.canvas"])
    found.take("site", "title", config.folder.resolve().name, "the vault's folder")
    templates = config.path / "templates.json"
    given = as_table(read_settings(config.text(templates), templates.name)) if templates.exists() else {}
    if folder := as_text(given.get("folder")).strip("/"):
        found.leave_out([f"{folder}/"])
    return found


def logseq(config: ToolFile) -> ImportedSettings:
    """Return what is known of a graph by its folder."""
    found = ImportedSettings("Logseq", config, config.folder, include=["**/*.md"])
    found.take("site", "title", config.folder.resolve().name, "the graph's folder")
    return found


def quartz(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``quartz.config.ts``."""
    given = as_table(as_table(config.script().value).get("configuration"))
    found = ImportedSettings("Quartz", config, config.beside("content"))
    found.site(given, title="pageTitle")
    if isinstance(given.get("baseUrl"), str):
        found.take("site", "base_url", f"https://{given['baseUrl']}", "baseUrl")
    if isinstance(given.get("locale"), str):
        found.take("site", "language", given["locale"].partition("-")[0], "locale")
    found.leave_out(given.get("ignorePatterns"))
    found.take("site", "slugs", True, "Quartz's permalink in front matter")
    found.left += ["theme"] if given.get("theme") else []
    return found
