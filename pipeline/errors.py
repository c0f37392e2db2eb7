"""Every error that noctule raises.

    NoctuleError
    ├── SourceError            your input                       exit 2
    │   ├── RejectedDocument     one document cannot be used: it is quarantined, the build goes on
    │   │   └── DraftDocument      its author has not published it: it is skipped
    │   ├── MissingRoot          a collection's folder does not exist or cannot be read
    │   ├── SourceUnavailable    documents elsewhere cannot be listed or read now
    │   ├── EmptyCollection      nothing to publish, or too much of it failed
    │   ├── CollectionShrank     a collection lost more of its documents than is plausible
    │   ├── DirectivesLeft       a directive stands on a page as text, and the site is strict
    │   ├── RelevanceFell        judged queries are answered worse than before: not published
    │   └── QueryError           a search that cannot be understood
    ├── SettingsError          your configuration               exit 2
    │   ├── ModelUnavailable     the embedding model is not on this machine
    │   ├── EngineUnavailable    the cluster cannot be reached, has no worker left, or runs another version
    │   └── PrefectUnavailable   the private Prefect API of a run did not start
    ├── OutOfResources         this machine refuses a thread, an open file or a mapping   exit 2
    ├── ArtifactError          our store                        exit 3
    │   ├── NoSnapshot           the store holds no such snapshot, or none at all
    │   │   └── NoEarlierSnapshot  there is none to go back to     exit 2
    │   ├── DamagedSnapshot      bytes on disk are not the bytes that were published
    │   ├── DamagedModel         the exported model that encodes queries is not as it was published
    │   ├── DamagedSite          a site's files are not those that were written
    │   ├── UnsupportedFormat    written by a newer or an older noctule
    │   ├── NotSigned            nobody who is trusted has signed the snapshot
    │   ├── ModelMismatch        the query's model is not the one that made the vectors
    │   ├── WriteFailed          the disk refused a write: nothing was published
    │   └── RemoteUnavailable    a publishing target or a remote store cannot be reached, or refuses
    ├── StoreBusy              another run holds the lock       exit 4
    └── PartialFailure         some collections or targets failed   exit 5

Each carries what happened, where, and what to do next; the command line prints exactly that.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Literal

from .printable import bounded

# A filter or a path that somebody gave may be a megabyte, and would be echoed whole.
_MOST_CHARACTERS = 2_000


class NoctuleError(Exception):
    """Something a person can act on: what happened, where, and what to do next."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = (bounded(text, _MOST_CHARACTERS) for text in (what, where, hint))
        super().__init__(self.what, self.where, self.hint)

    @property
    def kind(self) -> str:
        """Return the error's name in JSON output."""
        return type(self).__name__

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders: the keyword arguments must survive pickling.
        return (_rebuild, (type(self), self.what, self.where, self.hint))

    def __str__(self) -> str:
        return " ".join(
            part
            for part in (f"{self.what}.", f"Where: {self.where}." if self.where else "", self.hint)
            if part
        )

    def as_dict(self) -> dict[str, str]:
        """Return the error in the one shape that ``--json`` prints."""
        return {"kind": self.kind, "what": self.what, "where": self.where, "hint": self.hint}


def from_dict(record: Mapping[str, str]) -> NoctuleError:
    """Return the error that ``as_dict`` wrote down."""
    kind: type[NoctuleError] = globals()[record["kind"]]
    return kind(record["what"], where=record["where"], hint=record["hint"])


# They need a person, and yet say nothing about a file that is read.
_FULL = frozenset({errno.EDQUOT, errno.ENOSPC})
_TRANSIENT = _FULL | frozenset(
    {
        # busy, or interrupted
        errno.EAGAIN,
        errno.EBUSY,
        errno.EINTR,
        # too few handles, too little memory
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        # a disk or a server that is unavailable, or gone
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENODEV,
        errno.ENOTCONN,
        errno.ENXIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


def is_transient(error: BaseException | None) -> bool:
    """Return whether an error is of the machine and may go away, so that it says nothing about a file.

    True of an unavailable or full disk, too few file handles, a thread that cannot be started, or a module of
    the program that cannot be loaded; false of a missing file. No document may be left out because of it.
    """
    if isinstance(error, OSError):
        return isinstance(error, TimeoutError) or error.errno in _TRANSIENT
    is_thread = isinstance(error, RuntimeError) and "start new thread" in str(error)
    return is_thread or isinstance(error, ImportError)


_SYSTEM_WORDS = frozenset(map(os.strerror, _TRANSIENT))


def reports_transient(error: Exception) -> bool:
    """Return whether a library reports, in the system's own words, an error that may go away.

    For libraries that read our own files and have no errno to give (FAISS, DuckDB): a document could hold
    these words too.
    """
    return any(words in str(error) for words in _SYSTEM_WORDS)


def heals_by_itself(error: BaseException | None) -> bool:
    """Return whether a write may be tried again after it failed so: a full disk needs a person."""
    return is_transient(error) and getattr(error, "errno", None) not in _FULL


def _rebuild(cls: type[NoctuleError], what: str, where: str, hint: str) -> NoctuleError:
    return cls(what, where=where, hint=hint)


class SourceError(NoctuleError):
    """Your input cannot be used as it is."""

    exit_code = 2


class RejectedDocument(SourceError):
    """One document cannot be used; it is quarantined with this reason."""

    rejection: ClassVar[Literal["skipped", "quarantined"]] = "quarantined"


class DraftDocument(RejectedDocument):
    """One document says that it is not published; it is skipped with this reason."""

    rejection = "skipped"


class MissingRoot(SourceError):
    """A collection's folder does not exist or cannot be read."""


class SourceUnavailable(SourceError):
    """Documents elsewhere cannot be listed or read now, which says nothing about any of them."""


class EmptyCollection(SourceError):
    """A collection holds nothing to publish."""


class CollectionShrank(SourceError):
    """A collection lost more of its documents than the settings allow, and nothing was published."""


class DirectivesLeft(SourceError):
    """A document shows a directive as text or lacks what it includes, and ``--strict`` allows neither."""


class RelevanceFell(SourceError):
    """A new snapshot answers judged queries worse than the current one, and was not published."""


class QueryError(SourceError):
    """A search request cannot be understood."""


class SettingsError(NoctuleError):
    """Your configuration names something that does not exist or cannot be."""

    exit_code = 2


class ModelUnavailable(SettingsError):
    """The embedding model is not on this machine."""


class EngineUnavailable(SettingsError):
    """The engine cannot be reached, has no worker left, or its workers differ from this machine."""


class PrefectUnavailable(SettingsError):
    """The private Prefect API of a run did not start."""


class OutOfResources(NoctuleError):
    """This machine lacks what was asked for: a thread, an open file, memory."""

    exit_code = 2


@contextmanager
def machine_refusals(where: str = "") -> Iterator[None]:
    """Raise ``OutOfResources`` in place of the library's error where the machine refuses a thread or a file.

    A module that cannot be loaded keeps its own error.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        if not is_transient(error):
            raise
        raise OutOfResources(
            f"this machine cannot continue: {getattr(error, 'strerror', None) or error}",
            where=str(getattr(error, "filename", None) or where),
            hint="Check the limits on processes, open files and memory, and the disk. Then try again.",
        ) from error


class ArtifactError(NoctuleError):
    """The store or a snapshot in it is not sound."""

    exit_code = 3


class NoSnapshot(ArtifactError):
    """The store holds no such snapshot."""


class NoEarlierSnapshot(NoSnapshot):
    """The store holds no other snapshot to go back to."""

    exit_code = 2


class DamagedSnapshot(ArtifactError):
    """Bytes on disk are not the bytes that were published."""


class DamagedModel(ArtifactError):
    """The exported model that encodes queries is missing, or not the one that was published."""


class DamagedSite(ArtifactError):
    """A site's files are not those that were written."""


class NotSigned(ArtifactError):
    """Nobody who is trusted has signed the snapshot as it is."""


class UnsupportedFormat(ArtifactError):
    """The snapshot was written by a newer noctule, or by one too old."""


class ModelMismatch(ArtifactError):
    """The query's model is not the one that made the snapshot's vectors."""


class WriteFailed(ArtifactError):
    """The disk refused a write; nothing was published."""


class RemoteUnavailable(ArtifactError):
    """A publishing target or a remote store cannot be reached, or refuses."""


class StoreBusy(NoctuleError):
    """Another run holds the store's lock."""

    exit_code = 4


class PartialFailure(NoctuleError):
    """Some collections or publishing targets failed; the others were published."""

    exit_code = 5
