"""Print the test files of what changed since the last commit: those that mirror it, or else import it, the
conventions, and changed tests.
"""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

REPOSITORY = Path(__file__).resolve().parents[1]
_PACKAGES = {
    "flows": "flows",
    "pipeline": "pipeline",
    "artifacts": "artifacts",
    "server": "server",
    "site/docsite": "docsite",
}


def changed_files() -> list[str]:
    """Return the paths that git calls changed or new."""
    said = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line[3:].split(" -> ")[-1].strip('"') for line in said.stdout.splitlines()]


def tests_of(path: str) -> list[str]:
    """Return the test file itself, or the unit tests of a module."""
    if path.startswith("tests/") and PurePosixPath(path).name.startswith("test_"):
        return [path]
    for folder, package in _PACKAGES.items():
        if path.startswith(f"{folder}/"):
            module = PurePosixPath(package, path.removeprefix(f"{folder}/"))
            return _beside(module) or _importing(module)
    return []


def _beside(module: PurePosixPath) -> list[str]:
    """Return the tests in the folder that mirrors the module's, or in the next above that has a mirror.

    Those of the folders below import it seldom; all of them are what `make test` is for.
    """
    mirrored = REPOSITORY / "tests" / "unit" / module.parent
    while not mirrored.is_dir():
        mirrored = mirrored.parent
    return [_name(each) for each in mirrored.glob("test_*.py")]


def _importing(module: PurePosixPath) -> list[str]:
    """Return the unit tests that import the module's folder."""
    dotted = ".".join(("noctule", *module.parent.parts))
    tests = (REPOSITORY / "tests" / "unit").rglob("test_*.py")
    return [_name(each) for each in tests if f"{dotted}." in each.read_text("utf-8")]


def _name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def main() -> None:
    """Print each once, those that are there."""
    wanted = {found for path in changed_files() for found in tests_of(path)}
    kept = [each for each in sorted(wanted | {"tests/conventions"}) if (REPOSITORY / each).exists()]
    print("\n".join(each for each in kept if not any(each.startswith(f"{other}/") for other in kept)))


if __name__ == "__main__":
    main()
