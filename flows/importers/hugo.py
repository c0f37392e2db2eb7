"""What is imported from the settings of Hugo, in one file or in ``config/_default``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...pipeline.untrusted import is_within, read_settings, with_lower_keys
from .imported_settings import MARKDOWN, ImportedSettings
from .tool_file import ToolFile, as_text, as_texts

# Hugo takes any of these.
_ENDINGS = ("toml", "yaml", "yml", "json")
# Pages need the site's own shortcodes, and its parameters.
_USED_BY_PAGES = ("layouts/shortcodes", "layouts/_shortcodes", "config/_default")


def hugo(config: ToolFile) -> ImportedSettings:
    """Return what can be imported from ``hugo.toml`` or ``config/_default``."""
    # Of several languages, the documents of the default one.
    given = _values(config, config.path)
    languages = _beside(config, "languages") or with_lower_keys(given.get("languages"))
    code = as_text(given.get("defaultcontentlanguage")) or "en"
    own = with_lower_keys(languages.get(code.lower()))
    contents = as_text(own.get("contentdir")) or as_text(given.get("contentdir"))
    found = ImportedSettings("Hugo", config, config.beside(contents, "content"), include=[*MARKDOWN])
    said = {key: each for key, each in _beside(config, "params").items() if key in ("title", "description")}
    names = {
        "title": "title",
        "description": "description",
        "base_url": "baseurl",
        "language": "languagecode",
    }
    found.site({**said, **given, **own}, **names)
    found.take("site", "slugs", True, "Hugo's slug and url in front matter")
    found.take_blog("blog", "posts", "post")
    static = given.get("staticdir", "static")
    # Pages name the pictures in its folder of assets as if they lay at the top.
    found.take_static(*(as_texts(static) or (as_text(static) or "static",)), "assets")
    if any(_has_beside(config, name) for name in _USED_BY_PAGES) or given.get("params"):
        found.snippets.append(config.folder)
    off = {each.lower() for each in (code, *as_texts(given.get("disablelanguages")))}
    found.left += [f"the language {each}" for each in sorted(languages.keys() - off)]
    for other in sorted(languages.keys() - {code.lower()}):
        _leave_out_language(found, other, as_text(with_lower_keys(languages[other]).get("contentdir")))
    found.left += [f"{key} of Hugo" for key in ("theme", "menu", "menus", "module") if key in given]
    return found


def _has_beside(config: ToolFile, name: str) -> bool:
    return (config.folder / name).is_dir()


def _leave_out_language(found: ImportedSettings, code: str, contents: str) -> None:
    """Leave out the pages of another language: a folder within the root, or names such as a.de.md."""
    if not contents or found.config.folder / contents == found.root:
        found.leave_out([f"*.{code}.md"])
    elif "\0" not in contents and is_within(folder := found.config.folder / contents, found.root):
        found.leave_out([f"/{os.path.relpath(folder, found.root)}/"])


def _beside(config: ToolFile, name: str) -> dict[str, Any]:
    """Return the values of a file beside the settings, or in their folder; none if there is none."""
    folders = dict.fromkeys([config.path.parent, config.folder / "config" / "_default"])
    paths = (folder / f"{name}.{ending}" for folder in folders for ending in _ENDINGS)
    return next((_values(config, path) for path in paths if path.is_file()), {})


def _values(config: ToolFile, path: Path) -> dict[str, Any]:
    """Return the values of a file; Hugo does not tell letter case apart in their names."""
    return with_lower_keys(read_settings(config.text(path), path.name))
