"""The modules of Python that a document describes, by autodoc's directives or by ``:::`` blocks."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from ..errors import RejectedDocument
from ..identity import combined_hash, sha256_hex
from ..model import PythonModule, Source
from ..python_packages import NoSuchObject, Packages
from ..settings.collection import Collection
from ..source_files import FoundFile, source_of
from .python_blocks import MARKDOWN, MAX_IN_DOCSTRINGS, RST, AutoBlock, auto_blocks, blocks, page_of
from .sphinx.autodoc_options import AutodocOptions
from .sphinx.conf_values import SphinxValues
from .sphinx.substitutions import with_linked_docstrings


def module_page(file: FoundFile, collection: Collection) -> Source:
    """Return the page of a Python module: a heading and the module, which the parser describes."""
    packages = Packages(file.collection, collection)
    try:
        module = packages.read(file.module, Path(file.location))
    except NoSuchObject as error:
        where = f"{file.collection}:{file.path}"
        raise RejectedDocument(str(error), where=where, hint="Is it a file of the package?") from None
    content = page_of(file.module).encode()
    page = source_of(file, content, sha256_hex(content), file.modified)
    modules = (module, *packages.offered_by(module))
    return _hashed(page, packages.with_bases(modules) if collection.api.inherited_members else modules)


def with_modules(source: Source, collection: Collection, values: SphinxValues | None) -> Source:
    """Return the source with the modules that its ``:::`` blocks and autodoc's directives describe.

    A block that leads to none becomes the name in it, with a remark; a directive stays.
    """
    path = source.path_by_format.lower()
    is_markdown = path.endswith(MARKDOWN)
    has_blocks = is_markdown and b":::" in source.content
    has_auto = bool(collection.api.packages) and b"auto" in source.content
    if not has_blocks and not (has_auto and (is_markdown or path.endswith(RST))):
        return source
    try:
        text = source.content.decode("utf-8")
    except UnicodeDecodeError:
        return source
    packages = Packages(source.collection, collection)
    # What the packages hold decides which of these is a block.
    source = replace(source, version="") if collection.api.packages else source
    source = replace(source, autodoc=values.autodoc if values else ())
    modules = _described_modules(text, packages, source.autodoc)
    if values:
        linked = with_linked_docstrings(modules.values(), values, collection.max_bytes)
        modules = {module.name: module for module in linked}
    expanded, notes = _without_unknown_blocks(text, packages, modules) if is_markdown else (text, [])
    if expanded != text:
        content = expanded.encode()
        source = replace(source, content=content, sha256=sha256_hex(content), version="")
    found = tuple(modules[name] for name in sorted(modules))
    if collection.api.inherited_members or "inherited_members" in text:
        found = packages.with_bases(found)
    return _hashed(replace(source, notes=(*source.notes, *notes)), found)


def _hashed(source: Source, modules: tuple[PythonModule, ...]) -> Source:
    parts = [source.sha256, *chain.from_iterable(source.autodoc)]
    parts += [part for module in modules for part in (module.name, sha256_hex(module.content))]
    return replace(source, modules=modules, sha256=combined_hash(parts), version="") if modules else source


def _described_modules(text: str, packages: Packages, options: AutodocOptions) -> dict[str, PythonModule]:
    """Return the modules by name that autodoc's directives describe, also those in docstrings of modules."""
    written = auto_blocks(text, packages.hold, options)
    named = _modules_of((each for each in written if each.kind == "module"), packages).values()
    docstrings = (module.content.decode("utf-8", "replace") for module in named)
    inner = chain.from_iterable(auto_blocks(each, packages.hold, options) for each in docstrings)
    return _modules_of((*written, *islice(inner, MAX_IN_DOCSTRINGS)), packages)


def _modules_of(directives: Iterable[AutoBlock], packages: Packages) -> dict[str, PythonModule]:
    """Return the modules by name in which directives find what they describe; nothing for unknown names."""
    modules: dict[str, PythonModule] = {}
    for auto in directives:
        with suppress(NoSuchObject):
            find = packages.modules_for_member if auto.is_member else packages.modules_for
            found = find(auto.full_name(packages.hold))
            found = packages.with_bases(found) if "inherited-members" in auto.options else found
            modules |= {module.name: module for module in found}
    return modules


def _without_unknown_blocks(
    text: str, packages: Packages, modules: dict[str, PythonModule]
) -> tuple[str, list[str]]:
    """Add the modules of ``:::`` blocks to the others; return the text without unknown ones, and remarks."""
    pieces, notes, at = list[str](), list[str](), 0
    for block in blocks(text, packages.hold):
        try:
            modules |= {module.name: module for module in packages.modules_for_block(block.name)}
        except NoSuchObject as error:
            line = text.count("\n", 0, block.start) + 1
            notes.append(f"line {line}: the API documentation of {block.name} is not generated: {error}")
            pieces += [text[at : block.start], block.name_alone]
            at = block.end
    return "".join((*pieces, text[at:])), notes
