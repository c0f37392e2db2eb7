"""Facts about the code that reviews would otherwise have to remember."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from noctule.pipeline import errors

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("flows", "server", "pipeline", "artifacts", "site/docsite")
MODULES = sorted(path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py"))
# The doors to the disk; the log of a process that is not ours; pages in a staging folder, which folders.py
# exchanges.
MAY_WRITE = {
    "artifacts/disk/system_calls.py",
    "artifacts/disk/durable.py",
    "artifacts/disk/folders.py",
    "flows/prefect_server/private.py",
    "site/docsite/incremental/staging.py",
    "site/docsite/incremental/staging_folders.py",
}
WRITING_METHODS = {"write_text", "write_bytes", "unlink", "rename", "rmdir", "mkdir", "touch", "symlink_to"}
WRITING_FUNCTIONS = {
    "replace",
    "rename",
    "fsync",
    "unlink",
    "remove",
    "rmtree",
    "copytree",
    "copyfile",
    "move",
    "mkdir",
}


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def writes(tree: ast.AST) -> list[str]:
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute):
            owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
            if owner in ("os", "shutil") and call.func.attr in WRITING_FUNCTIONS:
                found.append(f"{owner}.{call.func.attr}")
            elif owner not in ("os", "shutil", "durable", "folders") and call.func.attr in WRITING_METHODS:
                found.append(call.func.attr)
        modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        named = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if named == "open" and any(mode in ("w", "wb", "a", "ab", "x", "xb", "r+b", "w+b") for mode in modes):
            found.append("open for writing")
    return found


def test_only_the_doors_to_the_disk_write() -> None:
    found = {name: writes(tree) for name, tree in _trees().items() if name not in MAY_WRITE}
    assert {name: written for name, written in found.items() if written} == {}


def test_nothing_pickles_to_disk_and_nothing_fetches() -> None:
    forbidden = {
        "pickle",
        "cloudpickle",
        "dill",
        "joblib",
        "shelve",
        "marshal",
        "requests",
        "httpx",
        "aiohttp",
    }
    found = {
        name: forbidden & {each.partition(".")[0] for each in imports(tree)}
        for name, tree in _trees().items()
    }
    assert {name: imported for name, imported in found.items() if imported} == {}


@cache
def _trees() -> dict[str, ast.Module]:
    return {name_of(path): ast.parse(path.read_text("utf-8")) for path in MODULES}


def test_the_scan_itself_notices_a_write() -> None:
    for code in ("open('x', 'wb')", "Path('x').write_text('')", "os.replace('a', 'b')", "shutil.rmtree('a')"):
        assert writes(ast.parse(code)), code


def test_no_other_distribution_owns_our_import_names() -> None:
    owners = packages_distributions()
    assert set(owners.get("noctule", ["noctule"])) == {"noctule"}


def test_site_is_never_a_package() -> None:
    assert not (REPOSITORY / "site" / "__init__.py").exists()


def test_git_ignores_what_is_made_and_nothing_that_is_ours() -> None:
    ours = [
        "site/docsite/incremental/staging.py",
        "artifacts/store/store.py",
        "docs/index.md",
        "bench/index.py",
    ]
    made = [".venv/x", ".noctule/CURRENT", "public/index.html", "build/lib", "pipeline/__pycache__/x.pyc"]
    run = subprocess.run(
        ["git", "check-ignore", "--no-index", *ours, *made],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.split() == made


def kinds_of_error() -> list[type[errors.NoctuleError]]:
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, errors.NoctuleError)
        and kind is not errors.NoctuleError
    ]


def test_every_error_is_drawn_in_the_tree_and_has_an_exit_code() -> None:
    drawing = errors.__doc__ or ""
    for kind in kinds_of_error():
        assert kind.__name__ in drawing
        assert kind.exit_code in (2, 3, 4, 5)


@pytest.mark.parametrize("kind", kinds_of_error(), ids=lambda kind: str(kind.__name__))
def test_an_error_survives_the_way_between_processes(kind: type[errors.NoctuleError]) -> None:
    from multiprocessing.reduction import ForkingPickler

    error = kind("it broke", where="here", hint="Mend it.")
    copy = ForkingPickler.loads(ForkingPickler.dumps(error))
    assert (type(copy), copy.as_dict()) == (kind, error.as_dict())
    assert str(copy) == "it broke. Where: here. Mend it."
