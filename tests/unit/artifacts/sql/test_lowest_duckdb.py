"""The lowest supported version of DuckDB answers as the newest; ``make duckdb`` asks the others."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests import duckdb_versions


@pytest.mark.timeout(290)
def test_the_lowest_supported_version_passes_what_the_installed_one_passes(tmp_path: Path) -> None:
    lowest = duckdb_versions.lowest()
    if version("duckdb") == lowest:
        pytest.skip("the lowest supported version is the installed one")
    if why := duckdb_versions.install(lowest, tmp_path):
        pytest.skip(f"the registry is not reachable: duckdb {lowest} cannot be had: {why}")
    tests = ("tests/unit/artifacts/store/test_snapshot.py",)
    done = duckdb_versions.run(lowest, tmp_path, tests, workers=0)
    assert done.returncode == 0, done.stdout
