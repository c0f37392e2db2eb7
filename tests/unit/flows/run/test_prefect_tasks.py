"""A stage is run again by Prefect only where that may help, and never after a signal."""

from __future__ import annotations

import errno
from typing import Any, cast

import pytest

from noctule.flows.run import prefect_tasks
from noctule.flows.run.prefect_tasks import can_heal
from noctule.pipeline.errors import SettingsError, WriteFailed


class FailedState:
    """The state of a task that ended with an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def result(self) -> None:
        raise self.error


def _heals(error: Exception) -> bool:
    unused = cast(Any, None)
    return can_heal(unused, unused, cast(Any, FailedState(error)))


def _refused(code: int) -> WriteFailed:
    error = WriteFailed("cannot write", where="x", hint="Look.")
    error.__cause__ = OSError(code, "refused")
    return error


@pytest.mark.parametrize(
    ("error", "heals"),
    [
        (OSError(errno.ESTALE, "Stale file handle"), True),
        (TimeoutError(), True),
        (_refused(errno.ESTALE), True),
        (_refused(errno.ENOSPC), False),
        (SettingsError("no such key", where="noctule.toml", hint="Look."), False),
        (ValueError("a fault of ours"), False),
    ],
    ids=repr,
)
def test_only_an_error_of_the_machine_is_worth_another_run(
    error: Exception, heals: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _heals(error) is heals
    monkeypatch.setattr(prefect_tasks, "received", lambda: 15)
    assert not _heals(error)
