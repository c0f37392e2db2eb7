"""What may be temporary is tried again, what is not is told at once."""

from __future__ import annotations

import errno

import pytest

from noctule.flows.run import retry
from noctule.flows.run.retry import with_retries
from noctule.pipeline.errors import RejectedDocument, SourceError, SourceUnavailable


class Failing:
    """Fails so many times with an error, then answers."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.times, self.calls = error, times, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "read"


def _caused_by(cause: BaseException | None) -> SourceError:
    error = RejectedDocument("cannot be read", where="x.md", hint="Look.")
    error.__cause__ = cause
    return error


TEMPORARY = (
    SourceUnavailable("throttled", where="s3://x", hint="Wait."),
    _caused_by(OSError(errno.EMFILE, "Too many open files")),
    _caused_by(TimeoutError()),
)
LASTING = (
    _caused_by(None),
    _caused_by(FileNotFoundError(errno.ENOENT, "No such file")),
    _caused_by(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")),
    ValueError("not an error of a source"),
)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses made; none is waited for."""
    made = list[float]()
    monkeypatch.setattr(retry.time, "sleep", made.append)
    return made


@pytest.mark.parametrize("error", TEMPORARY, ids=repr)
def test_what_may_be_temporary_is_tried_again_after_longer_and_longer_pauses(
    error: SourceError, pauses: list[float]
) -> None:
    assert with_retries(Failing(error, 2)) == "read"
    assert len(pauses) == 2 and 0 < pauses[0] < pauses[1]
    lasting = Failing(error, 99)
    with pytest.raises(type(error)):
        with_retries(lasting)
    assert lasting.calls == 3


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_what_is_not_is_told_at_once(error: Exception, pauses: list[float]) -> None:
    function = Failing(error, 1)
    with pytest.raises(type(error)):
        with_retries(function)
    assert function.calls == 1 and not pauses
