"""Finds the modules of the declared packages, and those that tell where a name is defined.

Files are read and scanned for imports by regular expressions; nothing is compiled here, and nothing run.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .errors import MissingRoot, RejectedDocument, is_transient
from .filesystems.availability import briefly_away, strerror
from .model import PythonModule
from .settings.collection import Collection
from .source_files import FoundFile, read_file

MAX_MODULES = 20_000
MAX_STEPS = 50
_INIT = "__init__.py"
_FROM = re.compile(
    rb"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\*|\([^()]{0,5000}\)|(?:[^\n\\]|\\\r?\n){0,5000})",
    re.MULTILINE,
)
_CLASS = re.compile(rb"^[ \t]*class[ \t]+\w+(?:\[[^\]\n]{0,500}\])?\(([^()]{1,2000})", re.MULTILINE)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_IMPORTED_NAME = re.compile(rb"([A-Za-z_]\w*)(?:\s+as\s+([A-Za-z_]\w*))?\s*(?:,|\)|\\|#|$)", re.MULTILINE)


class NoSuchObject(Exception):
    """A name leads to no module of a declared package; the message says why."""


@dataclass(frozen=True, slots=True)
class _Located:
    """A module's file, and what of a dotted name is left behind the module's."""

    name: str
    path: Path
    rest: tuple[str, ...]


class Packages:
    """The packages that a collection declares, for one document: what it asks for is read once."""

    def __init__(self, name: str, collection: Collection) -> None:
        self._name, self._collection = name, collection
        self._paths = {Path(each).stem: Path(each) for each in collection.api.packages}
        self._read: dict[str, PythonModule] = {}
        self._bases: dict[str, tuple[PythonModule, ...]] = {}

    def hold(self, name: str) -> bool:
        """Return whether a dotted name begins with that of a declared package."""
        return name.partition(".")[0] in self._paths

    def modules_for(self, name: str) -> tuple[PythonModule, ...]:
        """Return the module that a dotted name is in, and those through which it is imported there.

        Raise ``NoSuchObject`` if there is none, ``SourceError`` if one is briefly away.
        """
        if not self.hold(name):
            raise NoSuchObject(f"name its package in [collections.{self._name}.api]")
        found: dict[str, PythonModule] = {}
        pending, seen = [name], set[str]()
        while pending and len(seen) < MAX_STEPS:
            located = self._locate(wanted) if (wanted := pending.pop()) not in seen else None
            seen.add(wanted)
            if located is None:
                continue
            module = found[located.name] = self.read(located.name, located.path)
            if located.rest and not _defines(module, located.rest[0]):
                pending += _imports(module, located.rest)
        if not found:
            raise NoSuchObject("the package has no such module")
        return tuple(found.values())

    def modules_for_block(self, name: str) -> tuple[PythonModule, ...]:
        """Return the modules for a dotted name, and for a package those of what it offers.

        Of an object, the packages around its module are among them if they may offer it too. Raise as
        ``modules_for``.
        """
        found = self.modules_for(name)
        package = next((module for module in found if module.name == name), None)
        more = self.offered_by(package) if package else self._offering(found, name.rpartition(".")[2])
        return tuple({each.name: each for each in (*found, *more)}.values())

    def _offering(self, modules: tuple[PythonModule, ...], name: str) -> Iterator[PythonModule]:
        """Yield the packages around these modules that name an object in what they import."""
        around = {module.name[: dot.start()] for module in modules for dot in re.finditer(r"\.", module.name)}
        for each in sorted(around):
            located = self._locate(each)
            if located is not None and not located.rest and located.path.name == _INIT:
                with suppress(NoSuchObject):
                    package = self.read(each, located.path)
                    if re.search(rf"\b{name}\b".encode(), package.content):
                        yield package

    def modules_for_member(self, name: str) -> tuple[PythonModule, ...]:
        """Return the modules for a member of a class, and those of the classes that it may have it from.

        Raise as ``modules_for``.
        """
        found, member = self.modules_for(name), name.rpartition(".")[2]
        is_own = any(_has_member(module, member) for module in found)
        return found if is_own else self.with_bases(found)

    def offered_by(self, module: PythonModule) -> tuple[PythonModule, ...]:
        """Return the modules that define what a package imports from within itself, to offer it."""
        found: dict[str, PythonModule] = {}
        for name in _imported(module) if module.is_package else ():
            if self.hold(name) and len(found) < MAX_STEPS:
                try:
                    found |= {each.name: each for each in self.modules_for(name) if each.name != module.name}
                except NoSuchObject:
                    continue
        return tuple(found[name] for name in sorted(found))

    def with_bases(self, modules: tuple[PythonModule, ...]) -> tuple[PythonModule, ...]:
        """Return the modules, and those of the declared packages that their classes are derived from."""
        found = {module.name: module for module in modules}
        pending = list(modules)
        while pending and len(found) < MAX_STEPS:
            new = {each.name: each for each in self._bases_of(pending.pop()) if each.name not in found}
            found |= new
            pending += new.values()
        return tuple(found[name] for name in sorted(found))

    def _bases_of(self, module: PythonModule) -> tuple[PythonModule, ...]:
        """Return the modules through which the names in the parentheses of a module's classes are found."""
        if module.name not in self._bases:
            found = dict[str, PythonModule]()
            for name in _bases(module):
                with suppress(NoSuchObject):
                    found |= {each.name: each for each in self.modules_for(f"{module.name}.{name}")}
            self._bases[module.name] = tuple(found.values())
        return self._bases[module.name]

    def read(self, name: str, path: Path) -> PythonModule:
        """Return a module's bytes; raise ``NoSuchObject`` or ``SourceError`` if they cannot be read."""
        if name in self._read:
            return self._read[name]
        root = self._paths[name.partition(".")[0]].parent
        file = FoundFile(self._name, name, str(path), 0)
        try:
            source = read_file(file, self._collection.model_copy(update={"root": str(root)}))
        except RejectedDocument as error:
            raise NoSuchObject(f"{name}: {error.what}") from None
        module = self._read[name] = PythonModule(name, source.content, path.name == _INIT)
        return module

    def _locate(self, name: str) -> _Located | None:
        """Return the module with the longest name that begins ``name``."""
        first, *rest = name.split(".")
        path = self._paths.get(first)
        if path is None:
            return None
        at = [first]
        while rest and path.is_dir() and rest[0].isidentifier():
            below = path / rest[0]
            if not below.is_dir() and not below.with_suffix(".py").is_file():
                break
            path = below if below.is_dir() else below.with_suffix(".py")
            at.append(rest.pop(0))
        file = path / _INIT if path.is_dir() else path
        return _Located(".".join(at), file, tuple(rest)) if file.is_file() else None


def _bases(module: PythonModule) -> list[str]:
    """Return the names in the parentheses of classes; those of types in brackets among them do no harm."""
    lists = (found[1].decode(errors="replace") for found in _CLASS.finditer(module.content))
    return sorted({name for given in lists for name in _DOTTED.findall(given)})


def _defines(module: PythonModule, name: str) -> bool:
    pattern = rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*[:=]"
    return re.search(pattern.encode(), module.content, re.MULTILINE) is not None


def _has_member(module: PythonModule, name: str) -> bool:
    pattern = rf"^[ \t]+(?:(?:async[ \t]+)?def[ \t]+|self\.)?{name}\b"
    return re.search(pattern.encode(), module.content, re.MULTILINE) is not None


def _imports(module: PythonModule, rest: tuple[str, ...]) -> Iterator[str]:
    """Yield where the first of these names may come from, followed by the others."""
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    stars = []
    for found in _FROM.finditer(module.content):
        origin = _absolute(found[1].decode(errors="replace"), package)
        if found[2] == b"*":
            stars.append(".".join((origin, *rest)))
            continue
        for name in _IMPORTED_NAME.finditer(found[2]):
            if (name[2] or name[1]).decode() == rest[0]:
                yield ".".join((origin, name[1].decode(), *rest[1:]))
    yield from stars


def _imported(module: PythonModule) -> Iterator[str]:
    """Yield the dotted names of what a package imports; of all that a module holds, the module's."""
    for found in _FROM.finditer(module.content):
        origin = _absolute(found[1].decode(errors="replace"), module.name)
        if found[2] == b"*":
            yield origin
        yield from (f"{origin}.{name[1].decode()}" for name in _IMPORTED_NAME.finditer(found[2]))


def _absolute(origin: str, package: str) -> str:
    dots = len(origin) - len(origin.lstrip("."))
    if not dots:
        return origin
    above = package.split(".")[: max(len(package.split(".")) - dots + 1, 0)]
    return ".".join((*above, *filter(None, [origin.lstrip(".")])))


def module_files(name: str, collection: Collection) -> list[FoundFile]:
    """Return the public modules of the declared packages, each with the path of its page.

    Links are not followed. Raise ``MissingRoot`` if a package is not there, ``SourceError`` if it is briefly
    away.
    """
    if not collection.api.pages:
        return []
    found: list[FoundFile] = []
    for each in collection.api.packages:
        path = Path(each)
        below = partial(_file, name, collection.api.pages)
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
            modules = _modules(path, path.stem) if is_folder else iter([(path.stem, path)])
            found += [below(module, file) for module, file in _bounded(modules)]
        except OSError as error:
            if is_transient(error):
                raise briefly_away(error, f"{path} (collection {name})") from error
            raise MissingRoot(
                f"the package cannot be read: {strerror(error)}",
                where=f"{path} (collection {name})",
                hint=f"Check collections.{name}.api.packages in the settings file.",
            ) from error
    return found


def _bounded(modules: Iterator[tuple[str, Path]]) -> Iterator[tuple[str, Path]]:
    return (module for _, module in zip(range(MAX_MODULES), modules, strict=False))


def _modules(folder: Path, package: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        in_order = sorted(entries, key=lambda entry: entry.name)
    for entry in in_order:
        stem, ending = os.path.splitext(entry.name)  # noqa: PTH122  # of an entry, not a path
        is_public = stem.isidentifier() and stem.isascii() and not stem.startswith("_")
        if is_public and entry.is_dir(follow_symlinks=False):
            yield from _modules(Path(entry.path), f"{package}.{stem}")
        elif ending == ".py" and entry.is_file(follow_symlinks=False) and entry.name == _INIT:
            yield package, Path(entry.path)
        elif ending == ".py" and entry.is_file(follow_symlinks=False) and is_public:
            yield f"{package}.{stem}", Path(entry.path)


def _file(collection: str, pages: str, module: str, path: Path) -> FoundFile:
    place = module.replace(".", "/") + ("/index" if path.name == _INIT else "")
    return FoundFile(collection, f"{pages}/{place}.md", str(path), path.stat().st_size, module=module)
