"""The library of notes, indexed once for all tests that search it; exports of models, made once for all."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from noctule.artifacts.store.store import Store
from tests.command_line import PREFECT_ALONE, CommandLine
from tests.library_builder import build_collections, build_library
from tests.shared_folder import shared_base, shared_folder

# How long an example takes depends on what else the machine does.
settings.register_profile("noctule", deadline=None)
settings.load_profile("noctule")


def pytest_configure() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Exempt what collecting the tests made, millions of objects, from every look for cycles."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


@pytest.fixture(scope="module", autouse=True)
def _what_exists_is_not_looked_through() -> None:
    """Exempt what earlier modules imported and made: each pass of a set ends with a look for cycles."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def shared_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stores of all tests, those of other processes too, share what they export: it takes a minute."""
    before = os.environ.get("NOCTULE_MODELS")
    os.environ["NOCTULE_MODELS"] = str(shared_base(tmp_path_factory) / "models")
    yield
    if before is None:
        del os.environ["NOCTULE_MODELS"]
    else:
        os.environ["NOCTULE_MODELS"] = before


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one snapshot of the notes: nobody writes to it.

    Each process has a copy, since tests look at who holds the snapshot.
    """
    made = shared_folder(tmp_path_factory, "library", _build_stores)
    return Store(shutil.copytree(made / "store", tmp_path_factory.mktemp("library") / "store"))


@pytest.fixture(scope="session")
def two_collections(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with two collections; each process has a copy."""
    made = shared_folder(tmp_path_factory, "library", _build_stores) / "collections"
    return Store(shutil.copytree(made / "store", tmp_path_factory.mktemp("collections") / "store"))


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prefect's folder in a store that has had no run: its migrations take eight seconds in each new one."""
    return shared_folder(tmp_path_factory, "prefect's home", _build_prefect_home) / "prefect"


def _build_prefect_home(store: Path) -> None:
    done = CommandLine(store.parent, store).run_program(PREFECT_ALONE, str(store))
    assert done.code == 0, done.err


def _build_stores(folder: Path) -> None:
    """Build both in the process that has the model."""
    build_library(folder)
    build_collections(folder / "collections")
