"""Files at addresses: what was read before is not read again, and the rest by several threads at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ...artifacts.cache.source_hashes import SourceHashes, source_key
from ...pipeline.errors import NoctuleError, RejectedDocument, SourceError, SourceUnavailable
from ...pipeline.filesystems.object_files import REQUESTS, changed_at, objects_at
from ...pipeline.filesystems.opening import is_address
from ...pipeline.model import Source
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile

# What a killed run has read and does not know any more.
_AT_ONCE = 32_768
_BATCH = 64
# A change within this time may bear the time of the one before.
_UNSETTLED_S = 2.0
_MAX_CONFIRMED = 1_000


@dataclass(frozen=True, slots=True)
class FileHash:
    """The SHA-256 of a file's content, or the reason why it has none."""

    sha256: str = ""
    reason: str = ""

    def of(self, file: FoundFile) -> Source | None:
        """Return the file as a source without its content; nothing if it cannot be read."""
        if not self.sha256:
            return None
        return Source(file.collection, file.path, b"", self.sha256, file.modified, file.author)


@dataclass(slots=True)
class RemoteSources:
    """A reader of files at addresses, with what is known of them from earlier runs.

    If ``anew``, everything is read. ``failures`` are collections with a file that could not be read now;
    ``read`` and ``read_bytes`` count the files that were read.
    """

    settings: Settings
    deciding: Mapping[str, str]
    known: SourceHashes
    anew: bool = False
    remembers: bool = True
    failures: dict[str, NoctuleError] = field(default_factory=dict)
    read: int = 0
    read_bytes: int = 0
    _live: list[bytes] = field(default_factory=list)

    def hashes(
        self, files: Sequence[FoundFile], read: Callable[[FoundFile], Source]
    ) -> dict[FoundFile, FileHash]:
        """Return the hash of each file at an address; ``read`` raises as ``read_file`` does.

        Raises ``WriteFailed``.
        """
        remote = [file for file in files if is_address(self.settings.collections[file.collection].root)]
        found: dict[FoundFile, FileHash] = {}
        unknown = list[FoundFile]()
        named = [file for file in remote if file.version]
        keys = [self._key(file, file.version) for file in named]
        self._live += keys
        for file, digest in zip(named, self.known.known(keys), strict=True):
            if digest is not None and not self.anew:
                found[file] = FileHash(digest)
        unknown = [file for file in remote if file not in found]
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
        began = time.time()
        for file, source in self._sources(files, read):
            if isinstance(source, RejectedDocument):
                found[file] = FileHash(reason=source.what)
                continue
            found[file] = FileHash(source.sha256)
            if source.version and not _is_unsettled(source.version, began):
                keys.append(self._key(file, source.version))
                digests.append(source.sha256)
        self.read += len(found)
        self.read_bytes += sum(file.size for file in found)
        if self.remembers:
            self.known.add(keys, digests)
            self._live += keys
        return found

    def _sources(
        self, files: Sequence[FoundFile], read: Callable[[FoundFile], Source]
    ) -> Iterator[tuple[FoundFile, Source | RejectedDocument]]:
        """Yield each file with what was read, without those of collections that fail meanwhile."""

        def some(batch: Sequence[FoundFile]) -> list[tuple[FoundFile, Source | RejectedDocument]]:
            return [(file, source) for file in batch if (source := self._one(file, read)) is not None]

        size = max(1, min(_BATCH, -(-len(files) // REQUESTS)))
        with ThreadPoolExecutor(REQUESTS) as pool:
            for part in pool.map(some, (files[at : at + size] for at in range(0, len(files), size))):
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
        return source_key(self.deciding[file.collection], root, file.location, version, file.member)


def _without_content(source: Source) -> Source:
    return Source(source.collection, source.path, b"", source.sha256, version=source.version)


def _is_unsettled(version: str, now_s: float) -> bool:
    """Return whether the file may change once more without another version."""
    changed_s = changed_at(version)
    return changed_s is not None and changed_s > now_s - _UNSETTLED_S


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
