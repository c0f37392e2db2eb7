"""Metrics of a router: how its servers answer, which are asked, and how often an answer lacks shards."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from .backends import Backend

_SECONDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class BackendMetrics:
    """The metrics of one router, in the registry of its server."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "noctule_backend_requests_total", "What servers answered to the router.", ("backend", "outcome"),
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "noctule_backend_seconds", "How long servers took.", ("backend",), buckets=_SECONDS,
            registry=registry,
        )  # fmt: skip
        self._up = Gauge(
            "noctule_backend_up", "Whether a server is asked.", ("backend",), registry=registry,
            multiprocess_mode="livemin",
        )  # fmt: skip
        self.hedges = Counter(
            "noctule_hedges_total", "Servers asked because another was late.", ("backend",), registry=registry
        )
        self.partial = Counter(
            "noctule_partial_answers_total", "Answers without some shards.", registry=registry
        )

    def observe(self, backend: Backend, outcome: str, seconds: float) -> None:
        """Count an answer, or what came in place of one."""
        self._requests.labels(backend.url, outcome).inc()
        self._seconds.labels(backend.url).observe(seconds)

    def observe_state(self, backend: Backend) -> None:
        """Note whether a server is asked."""
        self._up.labels(backend.url).set(backend.state.is_up)
