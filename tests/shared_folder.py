"""Folders that the tests of all processes share: the first that asks builds one, the others wait for it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_base(temporary: pytest.TempPathFactory) -> Path:
    """Return the folder of this run's tests; processes of pytest-xdist have folders of their own in it."""
    base = temporary.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def shared_folder(temporary: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder that ``build`` filled, once in a run of the tests; nobody writes to it afterwards."""
    return made_once(shared_base(temporary), name, build)


def made_once(base: Path, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder of ``base`` that ``build`` filled in the process that asked first."""
    folder, whole = base / name, base / f".{name} is built"
    with (base / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            build(folder)
            whole.touch()
    return folder


def copied_store(store: Path, target: Path) -> Path:
    """Return a copy of a store, or of a folder of stores, that shares their models: 100 MB in each."""
    return Path(shutil.copytree(store, target, copy_function=_linked_or_copied))


def _linked_or_copied(source: str, target: str) -> None:
    if Path(source).parent.name == "models":
        os.link(source, target)
    else:
        shutil.copy2(source, target)
