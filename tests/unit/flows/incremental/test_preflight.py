"""What can be said before a run needs few imports: neither Prefect nor a model."""

from __future__ import annotations

import subprocess
import sys


def test_prefects_server_waits_for_few_imports() -> None:
    slow = {
        "prefect",
        "faiss",
        "duckdb",
        "torch",
        "noctule.artifacts.query",
        "noctule.pipeline.parse",
        "noctule.flows.job",
    }
    assert not _loaded(
        slow, by="noctule.flows.cli.runs, noctule.flows.cli.site, noctule.flows.incremental.preflight"
    )


def test_a_look_that_finds_nothing_changed_needs_few_imports() -> None:
    slow = {
        "prefect",
        "faiss",
        "duckdb",
        "torch",
        "scipy",
        "bs4",
        "noctule.flows.graph",
        "noctule.flows.quality.gate",
    }
    assert not _loaded(
        slow,
        by="noctule.flows.cli.runs, noctule.flows.incremental.preflight, noctule.flows.incremental.unchanged",
    )


def _loaded(modules: set[str], by: str) -> set[str]:
    program = f"import sys, {by}; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return modules & set(said.stdout.split())
