"""Metrics for Prometheus: requests, searches, the snapshot that is served, and what was refused."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from ...artifacts.query.answer import Answer
from ..current import Swap
from ..served import ServedSnapshot

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Where the processes of one server leave their metrics, so that any of them can report those of all.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """The metrics of one application; several processes share them if a folder for that is named."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._is_shared = SHARED_FOLDER in os.environ
        self._snapshot = ""
        if not self._is_shared:
            ProcessCollector(registry=registry)
            PlatformCollector(registry=registry)
        counter = partial(Counter, namespace="noctule", registry=registry)
        seconds = partial(Histogram, namespace="noctule", registry=registry, buckets=_SECONDS)
        gauge = partial(Gauge, namespace="noctule", registry=registry)
        self.requests = counter("requests_total", "Answers by route and status.", ("route", "status"))
        self.request_seconds = seconds("request_seconds", "From a request to its answer.", ("route",))
        self.stage_seconds = seconds("stage_seconds", "Stages of searches.", ("stage",))
        self.rejected = counter("rejected_total", "Requests answered by a problem.", ("code",))
        self.zero_hits = counter("zero_hits_total", "Searches without a hit.")
        self.unsure = counter("unsure_total", "Searches without a sure hit.")
        self.warnings = counter("warnings_total", "Answers with a warning.")
        self.events = counter("events_total", "Events recorded.")
        self.not_modified = counter("not_modified_total", "Requests answered by 304.")
        self.tool_calls = counter("tool_calls_total", "Calls of the tools for agents.", ("tool", "outcome"))
        self.swaps = counter("swaps_total", "Snapshots opened, and those that could not be.", ("result",))
        self.in_flight = gauge("in_flight", "Requests that run or wait.", multiprocess_mode="livesum")
        self.generation = gauge("generation", "The generation that is served.", multiprocess_mode="livemin")
        opened = "snapshot_opened_timestamp_seconds"
        self.since = gauge(opened, "When it was opened.", multiprocess_mode="livemin")
        told = "1 for the snapshot that is served."
        self.snapshot_info = gauge("snapshot_info", told, ("snapshot",), multiprocess_mode="livemax")

    @property
    def registry(self) -> CollectorRegistry:
        """Return the registry, for metrics of what not every application has."""
        return self._registry

    def tell_swap(self, swap: Swap) -> None:
        """Count an attempt to open a snapshot."""
        self.swaps.labels("failed" if swap.failure else "opened").inc()

    def tell_served(self, served: ServedSnapshot) -> None:
        """Note what is served now."""
        if self._snapshot and self._snapshot != served.snapshot:
            self.snapshot_info.labels(self._snapshot).set(0)
            if not self._is_shared:
                self.snapshot_info.remove(self._snapshot)
        self._snapshot = served.snapshot
        self.snapshot_info.labels(served.snapshot).set(1)
        self.generation.set(served.generation)
        self.since.set(time.time())

    def tell_answer(self, answer: Answer) -> None:
        """Count an answer, and the seconds of its stages."""
        self.zero_hits.inc(not answer.hits)
        self.unsure.inc(not answer.is_sure)
        self.warnings.inc(bool(answer.warnings))
        timings: Mapping[str, float] = answer.timings
        for stage, seconds in timings.items():
            self.stage_seconds.labels(stage).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        if not self._is_shared:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
