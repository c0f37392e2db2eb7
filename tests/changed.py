"""Print the test files of what changed since the last commit: those of the same rooms, the house tests, and
changed tests.
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
    """Return the test file itself, or those beside each other in the folder that mirrors the module's."""
    if path.startswith("tests/") and PurePosixPath(path).name.startswith("test_"):
        return [path]
    for folder, mirror in _PACKAGES.items():
        if path.startswith(f"{folder}/"):
            room = PurePosixPath("tests/unit", mirror, path.removeprefix(f"{folder}/")).parent
            while not (REPOSITORY / room).is_dir():
                room = room.parent
            # Those of the rooms below import it seldom; all of them are what `make test` is for.
            return [str(PurePosixPath(room, each.name)) for each in (REPOSITORY / room).glob("test_*.py")]
    return []


def main() -> None:
    """Print each once, those that are there."""
    wanted = {found for path in changed_files() for found in tests_of(path)}
    kept = [each for each in sorted(wanted | {"tests/house"}) if (REPOSITORY / each).exists()]
    print("\n".join(each for each in kept if not any(each.startswith(f"{other}/") for other in kept)))


if __name__ == "__main__":
    main()
