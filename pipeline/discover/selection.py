"""Which files of a collection are its documents and its assets, by their names, wherever they lie."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

from ..assets.media import media_type_of
from ..model import ReportEntry
from ..patterns import globs
from ..printable import printable_path
from ..settings.collection import Collection
from ..source_files import FoundFile, too_big

# What pages import or include, whatever the tool.
PARTS_OF_PAGES = ("_*.mdx", "_*.qmd")


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files to read, sorted by path, and those that were left out, each with the reason.

    ``assets`` are images, media and attachments that documents may name; those too big are among them.
    """

    files: tuple[FoundFile, ...]
    rejections: tuple[ReportEntry, ...]
    assets: tuple[FoundFile, ...] = ()


@dataclass(slots=True)
class Selection:
    """The state of one walk: what to look for and what has been found so far."""

    name: str
    collection: Collection
    include: GitIgnoreSpec
    exclude: GitIgnoreSpec
    assets: GitIgnoreSpec
    parts: GitIgnoreSpec
    files: list[FoundFile] = field(default_factory=list)
    found_assets: list[FoundFile] = field(default_factory=list)
    rejections: list[ReportEntry] = field(default_factory=list)
    categories: list[FoundFile] = field(default_factory=list)

    def wanted(self, path: str) -> bool:
        """Return whether the path is that of a document."""
        return self.include.match_file(path) and not self.exclude.match_file(path)

    def is_asset(self, path: str) -> bool:
        """Return whether the path is that of an image, a medium or an attachment."""
        return (
            media_type_of(path) is not None
            and self.assets.match_file(path)
            and not self.exclude.match_file(path)
        )

    def is_part(self, path: str) -> bool:
        """Return whether the file is a part of other pages; then say so."""
        if not self.parts.match_file(path):
            return False
        reason = "a part of other pages, or a draft, by its name or folder: no page of its own"
        self.skip(escaped(path), reason)
        return True

    def enters(self, path: str) -> bool:
        """Return whether to look into a folder; quarantine one with an unusable name."""
        if self.exclude.match_file(f"{escaped(path)}/"):
            return False
        if fault := name_fault(path):
            self.quarantine(escaped(path), f"the folder's {fault}")
            return False
        return True

    def add(self, file: FoundFile) -> None:
        """Add a document, unless its name or its size rules that out."""
        shown, most = escaped(file.path), self.collection.max_bytes
        if fault := name_fault(file.path):
            self.quarantine(shown, f"its {fault}")
        elif file.size > most:
            self.quarantine(shown, too_big(file.size, most))
        else:
            self.files.append(file)

    def skip(self, path: str, reason: str) -> None:
        """Record a file that is left out on purpose."""
        self.rejections.append(ReportEntry(self.name, path, "skipped", reason))

    def quarantine(self, path: str, reason: str) -> None:
        """Record a file that cannot be used."""
        self.rejections.append(ReportEntry(self.name, path, "quarantined", reason))


def still_selected(collection: Collection, documents: Iterable[str], assets: Iterable[str]) -> list[str]:
    """Return those of the paths that the collection, as it is set now, takes as what they were, sorted."""
    include, exclude, media = map(globs, (collection.include, collection.exclude, collection.assets))
    found = {path for path in documents if include.match_file(path)}
    found |= {path for path in assets if media.match_file(path)}
    return sorted(path for path in found if not exclude.match_file(path))


def normal(name: str) -> str:
    """Return the one form of a name that several sequences of characters may write."""
    return unicodedata.normalize("NFC", name)


def _is_plain(path: str) -> bool:
    """Return whether the name needs no closer look, as nearly all do not."""
    return path.isascii() and path.isprintable()


def name_fault(path: str) -> str:
    """Return why a file of this name cannot be used; empty if it can."""
    if _is_plain(path):
        return ""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "name is not UTF-8: rename it"
    if any(unicodedata.category(char) == "Cc" for char in path):
        return "name holds a control character: rename it"
    return ""


def escaped(path: str) -> str:
    """Return the path in printable form: bytes that are not UTF-8 and control characters become escapes."""
    if _is_plain(path):
        return path
    return "".join(
        repr(char)[1:-1] if unicodedata.category(char) == "Cc" else char for char in printable_path(path)
    )
