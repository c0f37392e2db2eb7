"""What the folder of a document says about it: whose tool's folder it is, and the site's own values."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from ..errors import is_transient
from ..untrusted import NotRead, as_text, is_within, read_settings, with_lower_keys
from .front_matter_blocks import find_block, included_start
from .hugo.page_names import PageNames
from .jekyll.data_files import MAX_NAME_BYTES, DataFiles
from .logseq.config import CONFIG, read_config
from .parts import whole
from .tool_folders import ENDINGS, HUGO_SETTINGS, Tool, tools_of
from .vaults.line_breaks import has_line_breaks

_JEKYLL: frozenset[Tool] = frozenset({"jekyll"})
_SPHINX: frozenset[Tool] = frozenset({"sphinx"})
_MAX_YAML_BYTES = 64 * 1024
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
# Of Hugo: where its parameters and a site's own shortcodes stand.
_HUGO_PARAMS = tuple(f"config/_default/params.{ending}" for ending in ENDINGS)
_SHORTCODES = ("layouts/_shortcodes", "layouts/shortcodes")
_PARTIALS = ("layouts/_partials", "layouts/partials")
_MAX_THEMES = 20
_TEMPLATE_NAME = re.compile(r"[\w-]+(?:/[\w-]+)*(?:\.\w+){1,3}")
_MAX_TEMPLATE_BYTES = 20_000
_STEP = re.compile(r"\.?([\w-]+)|\[(?:\"([^\"\]]*)\"|'([^'\]]*)'|(\d+))\]")
_PAGE_NAMES = ("", ".md", ".markdown", ".mdx", "/index.md", "/_index.md", ".html")


@dataclass(frozen=True, slots=True)
class Project:
    """The tools whose folder it is, and the values of Jekyll's ``_config.yml`` or of Hugo's settings.

    ``root`` is the real path, empty for documents at an address. ``templates`` are the folders of Hugo's
    shortcodes, ``partials`` those of what they share, and ``pages`` those that references may name. With
    ``has_line_breaks`` lines of paragraphs end where they are written to end.
    """

    root: str = ""
    tools: frozenset[Tool] = frozenset()
    site: Mapping[str, object] = field(default_factory=dict)
    templates: tuple[str, ...] = ()
    partials: tuple[str, ...] = ()
    pages: PageNames | None = None
    has_line_breaks: bool = False

    def address_of(self, target: str, page: str) -> str:
        """Return a page's address below the root, as Hugo finds it from another one, or ``target`` itself."""
        path, mark, fragment = target.partition("#")
        own = posixpath.relpath(posixpath.dirname(page), self.root) if self.root else "."
        for folder in () if path.startswith("/") or not self.root else (own, "."):
            for name in _PAGE_NAMES if path else ():
                found = posixpath.normpath(posixpath.join(folder, path.rstrip("/") + name))
                if not found.startswith("..") and _is_file(Path(self.root, found)):
                    return f"/{quote(found)}{mark}{fragment}"
        named = self.pages.path_of(path.rstrip("/")) if self.pages and not path.startswith("/") else ""
        if named:
            return f"/{quote(named)}{mark}{fragment}"
        return quote(path, safe="/:%?=&") + mark + fragment

    def template(self, name: str) -> str | None:
        """Return the template of a shortcode, in any letter case; ``None`` if the site has none."""
        return _template(self.templates, f"{name}.html")

    def partial(self, name: str) -> str | None:
        """Return a template that others use; ``None`` if the site has none of this name."""
        return _template(self.partials, name if "." in name else f"{name}.html")

    def resource(self, name: str, page: str) -> str:
        """Return the path of the image beside a page, or in a folder there, whose name begins so."""
        folder, names = Path(page).parent, list[str]()
        for pattern in (f"{name}*", f"*/{name}*") if self.root and not name.startswith("/") else ():
            names += [each.relative_to(folder).as_posix() for each in sorted(folder.glob(pattern))]
        return next((quote(each) for each in names if each.lower().endswith(_IMAGE_ENDINGS)), "")


@dataclass(frozen=True, slots=True)
class Context:
    """What directives of a document may name: its project and its front matter; ``path`` is the real one.

    ``variables`` are the values of files that the collection names for this.
    """

    project: Project = field(default_factory=Project)
    page: Mapping[str, object] = field(default_factory=dict)
    path: str = ""
    variables: Mapping[str, object] = field(default_factory=dict)

    def is_of(self, tool: Tool) -> bool:
        """Return whether the document's folder is that tool's."""
        return tool in self.project.tools

    def of_sphinx(self) -> Context:
        """Return the context for Sphinx and Jupyter Books, whose settings file has the name of Jekyll's."""
        tools = self.project.tools - _JEKYLL | _SPHINX
        return replace(self, project=replace(self.project, tools=tools))


def context_of(text: str, path: str, folders: Sequence[Path]) -> Context:
    """Return the context of the document at the real path ``path``; ``folders`` may be read from."""
    tools = tools_of(folders)
    site = next((read(folders) for tool, read in _VALUES.items() if tool in tools), _NO_VALUES)
    root = str(folders[0]) if folders else ""
    templates, partials = (
        _inside(folders, names) if "hugo" in tools else () for names in (_SHORTCODES, _PARTIALS)
    )
    pages = PageNames(root) if root else None
    breaks = has_line_breaks(folders, tools)
    project = Project(root, tools, site, templates, partials, pages, breaks)
    return Context(project, front_matter_of(text), path)


def _inside(folders: Sequence[Path], names: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of these names that are in one of the others, or in a theme or module there."""
    parts = [(folder, part) for folder in folders for part in (folder, *_themes(folder))]
    places = [(folder, part / name) for folder, part in parts for name in names]
    return tuple(str(place) for folder, place in places if place.is_dir() and is_within(place, folder))


def _themes(folder: Path) -> Iterator[Path]:
    """Yield the folders of Hugo's themes, and of modules that ``hugo mod vendor`` has brought."""
    for above, pattern in (("themes", "*"), ("_vendor", "*/*/*")):
        if (folder / above).is_dir():
            yield from islice(sorted((folder / above).glob(pattern)), _MAX_THEMES)


def front_matter_of(text: str) -> Mapping[str, object]:
    """Return the values at the head of a document; none if they cannot be read."""
    found = find_block(text)
    if found is None or found.end is None or not found.is_any:
        return {}
    return _values(found.head, f".{found.kind}")


def without_front_matter(text: str) -> str:
    """Return an included page without the block at its head."""
    return whole(text[included_start(text) :])


def _site_values(folders: Sequence[Path]) -> Mapping[str, object]:
    for folder in folders:
        path = folder / "_config.yml"
        if _is_file(path) and not path.is_symlink():
            with path.open("rb") as file:
                given = _values(file.read(_MAX_YAML_BYTES + 1).decode("utf-8", "replace"))
            return {**given, "data": DataFiles(folder / "_data", folder)}
    return {}


def _hugo_values(folders: Sequence[Path]) -> Mapping[str, object]:
    """Return Hugo's settings, in which names are in lower case."""
    values: dict[str, object] = {}
    for name in (*HUGO_SETTINGS, *_HUGO_PARAMS):
        for path, folder in ((folder / name, folder) for folder in folders):
            if _is_file(path) and is_within(path, folder):
                with path.open("rb") as file:
                    text = file.read(_MAX_YAML_BYTES + 1).decode("utf-8", "replace")
                read = _lowered(_values(text, name))
                values |= {"params": read} if name in _HUGO_PARAMS else read
    # Not that of pages, where a section may have this name.
    site = next((each for each in folders if (each / "data").is_dir() and "hugo" in tools_of([each])), None)
    return values if site is None else {**values, "data": DataFiles(site / "data", site)}


def _logseq_values(folders: Sequence[Path]) -> Mapping[str, object]:
    """Return how a graph of Logseq writes days, by the settings in one of the folders or above it."""
    for folder in (*folders, *(each.parent for each in folders)):
        if _is_file(folder / CONFIG) and is_within(folder / CONFIG, folder):
            with (folder / CONFIG).open("rb") as file:
                text = file.read(_MAX_YAML_BYTES).decode("utf-8", "replace")
            return {"title_format": read_config(text).title_format}
    return {}


_NO_VALUES: Mapping[str, object] = {}
_VALUES: Mapping[Tool, Callable[[Sequence[Path]], Mapping[str, object]]] = {
    "jekyll": _site_values,
    "hugo": _hugo_values,
    "logseq": _logseq_values,
}


def _lowered(values: Mapping[str, object]) -> dict[str, object]:
    below = with_lower_keys(values)
    return {key: _lowered(each) if isinstance(each, Mapping) else each for key, each in below.items()}


def _values(text: str, file: str = ".yaml") -> Mapping[str, object]:
    """Return the values of a file's text; none if it is wrong, which the parser of the document reports."""
    if len(text) > _MAX_YAML_BYTES:
        return {}
    try:
        values = read_settings(text, file)
    except (NotRead, ValueError, RecursionError):
        return {}
    pairs = values.items() if isinstance(values, dict) else ()
    return {name: value for key, value in pairs if (name := as_text(key)) is not None}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError) as error:
        if is_transient(error):
            raise
        return False


def _template(folders: Sequence[str], name: str) -> str | None:
    is_name = len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES and _TEMPLATE_NAME.fullmatch(name)
    for folder in folders if is_name else ():
        path = _in_any_case(Path(folder), name)
        if path is not None and is_within(path, Path(folder)) and _is_file(path):
            with path.open("rb") as file:
                content = file.read(_MAX_TEMPLATE_BYTES + 1)
            return content.decode("utf-8", "replace") if len(content) <= _MAX_TEMPLATE_BYTES else None
    return None


def _in_any_case(folder: Path, name: str) -> Path | None:
    """Return the file of a name below a folder, whatever its letter case."""
    path: Path | None = folder
    for part in name.split("/"):
        if path is not None and not _is_file(path / part) and not (path / part).is_dir():
            below = sorted(path.iterdir()) if path.is_dir() else []
            path = next((each for each in below if each.name.lower() == part.lower()), None)
        else:
            path = path and path / part
    return path


def value_named(name: str, values: object) -> object:
    """Return the value at a path such as ``a.b["c"][0]``; ``None`` if there is none."""
    for step in _STEP.finditer(name):
        key = next(each for each in step.groups() if each is not None)
        if isinstance(values, Mapping):
            values = values.get(key)
        elif isinstance(values, list) and key.isdecimal() and int(key) < len(values):
            values = values[int(key)]
        else:
            return None
    return values


def shown(value: object) -> str:
    """Return a plain value as text; lists and mappings have none."""
    if isinstance(value, bool):
        return str(value).lower()
    # Half a surrogate pair, which YAML may hold as an escape, has no bytes.
    text = str(value) if isinstance(value, date) else as_text(value) or ""
    return text.encode("utf-8", "replace").decode()
