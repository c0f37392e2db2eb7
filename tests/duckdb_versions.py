"""The tests that ask DuckDB, once with each minor version of it that the registry has and noctule supports.

    python -m tests.duckdb_versions          # the lowest supported version, and the newest of each minor one
    python -m tests.duckdb_versions 1.4.1    # these

Each version is installed by itself into a folder of its own, ahead of the one that is installed. Prints a
line a version; ends with code 1 if a test fails with one of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from tests.command_line import REPOSITORY

# What depends on DuckDB: the catalog's views and macros, conditions, and the locked connection.
TESTS = (
    "tests/unit/artifacts/sql/test_catalog_analyzer.py",
    "tests/unit/artifacts/sql/test_catalog_sql.py",
    "tests/unit/artifacts/query/retrieval/test_where.py",
    "tests/unit/artifacts/store/test_snapshot.py",
)


def lowest() -> str:
    """The lowest version that pyproject.toml allows."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    wanted = next(each for each in project["dependencies"] if Requirement(each).name == "duckdb")
    [version] = [each.version for each in Requirement(wanted).specifier if each.operator == ">="]
    return f"{version}.0" if version.count(".") == 1 else version


def listed() -> list[str]:
    """The lowest supported version, and the newest of each minor one in the registry."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "duckdb"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    [line] = re.findall(r"(?m)^Available versions: (.+)$", said)
    newest = dict[tuple[int, int], Version]()
    for version in sorted(map(Version, line.split(", "))):
        newest[version.major, version.minor] = version
    return [lowest(), *(str(each) for each in newest.values() if each > Version(lowest()))]


def install(version: str, folder: Path) -> str:
    """Install a version into a folder; return why it cannot be had, empty if it is there."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:", "--retries",
         "0", "--timeout", "15", "--target", str(folder), f"duckdb=={version}"],
        capture_output=True, text=True, check=False, timeout=1_200,
    )  # fmt: skip
    return done.stderr.strip().split("\n")[-1] if done.returncode else ""


def run(
    version: str, folder: Path, tests: Sequence[str] = TESTS, workers: int = 2
) -> subprocess.CompletedProcess[str]:
    """Run tests with the version in the folder, and with no other; without workers in one process.

    They have a temporary folder of their own: in the common one pytest ends by deleting what runs before it
    have left, which is gigabytes after the whole suite.
    """
    guard = f"import duckdb, sys; sys.exit(duckdb.__version__ != {version!r})"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", guard], env=environment, check=True)
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", str(workers))
    temporary = ("--basetemp", str(folder / "temporary"))
    return subprocess.run(
        (*command, *temporary, "--timeout", "900", *tests),
        cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def main() -> int:
    """Run the tests with each version; return 1 if any fails."""
    failed = False
    for version in sys.argv[1:] or listed():
        with tempfile.TemporaryDirectory(prefix="noctule-duckdb-") as folder:
            if why := install(version, Path(folder)):
                print(f"duckdb {version}: not to be had: {why}", flush=True)
                failed = True
                continue
            done = run(version, Path(folder))
        print(f"duckdb {version}: {done.stdout.strip().split(chr(10))[-1]}", flush=True)
        if done.returncode:
            failed = True
            print(done.stdout, file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
