"""What is imported from another tool's settings, and how it is written as a settings file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...pipeline.assets.media import recognise
from ...pipeline.assets.svg import is_white
from ...pipeline.patterns import pattern_fault
from ...pipeline.printable import printable
from ...pipeline.settings.collection import absolute_address
from ...pipeline.settings.settings import COLLECTION_NAME
from ...pipeline.settings.site import LANGUAGE
from ...pipeline.untrusted import NotRead, is_within, read_regular, read_yaml
from .tool_file import ANY_PROJECT, MAX_BYTES, ToolFile, as_table, as_text, as_texts

# Of tools that read both endings.
MARKDOWN = ("**/*.md", "**/*.markdown")
_MAX_CHARS = 2_000
_AUTHORS = (".authors.yml", "authors.yml")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MAX_NAME = 40
_VERSION = re.compile(r"(?<=[A-Za-z\d])[-_]v?\d+(?:\.\d+)+.*\Z")


@dataclass(frozen=True, slots=True)
class FurtherFolder:
    """The folder of a further collection, what it holds, and patterns of what it leaves out."""

    root: Path
    holds: str
    exclude: Sequence[str] = ()


@dataclass(slots=True)
class ImportedSettings:
    """Settings by table, each with where it is from, and what could not be imported.

    ``config`` is the other tool's file, ``root`` the folder of its documents. ``static`` are folders beside
    it, from which files go to the top of the site, and ``beside`` those of further collections, by name.
    ``append`` are files that end every document, ``snippets`` folders that included files are looked for in,
    ``sidebars`` those that describe generated pages, and ``api`` tells whether the tool documents Python
    packages, all or those that documents describe. ``name`` is that of the collection, if the tool gives one,
    and ``repository`` the address of the project's, by which one without a title is named.
    """

    tool: str
    config: ToolFile
    root: Path
    tables: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    static: list[Path] = field(default_factory=list)
    beside: dict[str, FurtherFolder] = field(default_factory=dict)
    append: list[Path] = field(default_factory=list)
    snippets: list[Path] = field(default_factory=list)
    variables: list[Path] = field(default_factory=list)
    sidebars: list[Path] = field(default_factory=list)
    api: Literal["", "described", "all"] = ""
    heading_references: bool = False
    name: str = ""
    repository: str = ""
    include: list[str] = field(default_factory=lambda: ["**/*.md"])

    def take(self, table: str, key: str, value: object, source: str) -> None:
        """Take a setting over unless it is empty; ``source`` says where it is from."""
        text = " ".join(value.split()) if isinstance(value, str) else value
        if text in (None, "", [], {}):
            return
        if isinstance(text, str) and len(text) > _MAX_CHARS:
            self.left.append(f"{source}: it is longer than {_MAX_CHARS:,} characters")
            return
        if key == "language" and not LANGUAGE.fullmatch(text := str(text).replace("_", "-")):
            self.left.append(f"{source}: {text!r:.80} is not a language")
            return
        if key in ("base_url", "edit_url"):
            try:
                absolute_address(str(text))
            except ValueError:
                self.left.append(f"{source}: {text!r:.80} is not the whole address of a web page")
                return
        self.tables.setdefault(table, {})[key] = (text, f"{self.config.name}: {source}")

    def take_static(self, *names: str) -> None:
        """Import the folders beside the settings file that exist and are not in the root."""
        folders = [self.config.folder / name for name in names if "\0" not in name]
        self.static += [each for each in folders if self.finds(each) and not is_within(each, self.root)]

    def take_blog(self, *names: str) -> None:
        """Import those folders of the root that exist as blogs, and the names of their authors."""
        found = [name for name in names if "\0" not in name and self.finds(self.root / name)]
        self.take("site", "blogs", found, "the blog")
        for name in found:
            self.take_authors(self.root / name)

    def take_image(self, key: str, name: object, source: str, *folders: Path) -> None:
        """Import a logo or an icon from the first of the folders that has it, unless pages cannot show it."""
        if not name:
            return
        relative = as_text(name).removeprefix("/")
        # Path.is_file() raises for a name that is too long.
        there = [path for each in folders if os.path.isfile(path := each / relative)]  # noqa: PTH113
        if not relative or not there:
            self.left.append(source)
        elif self.finds(there[0]):
            if fault := self._image_fault(key, there[0]):
                self.left.append(f"{source}: {fault}")
            else:
                self.take("site", key, _relative(there[0], Path.cwd()), source)

    def _image_fault(self, key: str, path: Path) -> str:
        try:
            content = read_regular(path, MAX_BYTES, self.config.project)
        except (NotRead, OSError) as error:
            return printable(" ".join(str(error).split())[:200])
        found = recognise(path.name, content)
        if found.kind is None or found.kind.player != "image":
            return found.fault or "it is not an image"
        is_unseen = key == "logo" and found.kind.ending == "svg" and is_white(content)
        return "it is white, as the header of the light theme is" if is_unseen else ""

    def finds(self, path: Path) -> bool:
        """Return whether a file or folder is there and in the project; one elsewhere is remarked on."""
        if not path.exists():
            return False
        if not self.config.holds(path):
            self.left.append(f"{printable(path.name)}: it lies outside of the project")
            return False
        return True

    def leave_out(self, patterns: object) -> None:
        """Leave out what a list of patterns says, but for those that are none."""
        for each in as_texts(patterns):
            if fault := pattern_fault(each):
                self.left.append(f"the pattern {each!r:.80}: {fault:.120}")
            else:
                self.exclude.append(each)

    def take_authors(self, folder: Path) -> None:
        """Import the names in a blog's file of authors (Material, Docusaurus)."""
        files = [path for name in _AUTHORS if (path := folder / name).is_file() and self.finds(path)]
        given = as_table(read_yaml(self.config.text(files[0]))) if files else {}
        people = as_table(given.get("authors")) or given
        names = {str(key): as_table(each).get("name") for key, each in people.items()}
        known = {key: name for key, name in names.items() if isinstance(name, str)}
        if known:
            self.take("site", "authors", known, files[0].name)

    def site(self, given: Mapping[str, Any], **names: str) -> None:
        """Take settings of the site over: each of the names here from the name there, if it is text."""
        for key, name in names.items():
            if isinstance(given.get(name), str):
                self.take("site", key, given[name], name)


def set_order(found: ImportedSettings, *files: Path, name: str = "NAME") -> None:
    """Let these files say in which order the pages of a collection are, of the first if none is named."""
    there = [file.resolve() for file in files if found.finds(file)]
    listed = [_relative(file, Path.cwd()) for file in there]
    order = found.tables.get("site", {}).get("navigation", ({}, ""))[0]
    found.take("site", "navigation", {**order, name: listed}, "the order of pages")


def collection_name(found: ImportedSettings) -> str:
    """Return a name for the collection: from the title, the repository, or the nearest folder with a name.

    An unpacked archive's folder has the version in its name; it is left out.
    """
    title = found.tables.get("site", {}).get("title", ("", ""))[0]
    root = found.root.resolve()
    folders = [folder.name for folder in (root, *root.parents) if folder.name.lower() not in ANY_PROJECT]
    repository = found.repository.rstrip("/").removesuffix(".git").rpartition("/")[2]
    for text in (found.name or str(title), repository, *(_VERSION.sub("", each) for each in folders[:1])):
        name = _shortened(re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"))
        if COLLECTION_NAME.fullmatch(name):
            return name
    return "docs"


def _shortened(name: str) -> str:
    """Return as many whole words of a name as a command line has room for."""
    words = name[: _MAX_NAME + 1].rpartition("-")[0] if len(name) > _MAX_NAME else name
    return (words or name)[:_MAX_NAME].strip("-")


def settings_text(found: ImportedSettings, name: str, folder: Path, snippets: list[Path]) -> str:
    """Return a settings file for ``folder``, in which every line says where it is from."""
    lines = [
        f"# noctule: imported from {found.tool} ({_one_line(_relative(found.config.path, folder))}).",
        "# Every key with its default: configs/default.toml in the repository of noctule.",
        "",
        f"[collections.{name}]",
        *_collection_lines(found, folder, snippets),
    ]
    for other, beside in found.beside.items():
        lines += ["", f"[collections.{other}]", *_beside_lines(found, beside, folder)]
    for table, settings in sorted(found.tables.items(), key=lambda pair: (pair[0] == "site", pair[0])):
        plain = {key: given for key, given in settings.items() if not isinstance(given[0], dict)}
        lines += ["", f"[{table.replace('NAME', name)}]"] if plain or table != "site" else []
        lines += [_line(key.replace("NAME", name), *given) for key, given in plain.items()]
    for key, (value, source) in found.tables.get("site", {}).items():
        if isinstance(value, dict):
            lines += ["", f"[site.{key}]  # {_one_line(source)}"]
            lines += [_line(old.replace("NAME", name), new) for old, new in value.items()]
    return "\n".join(lines) + "\n"


def _collection_lines(found: ImportedSettings, folder: Path, snippets: list[Path]) -> Iterator[str]:
    yield _line("root", _relative(found.root, folder), "the folder of the documents")
    yield _line("include", found.include, f"what {found.tool} reads")
    folders = (
        ("snippet_folders", snippets, "documents include files from there"),
        ("auto_append", found.append, "every document ends with them"),
        ("variables", found.variables, "{{ name }} stands for their values"),
        ("static_folders", found.static, "paths such as /img/x.png lead there"),
        ("sidebars", found.sidebars, "pages of categories are generated from them"),
    )
    for key, paths, source in folders:
        if paths:
            yield _line(key, [_relative(each, folder) for each in paths], source)
    if found.heading_references:
        yield _line("heading_references", True, "[text][heading] leads to a heading of any page")
    if found.exclude:
        yield _line("exclude", found.exclude, f"{found.config.name}: what it leaves out")


def _beside_lines(found: ImportedSettings, beside: FurtherFolder, folder: Path) -> Iterator[str]:
    yield _line("root", _relative(beside.root, folder), beside.holds)
    yield _line("include", found.include)
    if found.static:
        yield _line("static_folders", [_relative(each, folder) for each in found.static])
    if beside.exclude:
        yield _line("exclude", beside.exclude)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _line(key: str, value: object, source: str = "") -> str:
    name = key if _BARE_KEY.fullmatch(key) else _string(key)
    return f"{name} = {_written(value)}" + (f"  # {_one_line(source)}" if source else "")


def _one_line(comment: str) -> str:
    return printable(" ".join(comment.split()))


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return str(value).lower() if isinstance(value, bool | int) else _string(str(value))


def _string(text: str) -> str:
    # Half a surrogate pair has no bytes.
    sound = text.encode("utf-8", "replace").decode()
    return json.dumps(sound, ensure_ascii=False).replace("\x7f", "\\u007f")
