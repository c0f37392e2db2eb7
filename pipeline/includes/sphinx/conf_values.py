"""What ``conf.py`` of Sphinx gives its documents: substitutions, roles for links, and text around each.

Only what is written there as a literal is known; nothing is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from ...errors import is_transient
from ...filesystems.availability import briefly_away
from ...identity import combined_hash
from ...model import Source
from ...untrusted import NotRead, is_within, read_regular, read_settings
from .autodoc_options import AutodocOptions, autodoc_options
from .conf_literals import MAX_CHARS, Computed, files_read_into, literals_of, settings_of_book
from .object_types import ObjectType, extension_places, object_types

CONF = "conf.py"
MARKDOWN, RST = (".md", ".markdown"), (".rst", ".rest")
# Whatever a conf.py says: these have a form of their own.
NEVER_RST = (".html", ".htm", ".xhtml", ".ipynb", ".pdf", ".docx", ".mdx")
_MAX_BYTES = 500_000
_SUBSTITUTED = ("version", "release", "project", "author", "copyright")
_SUBSTITUTIONS = "myst_substitutions"
_ENDING = re.compile(r"\.[A-Za-z][\w.-]{0,20}")
_COMPUTED_FORMAT = "source_suffix in conf.py is computed: the document is read by its ending"
_ROLE = re.compile(r"[A-Za-z][\w:.+-]{0,80}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_KNOWN = (*MARKDOWN, *RST, ".ipynb")
# The setting, neither in a comment nor empty.
_OTHER_PROJECTS = re.compile(rb"^[^#\n]*intersphinx_mapping(?!\s*[=:]\s*(?:\{\s*\}|None\b))", re.MULTILINE)
_FileState = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class SphinxValues:
    """The values of one ``conf.py``; ``links`` are addresses and captions, each with ``%s``, by role."""

    texts: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # The address of each project of ``intersphinx_mapping``; which page a label is on, its inventory tells.
    projects: Mapping[str, str] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()  # substitutions of which only the names are known
    prolog: str = ""
    epilog: str = ""
    # That of text in single backticks in reStructuredText.
    default_role: str = ""
    autodoc: AutodocOptions = ()
    # By the endings of files that do not tell it, those of files that they are read like.
    formats: Mapping[str, str] = field(default_factory=dict)
    # Endings, empty for all, of files of which the script computes how they are read.
    computed_formats: frozenset[str] = frozenset()
    # Whether labels are looked for in other projects, also in some that the script computes.
    has_other_projects: bool = False
    # What the project declares of its own, also in extensions beside the script.
    objects: tuple[ObjectType, ...] = ()

    def read_as(self, path: str) -> str:
        """Return the ending of files that the one at ``path`` is read like; nothing for its own."""
        name = path.lower()
        return next((given for ending, given in self.formats.items() if name.endswith(ending.lower())), "")

    def remark_on_format(self, path: str) -> str:
        """Return the remark on a file of which only running the script would tell how it is read."""
        name = path.lower()
        is_known = name.endswith(_KNOWN) or bool(self.read_as(path))
        is_computed = any(name.endswith(ending.lower()) for ending in self.computed_formats)
        return _COMPUTED_FORMAT if is_computed and not is_known else ""


def values_for(source: Source, location: str, folders: Sequence[Path]) -> SphinxValues | None:
    """Return what ``conf.py`` gives the source at a path in these folders, ``None`` if there is none for it.

    Raise ``SourceError`` where the machine cannot say now.
    """
    if source.path.lower().endswith(NEVER_RST):
        return None
    try:
        return sphinx_values(os.path.realpath(location), folders)
    except OSError as error:
        raise briefly_away(error, f"{source.collection}:{source.path}") from error


def in_its_format(source: Source, values: SphinxValues) -> Source:
    """Return the source read as ``source_suffix`` says, or with the remark that this is computed."""
    read_as, remark = values.read_as(source.path), values.remark_on_format(source.path)
    if not read_as and not remark:
        return source
    sha256 = combined_hash((source.sha256, read_as or remark))
    notes = (*source.notes, remark) if remark else source.notes
    return replace(source, read_as=read_as, sha256=sha256, notes=notes, version="")


def with_other_projects(source: Source, values: SphinxValues) -> Source:
    """Return the source as one whose labels may be of other projects, where ``conf.py`` names such."""
    if not values.has_other_projects:
        return source
    return replace(source, has_other_projects=True, sha256=combined_hash((source.sha256, "other projects")))


def sphinx_values(path: str, folders: Sequence[Path]) -> SphinxValues | None:
    """Return what the nearest ``conf.py`` above a document gives it, in the folders that may be read."""
    for folder in Path(path).parents:
        if not any(folder.is_relative_to(each) for each in folders):
            break
        for name, reader in _READERS.items():
            content = _content_of(folder / name)
            if content is not None and (values := reader(content)) is not None:
                return _with_files(values, content, folder) if name == CONF else values
    return None


def _with_files(values: SphinxValues, conf: bytes, folder: Path) -> SphinxValues:
    """Return the values with what ``conf.py`` takes from other files in its folder."""
    objects = _objects(folder, conf)
    with_read = _with_substitutions(values, conf, folder)
    return replace(with_read, objects=objects) if objects else with_read


def _objects(folder: Path, conf: bytes) -> tuple[ObjectType, ...]:
    """Return the types of objects that ``conf.py`` and the extensions beside it declare."""
    if len(conf) > _MAX_BYTES:
        return ()
    return _objects_in(folder, conf, tuple(_extensions(folder, extension_places(conf))))


@lru_cache(maxsize=32)
def _objects_in(
    folder: Path, conf: bytes, extensions: tuple[tuple[str, _FileState], ...]
) -> tuple[ObjectType, ...]:
    """Return the types that the script and its extensions declare; their states tell when they change."""
    scripts = (conf, *(_script(Path(path), folder) for path, _ in extensions))
    return tuple(kind for script in scripts for kind in object_types(script))


def _extensions(
    folder: Path, places: Iterable[tuple[str, tuple[str, ...]]]
) -> Iterator[tuple[str, _FileState]]:
    """Yield the files at these places that are there."""
    for below, names in places:
        top = f"{folder}/{below}"
        for path in (f"{top}/{name}" for name in names) if _state(top) else ():
            if (state := _state(path)) is not None:
                yield path, state


def _state(path: str) -> _FileState | None:
    """Return what becomes another when a file changes, ``None`` if it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - hundreds for each document
    except (OSError, ValueError) as error:
        if is_transient(error):
            raise
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _script(path: Path, folder: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES, folder)
    except NotRead:
        return b""
    except OSError as error:
        if is_transient(error):
            raise
        return b""


def _with_substitutions(values: SphinxValues, content: bytes, folder: Path) -> SphinxValues:
    """Return the values with the substitutions that ``conf.py`` reads from files in its folder."""
    named = [folder / name for name in _substitution_files(content)]
    tables = [_table(_content_of(path) or b"", path.name) for path in named if is_within(path, folder)]
    read = {name: text for table in tables for name, text in table.items()}
    return replace(values, substitutions={**read, **values.substitutions}) if read else values


@lru_cache(maxsize=32)
def _substitution_files(content: bytes) -> tuple[str, ...]:
    return files_read_into(content, _SUBSTITUTIONS) if len(content) <= _MAX_BYTES else ()


@lru_cache(maxsize=32)
def _table(content: bytes, name: str) -> Mapping[str, str]:
    try:
        given = read_settings(content[:_MAX_BYTES].decode("utf-8", "replace"), name)
    except (NotRead, ValueError):
        return {}
    return _texts(given) if isinstance(given, Mapping) else {}


def _texts(table: Mapping[object, object]) -> dict[str, str]:
    return {name: str(each) for name, each in table.items() if isinstance(name, str) and is_value(each)}


def _content_of(conf: Path) -> bytes | None:
    try:
        if conf.is_file() and not conf.is_symlink():
            with conf.open("rb") as file:
                return file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if is_transient(error):
            raise
    return None


@lru_cache(maxsize=32)
def _values_in(content: bytes) -> SphinxValues:
    return _values_of(literals_of(content) if len(content) <= _MAX_BYTES else {}, content)


@lru_cache(maxsize=32)
def _values_in_book(content: bytes) -> SphinxValues | None:
    given = settings_of_book(content) if len(content) <= _MAX_BYTES else {}
    return _values_of(given, content) if given else None


_READERS: Mapping[str, Callable[[bytes], SphinxValues | None]] = {
    CONF: _values_in,
    "_config.yml": _values_in_book,
}
SETTINGS = tuple(_READERS)


def _values_of(given: Mapping[str, object], content: bytes) -> SphinxValues:
    texts = {name: given[name] for name in _SUBSTITUTED if is_value(given.get(name))}
    own, links = given.get(_SUBSTITUTIONS), given.get("extlinks")
    table = own if isinstance(own, Mapping) else {}
    return SphinxValues(
        {name: str(text) for name, text in texts.items() if "\n" not in str(text)},
        dict(_links(links)) if isinstance(links, Mapping) else {},
        dict(_projects(given.get("intersphinx_mapping"))),
        _texts(table),
        frozenset(name for name, each in table.items() if isinstance(name, str) and each is Computed),
        str(given["rst_prolog"]) if is_value(given.get("rst_prolog")) else "",
        str(given["rst_epilog"]) if is_value(given.get("rst_epilog")) else "",
        role if isinstance(role := given.get("default_role"), str) and _ROLE.fullmatch(role) else "",
        autodoc_options(given),
        formats_of(given.get("source_suffix")),
        frozenset(ending for ending, kind in _kinds(given.get("source_suffix")) if kind is Computed),
        _OTHER_PROJECTS.search(content) is not None,
    )


def formats_of(given: object) -> dict[str, str]:
    """Return what ``source_suffix`` says of other endings than the usual: ``.rst`` or ``.md`` for each."""
    return {
        ending: ".rst" if kind in (None, "restructuredtext") else ".md"
        for ending, kind in _kinds(given)
        if ending and (kind is None or isinstance(kind, str))
    }


def _kinds(given: object) -> Iterator[tuple[str, object]]:
    """Yield the other endings with what Sphinx calls their formats; an empty one for a computed setting."""
    if given is Computed:
        yield "", Computed
    endings = given if isinstance(given, list | tuple) else (given,)
    for ending, kind in given.items() if isinstance(given, Mapping) else ((each, None) for each in endings):
        if isinstance(ending, str) and _ENDING.fullmatch(ending) and not ending.lower().endswith(_KNOWN):
            yield ending, kind


def is_value(value: object) -> bool:
    """Return whether it is a text that may stand in documents."""
    return isinstance(value, str) and 0 < len(value) <= MAX_CHARS and not _SURROGATE.search(value)


def _links(given: Mapping[object, object]) -> Iterator[tuple[str, tuple[str, str]]]:
    for name, each in given.items():
        address, caption = each if isinstance(each, tuple | list) and len(each) == 2 else (None, None)
        if isinstance(name, str) and is_value(address) and str(address).startswith(("https://", "http://")):
            yield name, (str(address), str(caption) if is_value(caption) else "")


def _projects(given: object) -> Iterator[tuple[str, str]]:
    for name, each in given.items() if isinstance(given, Mapping) else ():
        address = each[0] if isinstance(each, tuple | list) and each else None
        if isinstance(name, str):
            is_web = isinstance(address, str) and address.startswith(("https://", "http://"))
            yield name, str(address) if is_web else ""
