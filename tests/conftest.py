"""The library of notes, indexed once for all tests that search it; exports of models, made once for all."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from noctule.artifacts.store.store import Store
from tests.library_builder import build_library


@pytest.fixture(scope="session", autouse=True)
def shared_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stores of all tests, those of other processes too, share what they export: it takes seconds."""
    base = tmp_path_factory.getbasetemp()
    before = os.environ.get("NOCTULE_MODELS")
    # Processes of pytest-xdist have folders of their own in one that they share.
    os.environ["NOCTULE_MODELS"] = str(
        (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "models"
    )
    yield
    if before is None:
        del os.environ["NOCTULE_MODELS"]
    else:
        os.environ["NOCTULE_MODELS"] = before


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one snapshot of the notes: nobody writes to it."""
    return build_library(tmp_path_factory.mktemp("library"))
