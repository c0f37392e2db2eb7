"""Settings of tools that keep them in JavaScript or TypeScript: read where they are literals."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ...pipeline.navigation.sidebars import with_root_locale
from ...pipeline.navigation.site_scripts import starlight_options
from ...pipeline.settings.site import LANGUAGE
from .imported_settings import ImportedSettings, set_order
from .tool_file import ToolFile, as_list, as_table, as_text, texts_of

# Scripts that VitePress makes pages with.
_MAX_ROUTES = 200


def starlight(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``astro.config.mjs`` of a site that Starlight makes."""
    root = config.beside("src/content/docs")
    if not root.is_dir():
        raise ValueError("there is no folder src/content/docs, in which Starlight keeps its documents")
    found = ImportedSettings("Starlight", config, root, include=["**/*.md", "**/*.mdx"])
    script = config.script()
    given = as_table(script.value)
    found.take_static(as_text(given.get("publicDir")) or "public", "src/assets")
    found.site(given, base_url="site")
    found.take("site", "slugs", True, "Starlight's slug in front matter")
    options = starlight_options(script)
    title = options.get("title")
    title = title if isinstance(title, str) else next(iter(texts_of(title).values()), "")
    found.take("site", "title", title, "starlight()")
    found.site(options, description="description")
    public = config.folder / (as_text(given.get("publicDir")) or "public")
    _import_logo(found, options.get("logo"), "starlight(): logo", config.folder)
    found.take_image("favicon", options.get("favicon"), "starlight(): favicon", public)
    if "sidebar" in options:
        set_order(found, config.path)
    locales = {key: as_table(each) for key, each in as_table(options.get("locales")).items()}
    main = as_text(locales.get("root", {}).get("lang")) or as_text(options.get("defaultLocale"))
    found.take("site", "language", main if main != "root" else "", "starlight(): locales")
    found.left += [] if options else ["what is in the call of starlight(), which is not a literal"]
    found.left += ["locales of starlight(): set [site.languages]"] if len(locales) > 1 else []
    return found


def mintlify(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``docs.json`` or ``mint.json``."""
    given = as_table(config.script().value)
    found = ImportedSettings("Mintlify", config, config.folder, include=["**/*.md", "**/*.mdx"])
    found.site(given, title="name", description="description")
    _import_logo(found, given.get("logo"), "logo", found.root)
    found.take_image("favicon", given.get("favicon"), "favicon", found.root)
    set_order(found, config.path)
    found.exclude = [name for name in ("snippets/", "node_modules/") if (found.root / name).is_dir()]
    moved = {
        each["source"]: each["destination"]
        for each in map(texts_of, as_list(given.get("redirects")))
        if {"source", "destination"} <= each.keys() and not set(each["source"]) & set(":*")
    }
    found.take("site", "redirects", moved, "redirects")
    found.left += [f"{key} of Mintlify" for key in ("api", "theme", "integrations") if key in given]
    return found


def vitepress(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``.vitepress/config``."""
    given = with_root_locale(config.script().value)
    root = config.beside(f"../{as_text(given.get('srcDir')) or '.'}")
    found = ImportedSettings("VitePress", config, root)
    found.site(given, title="title", description="description", language="lang")
    hostname, base = as_text(as_table(given.get("sitemap")).get("hostname")), as_text(given.get("base"))
    found.take(
        "site", "base_url", hostname and hostname.rstrip("/") + (base or "/"), "sitemap.hostname, base"
    )
    theme = as_table(given.get("themeConfig"))
    pattern = as_text(as_table(theme.get("editLink")).get("pattern"))
    found.take("site", "edit_url", pattern.replace(":path", "{path}"), "themeConfig.editLink")
    set_order(found, config.path)
    found.leave_out(given.get("srcExclude"))
    _leave_out_routes(found)
    found.left += [f"{key} of VitePress" for key in ("head", "rewrites") if given.get(key)]
    labels = [
        key for key in as_table(as_table(given.get("markdown")).get("container")) if key.endswith("Label")
    ]
    found.left += [f"markdown.container.{key}" for key in labels]
    _import_logo(found, theme.get("logo"), "themeConfig.logo", root / "public")
    _import_languages(found, as_table(given.get("locales")), as_text(given.get("lang")))
    found.left += [] if given else ["everything: its settings are not literals"]
    return found


def _leave_out_routes(found: ImportedSettings) -> None:
    """Leave out the pages that a script makes pages of, with values of its own: ``[id].md``."""
    for script in islice(_route_scripts(found.root), _MAX_ROUTES):
        page = script.with_name(script.name.partition(".paths.")[0] + ".md")
        if page.is_file():
            name = page.relative_to(found.root).as_posix()
            found.exclude.append("/" + re.sub(r"([\[\]*?!\\])", r"\\\1", name))
            found.left.append(f"the pages that {script.name} makes of {name}")


def _route_scripts(root: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name[0] != "." and name != "node_modules")
        scripts = (name for name in sorted(names) if re.search(r"\.paths\.[cm]?[jt]s\Z", name))
        yield from (Path(folder, name) for name in scripts)


def _import_languages(found: ImportedSettings, locales: Mapping[str, Any], main: str) -> None:
    """Import the languages of VitePress, each with its folder; others are sites of their own."""
    tags = {
        key: as_text(as_table(each).get("lang")) or (main if key == "root" else key)
        for key, each in locales.items()
    }
    there = {key: tag for key, tag in tags.items() if key == "root" or found.finds(found.root / key)}
    codes = {tag: "" if key == "root" else key for key, tag in there.items() if LANGUAGE.fullmatch(tag)}
    found.take("site", "languages", codes if len(codes) > 1 else {}, "locales")


def _import_logo(found: ImportedSettings, given: object, source: str, *folders: Path) -> None:
    """Import a logo, which may have a variant for the dark theme."""
    named = as_table(given) or {"src": given}
    found.take_image("logo", named.get("light") or named.get("src"), source, *folders)
    found.take_image("logo_dark", named.get("dark"), f"{source}.dark", *folders)


def vuepress(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``.vuepress/config``."""
    given = as_table(config.script().value)
    found = ImportedSettings("VuePress", config, config.beside(".."))
    found.site(given, title="title", description="description", language="lang")
    set_order(found, config.path)
    public = config.folder / "public"
    found.static += [public] if found.finds(public) else []
    _import_logo(found, as_table(given.get("themeConfig")).get("logo"), "themeConfig.logo", public)
    found.left += [f"{key} of VuePress" for key in ("head", "plugins", "locales") if given.get(key)]
    found.left += [] if given else ["everything: its settings are not literals"]
    return found
