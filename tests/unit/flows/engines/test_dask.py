"""A Dask engine whose scheduler gives up a job ends in this house's error."""

from __future__ import annotations

from typing import Any

import pytest

from noctule.flows.engines.dask import DaskCluster
from noctule.pipeline.errors import EngineUnavailable

pytest.importorskip("distributed")


class Cancelled:
    """A job that is cancelled while it is waited for: Dask reads its result, which it has not set."""

    def result(self, timeout: float) -> Any:
        raise UnboundLocalError("cannot access local variable 'result'")

    def cancelled(self) -> bool:
        return True

    def release(self) -> None:
        return


class Client:
    def submit(self, *_: object, pure: bool) -> Cancelled:
        return Cancelled()


def test_a_job_that_the_scheduler_gives_up_is_told_as_such() -> None:
    cluster = DaskCluster.__new__(DaskCluster)
    vars(cluster).update(_client=Client(), _address="tcp://127.0.0.1:1")
    with pytest.raises(EngineUnavailable, match="it cancelled a job") as caught:
        cluster.submit(None)  # type: ignore[arg-type]
    assert "tcp://127.0.0.1:1" in caught.value.where
