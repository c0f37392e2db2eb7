"""Settings of tools that keep them in JavaScript or TypeScript: read where they are literals."""

from __future__ import annotations

from pathlib import Path

from ...pipeline.navigation.sidebars import read_script
from .taken_over import TakenOver, as_table, collection_name, read_text, set_order


def docusaurus(config: Path) -> TakenOver:
    """Return what can be taken over from ``docusaurus.config.js``."""
    given = as_table(read_script(read_text(config), config.name))
    presets = given.get("presets")
    options = [each[1] for each in presets if isinstance(each, list) and len(each) > 1] if presets else []
    docs = next((as_table(each.get("docs")) for each in options if isinstance(each, dict)), {})
    path = docs.get("path")
    root = config.parent / (path if isinstance(path, str) else "docs")
    found = TakenOver("Docusaurus", config, root, include=["**/*.md", "**/*.mdx"])
    found.site(given, title="title", description="tagline")
    if isinstance(given.get("url"), str):
        base = given.get("baseUrl")
        base_url = given["url"].rstrip("/") + (base if isinstance(base, str) else "/")
        found.take("site", "base_url", base_url, "url, baseUrl")
    found.site(as_table(given.get("i18n")), language="defaultLocale")
    names = ("sidebars.js", "sidebars.ts", "sidebars.json")
    set_order(found, *(config.parent / n for n in names if (config.parent / n).is_file()), found.root)
    for plugin in given.get("plugins") or [] if isinstance(given.get("plugins"), list) else []:
        _docusaurus_plugin(found, plugin)
    found.take("site", "slugs", True, "Docusaurus's slug and id in front matter")
    static = given.get("staticDirectories")
    found.take_static(*(map(str, static) if isinstance(static, list) else ("static",)))
    blog = config.parent / "blog"
    if blog.is_dir() and collection_name(found) != "blog":
        found.blog = blog
        found.take("site", "blogs", ["blog"], "the blog")
        found.take_authors(blog)
    found.left += [] if given else ["everything: its settings are not literals"]
    found.left += ["the pages in src/"] if (config.parent / "src").is_dir() else []
    return found


def _docusaurus_plugin(found: TakenOver, plugin: object) -> None:
    name, *options = plugin if isinstance(plugin, list) and plugin else [plugin]
    if isinstance(name, str) and name.endswith("client-redirects") and options:
        moved: dict[str, str] = {}
        for each in as_table(options[0]).get("redirects") or []:
            old, new = as_table(each).get("from"), as_table(each).get("to")
            several = old if isinstance(old, list) else [old]
            moved |= {one: new for one in several if isinstance(one, str) and isinstance(new, str)}
        found.take("site", "redirects", moved, "plugins")
    elif isinstance(name, str):
        found.left.append(f"the plugin {name}")


def starlight(config: Path) -> TakenOver:
    """Return what can be taken over from ``astro.config.mjs`` of a site that Starlight makes."""
    root = config.parent / "src" / "content" / "docs"
    if not root.is_dir():
        raise ValueError("there is no folder src/content/docs, in which Starlight keeps its documents")
    found = TakenOver("Starlight", config, root, include=["**/*.md", "**/*.mdx"])
    given = as_table(read_script(read_text(config), config.name))
    public = given.get("publicDir")
    found.take_static(public if isinstance(public, str) else "public")
    found.site(given, base_url="site")
    found.take("site", "slugs", True, "Starlight's slug in front matter")
    found.left += ["what is in the call of starlight(): title, sidebar, locales"]
    return found


def vitepress(config: Path) -> TakenOver:
    """Return what can be taken over from ``.vitepress/config``."""
    given = as_table(read_script(read_text(config), config.name))
    source = given.get("srcDir")
    found = TakenOver(
        "VitePress", config, config.parent.parent / (source if isinstance(source, str) else ".")
    )
    found.site(given, title="title", description="description", language="lang")
    set_order(found, config)
    found.exclude = [each for each in given.get("srcExclude") or [] if isinstance(each, str)]
    found.left += [f"{key} of VitePress" for key in ("head", "rewrites", "locales") if given.get(key)]
    return found


def quartz(config: Path) -> TakenOver:
    """Return what can be taken over from ``quartz.config.ts``."""
    given = as_table(as_table(read_script(read_text(config), config.name)).get("configuration"))
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
