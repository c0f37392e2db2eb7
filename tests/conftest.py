"""The library of notes, indexed once for all tests that search it."""

from __future__ import annotations

import pytest

from noctule.artifacts.store.store import Store
from tests.library_builder import build_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one snapshot of the notes: nobody writes to it."""
    return build_library(tmp_path_factory.mktemp("library"))
