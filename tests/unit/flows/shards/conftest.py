"""Sets that are built in the tests' own process, pass by pass."""

from __future__ import annotations

import pytest

from noctule.flows.run.memory import uncollected


@pytest.fixture(scope="session", autouse=True)
def _models_are_not_looked_through() -> None:
    """Workers exempt what they import from the collection after each pass: here it took half a build."""
    with uncollected():
        import sentence_transformers  # noqa: F401
