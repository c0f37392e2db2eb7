"""What is taken over from another tool's settings, and how it is written as a settings file."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...pipeline.navigation.yaml_files import NotRead, read_yaml
from ...pipeline.printable import printable
from ...pipeline.settings.collection import web_address
from ...pipeline.settings.settings import COLLECTION_NAME

MAX_BYTES, _MAX_SCANNED = 2_000_000, 400
_NOT_DOCUMENTED = {"tests", "test", "docs", "doc", "examples", "scripts", "benchmarks", "tools"}
_DESCRIBED = re.compile(
    rb"(?:^[ \t]*:::|\.\.[ \t]+(?:py:)?(?:auto\w+|module|currentmodule)::"
    rb"|\{(?:py:)?(?:auto\w+|module|currentmodule)\})[ \t]+([A-Za-z_]\w*)",
    re.MULTILINE,
)
_AUTHORS = (".authors.yml", "authors.yml")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_INCLUDES = re.compile(
    rb"\{\*\s+(?P<fastapi>[^\s*{}]+)|\{!>?\s*(?P<markdown>[^\s!{}]+)\s*!\}|--8<--\s+\"(?P<snippet>[^\"\n:]+)"
    rb"|\{\{\s*#(?:include|rustdoc_include|playground)\s+(?P<mdbook>[^\s:{}]+)"
    rb"|(?:\.\.[ \t]+(?:literal)?include::|\{(?:literal)?include\})[ \t]+(?P<sphinx>[^\s{}]+)"
)


@dataclass(slots=True)
class TakenOver:
    """Settings by table, each with where it is from, and what could not be taken over.

    ``config`` is the other tool's file, ``root`` the folder of its documents. ``static`` are folders beside
    it, from which files go to the top of the site, and ``blog`` one that holds posts. ``append`` are
    files that end every document, and ``api`` tells whether the tool documents Python packages.
    """

    tool: str
    config: Path
    root: Path
    tables: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    static: list[Path] = field(default_factory=list)
    blog: Path | None = None
    append: list[Path] = field(default_factory=list)
    api: bool = False
    include: list[str] = field(default_factory=lambda: ["**/*.md"])

    def take(self, table: str, key: str, value: object, source: str) -> None:
        """Take a setting over unless it is empty; ``source`` says where it is from."""
        text = " ".join(value.split()) if isinstance(value, str) else value
        if text in (None, "", [], {}):
            return
        if key in ("base_url", "edit_url"):
            try:
                web_address(str(text))
            except ValueError:
                self.left.append(f"{source}: {text!r:.80} is no address of a web page")
                return
        self.tables.setdefault(table, {})[key] = (text, f"{self.config.name}: {source}")

    def take_static(self, *names: str) -> None:
        """Take over the folders beside the settings file that exist and are not in the root."""
        folders = (self.config.parent / name for name in names)
        self.static += [
            each
            for each in folders
            if each.is_dir() and not each.resolve().is_relative_to(self.root.resolve())
        ]

    def take_blog(self, *names: str) -> None:
        """Take over those folders of the root that exist as blogs, and the names of their authors."""
        self.take("site", "blogs", [name for name in names if (self.root / name).is_dir()], "the blog")
        for name in names:
            self.take_authors(self.root / name)

    def take_authors(self, folder: Path) -> None:
        """Take over the names in a blog's file of authors (Material, Docusaurus)."""
        files = [path for name in _AUTHORS if (path := folder / name).is_file()]
        given = as_table(read_yaml(read_text(files[0]))) if files else {}
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


def read_text(path: Path) -> str:
    """Return the text of a settings file; raise ``NotRead`` if it is too big for one, and ``OSError``."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise NotRead("it is over 2 MB")
    return content.decode("utf-8", "replace")


def as_table(value: object) -> dict[str, Any]:
    """Return the value if it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of the table whose values are text."""
    return {str(key): value for key, value in given.items() if isinstance(value, str)}


def set_order(found: TakenOver, *files: Path) -> None:
    """Let these files say in which order pages are."""
    listed = [Path(os.path.relpath(file.resolve(), Path.cwd())).as_posix() for file in files]
    found.take("site", "navigation", {"NAME": listed}, "the order of pages")


def collection_name(found: TakenOver) -> str:
    """Return a name for the collection, made from the title or the folder."""
    title = found.tables.get("site", {}).get("title", ("", ""))[0]
    for text in (str(title), found.root.resolve().name, "docs"):
        name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
        if COLLECTION_NAME.fullmatch(name):
            return name
    return "docs"


def snippet_folders(found: TakenOver, top: Path) -> list[Path]:
    """Return the folders outside the root, below ``top``, that the first documents include files from."""
    folders, root = set[Path](), found.root.resolve()
    for path in _documents(root):
        with path.open("rb") as opened:
            content = opened.read(MAX_BYTES)
        may_hold = any(mark in content for mark in (b"{", b"--8<", b"include::"))
        for match in _INCLUDES.finditer(content) if may_hold else ():
            base = path.parent if match["mdbook"] or match["sphinx"] else found.config.parent
            name = next(filter(None, match.groups())).decode(errors="replace")
            target = Path(os.path.normpath(base.resolve() / name))
            if target.is_file() and target.is_relative_to(top.resolve()) and not target.is_relative_to(root):
                folder = top / target.relative_to(top.resolve()).parts[0]
                folders.add(folder if folder.is_dir() else top)
    return [top] if top in folders else sorted(folders)


def take_packages(found: TakenOver, top: Path) -> None:
    """Take over the Python packages at or below ``top`` that the documents describe.

    Where none of them names one, pages on all of them are generated by the tool.
    """
    if not found.api:
        return
    nearest = list(dict.fromkeys((found.config.parent.resolve(), top.resolve())))
    places = [place for each in nearest for place in (each, each / "src", *sorted(each.glob("*/src")))]
    packages = {
        path.parent.name: path.parent for place in places for path in sorted(place.glob("*/__init__.py"))
    }
    kept = {name: path for name, path in packages.items() if name not in _NOT_DOCUMENTED}
    named = set[str]()
    for path in _documents(found.root.resolve()):
        with path.open("rb") as opened:
            named |= {name.decode() for name in _DESCRIBED.findall(opened.read(MAX_BYTES))}
    described = [path for name, path in sorted(kept.items()) if name in named]
    listed = described or ([] if named else list(kept.values()))
    folders = [Path(os.path.relpath(path, Path.cwd())).as_posix() for path in listed]
    found.take("collections.NAME.api", "packages", folders, "the packages that the documents describe")
    if described:
        found.tables["collections.NAME.api"]["pages"] = ("", "they have pages of their own")


def _documents(root: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(files):
            path = Path(folder) / name
            if name.endswith((".md", ".markdown", ".mdx", ".rst")) and stat.S_ISREG(path.lstat().st_mode):
                yield path
                seen += 1
                if seen == _MAX_SCANNED:
                    return


def settings_text(found: TakenOver, name: str, folder: Path, snippets: list[Path]) -> str:
    """Return a settings file for ``folder``, in which every line says where it is from."""
    lines = [
        f"# noctule: taken over from {found.tool} ({_one_line(_relative(found.config, folder))}).",
        "# Every key with its default: configs/default.toml of noctule.",
        "",
        f"[collections.{name}]",
        _line("root", _relative(found.root, folder), "the folder of the documents"),
    ]
    lines.append(_line("include", found.include, f"what {found.tool} reads"))
    if snippets:
        listed = [_relative(each, folder) for each in snippets]
        lines.append(_line("snippet_folders", listed, "documents include files from there"))
    if found.append:
        listed = [_relative(each, folder) for each in found.append]
        lines.append(_line("auto_append", listed, "every document ends with them"))
    if found.static:
        listed = [_relative(each, folder) for each in found.static]
        lines.append(_line("static_folders", listed, "paths such as /img/x.png lead there"))
    if found.exclude:
        lines.append(_line("exclude", found.exclude, f"{found.config.name}: what it leaves out"))
    if found.blog is not None:
        root = _line("root", _relative(found.blog, folder), "the folder of the blog")
        lines += ["", "[collections.blog]", root, _line("include", found.include)]
    for table, settings in sorted(found.tables.items(), key=lambda pair: (pair[0] == "site", pair[0])):
        plain = {key: given for key, given in settings.items() if not isinstance(given[0], dict)}
        lines += ["", f"[{table.replace('NAME', name)}]"] if plain or table != "site" else []
        lines += [_line(key.replace("NAME", name), *given) for key, given in plain.items()]
    for key, (value, source) in found.tables.get("site", {}).items():
        if isinstance(value, dict):
            lines += ["", f"[site.{key}]  # {source}"]
            lines += [_line(old.replace("NAME", name), new) for old, new in value.items()]
    return "\n".join(lines) + "\n"


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
    return str(value).lower() if isinstance(value, bool) else _string(str(value))


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
