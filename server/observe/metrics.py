"""Metrics for Prometheus: requests, searches, the snapshot that is served, and what was refused."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from ...artifacts.query.answer import Answer
from ..current import ServedSnapshot, Swap

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Where the processes of one server leave their figures, so that any of them can tell those of all.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """The figures of one application; several processes share them if a folder for that is named."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._is_shared = SHARED_FOLDER in os.environ
        if not self._is_shared:
            ProcessCollector(registry=registry)
            PlatformCollector(registry=registry)
        self.requests = Counter(
            "noctule_requests_total", "Answers by route and status.", ("route", "status"), registry=registry
        )
        self.request_seconds = Histogram(
            "noctule_request_seconds", "From a request to its answer.", ("route",), buckets=_SECONDS,
            registry=registry,
        )  # fmt: skip
        self.stage_seconds = Histogram(
            "noctule_stage_seconds", "Stages of searches.", ("stage",), buckets=_SECONDS, registry=registry
        )
        self.rejected = Counter(
            "noctule_rejected_total", "Requests answered by a problem.", ("code",), registry=registry
        )
        self.zero_hits = Counter("noctule_zero_hits_total", "Searches without a hit.", registry=registry)
        self.unsure = Counter("noctule_unsure_total", "Searches without a sure hit.", registry=registry)
        self.warnings = Counter("noctule_warnings_total", "Answers with a warning.", registry=registry)
        self.events = Counter("noctule_events_total", "Events recorded.", registry=registry)
        self.not_modified = Counter(
            "noctule_not_modified_total", "Requests answered by 304.", registry=registry
        )
        self.tool_calls = Counter(
            "noctule_tool_calls_total", "Calls of the tools for agents.", ("tool", "outcome"),
            registry=registry,
        )  # fmt: skip
        self.in_flight = Gauge(
            "noctule_in_flight", "Requests that run or wait.", registry=registry, multiprocess_mode="livesum"
        )
        self.swaps = Counter(
            "noctule_swaps_total", "Snapshots opened, and those that could not be.", ("result",),
            registry=registry,
        )  # fmt: skip
        self.generation = Gauge(
            "noctule_generation", "The generation that is served.", registry=registry,
            multiprocess_mode="livemin",
        )  # fmt: skip
        self.since = Gauge(
            "noctule_snapshot_opened_timestamp_seconds", "When it was opened.", registry=registry,
            multiprocess_mode="livemin",
        )  # fmt: skip
        self.snapshot_info = Gauge(
            "noctule_snapshot_info", "1 for the snapshot that is served.", ("snapshot",), registry=registry,
            multiprocess_mode="livemax",
        )  # fmt: skip
        self._snapshot = ""

    @property
    def registry(self) -> CollectorRegistry:
        """Return the registry, for figures of what not every application has."""
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
        """Return all figures as Prometheus reads them."""
        if not self._is_shared:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
