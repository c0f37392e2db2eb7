"""Hashes of files: what was read before, in the version that is listed, is not read again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ...artifacts.cache.source_hashes import SourceHashes, source_key
from ...pipeline.errors import NoctuleError, RejectedDocument, SourceError, SourceUnavailable
from ...pipeline.filesystems.object_files import REQUESTS, objects_at
from ...pipeline.filesystems.opening import is_address
from ...pipeline.model import Source
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile, is_unsettled, source_of

# What a killed run has read and does not know any more.
_AT_ONCE = 32_768
_BATCH = 64
_MAX_CONFIRMED = 1_000
_Read = tuple[FoundFile, Source | RejectedDocument]


@dataclass(frozen=True, slots=True)
class FileHash:
    """The SHA-256 of a file's content, or the reason why it has none."""

    sha256: str = ""
    reason: str = ""

    def of(self, file: FoundFile) -> Source | None:
        """Return the file as a source without its content; nothing if it cannot be read."""
        if not self.sha256:
            return None
        return source_of(file, b"", self.sha256, file.modified)


@dataclass(slots=True)
class FileHasher:
    """Hashes files, with what is known of them from earlier runs; several at addresses are read at once.

    If ``refresh``, everything is read. ``failures`` are collections with a file that could not be read now;
    ``read`` and ``read_bytes`` count the files that were read. ``unproved`` counts those of which the version
    does not say that their content is still the same: all else is, while no version changes.
    """

    settings: Settings
    fingerprints: Mapping[str, str]
    known: SourceHashes
    refresh: bool = False
    remembers: bool = True
    failures: dict[str, NoctuleError] = field(default_factory=dict)
    read: int = 0
    read_bytes: int = 0
    unproved: int = 0
    _live: list[bytes] = field(default_factory=list)

    def hashes(
        self, files: Sequence[FoundFile], read: Callable[[FoundFile], Source]
    ) -> dict[FoundFile, FileHash]:
        """Return the hash of each file, without those of collections that fail; ``read`` raises as
        ``read_file`` does.

        Raises ``WriteFailed``.
        """
        found: dict[FoundFile, FileHash] = {}
        named = [file for file in files if file.version]
        keys = [self._key(file, file.version) for file in named]
        self._live += keys
        for file, digest in zip(named, self.known.known(keys), strict=True):
            if digest is not None and not self.refresh:
                found[file] = FileHash(digest)
        unknown = [file for file in files if file not in found]
        for at in range(0, len(unknown), _AT_ONCE):
            found |= self._read_some(unknown[at : at + _AT_ONCE], read)
        return found

    def tidy(self) -> None:
        """Forget versions that are no longer listed; not after a failure, which lists nothing."""
        if self.remembers and not self.failures and len(self.known):
            self.known.forget_all_but(self._live)

    def _read_some(
        self, files: Sequence[FoundFile], read: Callable[[FoundFile], Source]
    ) -> dict[FoundFile, FileHash]:
        found, keys, digests = dict[FoundFile, FileHash](), list[bytes](), list[str]()
        began, proved = time.time(), 0
        for file, source in self._sources(files, read):
            if isinstance(source, RejectedDocument):
                found[file] = FileHash(reason=source.what)
                continue
            found[file] = FileHash(source.sha256)
            if source.version and not is_unsettled(source.version, began):
                keys.append(self._key(file, source.version))
                digests.append(source.sha256)
                proved += source.version == file.version
        self.read += len(found)
        self.unproved += len(files) - proved
        self.read_bytes += sum(file.size for file in found)
        if self.remembers:
            self.known.add(keys, digests)
            self._live += keys
        return found

    def _sources(self, files: Sequence[FoundFile], read: Callable[[FoundFile], Source]) -> Iterator[_Read]:
        """Yield each file with what was read, without those of collections that fail meanwhile."""

        def some(batch: Iterable[FoundFile]) -> list[_Read]:
            return [(file, source) for file in batch if (source := self._one(file, read)) is not None]

        # In a folder one after the other: threads that read small files wait for the interpreter's lock, and
        # took three times as long.
        remote = [file for file in files if is_address(self.settings.collections[file.collection].root)]
        there = set(remote)
        yield from some(file for file in files if file not in there)
        size = max(1, min(_BATCH, -(-len(remote) // REQUESTS)))
        with ThreadPoolExecutor(REQUESTS) as pool:
            for part in pool.map(some, (remote[at : at + size] for at in range(0, len(remote), size))):
                yield from part

    def _one(self, file: FoundFile, read: Callable[[FoundFile], Source]) -> Source | RejectedDocument | None:
        if file.collection in self.failures:
            return None
        try:
            source = read(file)
        except RejectedDocument as error:
            return error
        except SourceError as error:
            self.failures[file.collection] = error
            return None
        return _without_content(source)

    def _key(self, file: FoundFile, version: str) -> bytes:
        root = self.settings.collections[file.collection].root
        return source_key(self.fingerprints[file.collection], root, file.location, version, file.member)


def _without_content(source: Source) -> Source:
    return Source(source.collection, source.path, b"", source.sha256, version=source.version)


def require_complete(address: str, missing: Sequence[str]) -> None:
    """Raise ``SourceUnavailable`` if the store holds one of these files, which it has not listed.

    Up to a thousand of them, evenly spaced, are asked for by name.
    """
    step = max(1, -(-len(missing) // _MAX_CONFIRMED))
    objects, asked = objects_at(address), missing[::step]
    with ThreadPoolExecutor(REQUESTS) as pool:
        for path, state in zip(asked, pool.map(objects.state, asked), strict=True):
            if state is not None:
                raise SourceUnavailable(
                    f"the listing is incomplete: {path} exists but was not listed",
                    where=address,
                    hint="Run it again. Until then the collection keeps the documents that it has.",
                )
