"""Publishing: the snapshot becomes the store's current one, and is copied to other places."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.cache.parse_cache import ParseCache
from ...artifacts.disk.layout import table_file
from ...artifacts.store.store import Published, Store
from ...pipeline.errors import NoctuleError, PartialFailure, WriteFailed
from ..run.context import Resources, RunContext
from ..run.memory import MANY_PASSAGES, release_memory
from .corpus import CorpusRecord
from .write import StagedSnapshot

if TYPE_CHECKING:
    from ...artifacts.remote.send import Sent
    from ..run.stage import Driver

_log = logging.getLogger("noctule")


def publish(
    run: RunContext,
    store: Store,
    staged: StagedSnapshot,
    record: CorpusRecord,
    cache: ParseCache,
    _verdict: object,
) -> Published:
    """Verify the snapshot and make it the current one; raise ``WriteFailed`` or ``DamagedSnapshot``.

    This is never retried: it ends with the staging folder moved or removed.
    """
    if (staged.manifest.files[table_file("passages")].rows or 0) > MANY_PASSAGES:
        release_memory()  # publishing reads everything again
    _write_down(staged, record, cache)
    published = store.publish(staged.staging, staged.manifest)
    _tidy(run, store, cache)
    return published


def _write_down(staged: StagedSnapshot, record: CorpusRecord, cache: ParseCache) -> None:
    """Save the parsed state of each collection for a night on which it fails; else only warn."""
    try:
        cache.record(staged.manifest.snapshot_id(), record.published)
    except WriteFailed as error:
        _log.warning(
            "what was parsed is not saved; a collection that fails next time will fail the run: %s", error
        )


def _tidy(run: RunContext, store: Store, cache: ParseCache) -> None:
    """Drop parsed documents of deleted snapshots; a disk error is only a warning by now."""
    try:
        # The current snapshot, the one before, and those that prune would keep besides.
        snapshots = [info.snapshot_id for info in store.snapshots()]
        cache.tidy(snapshots, 2 + run.settings.store.keep)
    except WriteFailed as error:
        _log.warning("the parse cache takes more room than it needs: %s", error)


def publish_to_targets(run: RunContext, resources: Resources, _published: Published) -> tuple[Sent, ...]:
    """Send the snapshot to the targets that the settings name; raise as ``publish_elsewhere`` does."""
    wanted = run.settings.publish
    key = Path(wanted.sign) if wanted.sign else None
    return publish_elsewhere(run.store, wanted.targets, wanted.keep, resources.driver, sign_with=key)


def publish_elsewhere(
    store: Path,
    targets: Sequence[str],
    keep: int,
    driver: Driver,
    *,
    deep: bool = False,
    sign_with: Path | None = None,
) -> tuple[Sent, ...]:
    """Send the store's current snapshot to every target, one after the other.

    Raise ``PartialFailure`` if some could not be reached, and the target's own error where there is but one.
    """
    sent: list[Sent] = []
    failures: list[NoctuleError] = []
    send_to = partial(_send, store, keep, deep, sign_with)
    for target in targets:
        try:
            sent += driver.map(f"publish to {target}", send_to, [target], 1)
        except NoctuleError as error:
            if len(targets) == 1:
                raise
            _log.error("not published to %s: %s", target, error)
            failures.append(error)
    if failures:
        raise _failed(failures, targets)
    return tuple(sent)


def _failed(failures: Sequence[NoctuleError], targets: Sequence[str]) -> PartialFailure:
    reasons = "; ".join(error.what for error in failures)
    return PartialFailure(
        f"{len(failures)} of {len(targets)} publishing targets failed: {reasons}",
        where=", ".join(error.where for error in failures),
        hint="The snapshot is published here and at the others. Send it again: noctule publish",
    )


def _send(store: Path, keep: int, deep: bool, sign_with: Path | None, target: str) -> Sent:
    from ...artifacts.remote.send import send

    return send(Store(store), target, keep, deep=deep, sign_with=sign_with)
