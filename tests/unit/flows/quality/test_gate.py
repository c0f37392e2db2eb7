"""The gate lets go of the snapshots that it compares, whatever happens."""

from __future__ import annotations

from typing import Any

import pytest

from noctule.flows.quality import gate
from noctule.pipeline.errors import ModelUnavailable
from noctule.pipeline.settings.settings import Settings


class Closing:
    """What is closed, and nothing else of a snapshot."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_both_are_closed_where_one_cannot_be_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_model(*_: object) -> None:
        raise ModelUnavailable("there is no model", where="here", hint="")

    monkeypatch.setattr(gate, "shared_encoder", no_model)
    new, current = Closing(), Closing()
    opened: Any = (new, current)
    with pytest.raises(ModelUnavailable):
        gate.judge(*opened, (), Settings())
    assert (new.closed, current.closed) == (1, 1)
