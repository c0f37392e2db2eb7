"""The structure of the code: folders of a size, imports in one direction, one name for one thing.

Exceptions give their reason.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "flows": "flows",
    "server": "server",
    "docsite": "site/docsite",
    "artifacts": "artifacts",
    "pipeline": "pipeline",
}
MOST_MODULES, LEAST_LINES, MOST_LINES = 15, 60, 300
MOST_BODY = 30


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name below ``noctule``."""
    found = {}
    for package, place in PACKAGES.items():
        for path in sorted((ROOT / place).rglob("*.py")):
            parts = (package, *path.relative_to(ROOT / place).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imported(name: str, path: Path) -> Iterator[str]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = package[: len(package) - node.level + 1]
        elif (node.module or "").startswith("noctule."):
            base = []
        else:
            continue
        target = ".".join([*base, *(node.module or "").removeprefix("noctule.").split(".")]).strip(".")
        for alias in node.names:
            full = f"{target}.{alias.name}".strip(".")
            yield full if full in modules() else target


@cache
def imports() -> dict[str, frozenset[str]]:
    """Return for each module those of noctule that it imports, also where only types are meant."""
    return {
        name: frozenset(each for each in _imported(name, path) if each in modules() and each != name)
        for name, path in modules().items()
    }


def folder_of(name: str, package: str) -> str:
    """Return the folder of a module directly below its package, or the module itself if it lies in none."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == package else ""


UPWARD = {
    (
        "artifacts.store",
        "artifacts.remote",
    ): "a store may be an address, which is opened as what a mirror of it is"
}


def test_a_folder_has_a_screen_of_modules() -> None:
    count = Counter(name.rpartition(".")[0] for name, path in modules().items() if path.name != "__init__.py")
    assert [name for name, number in count.items() if number > MOST_MODULES] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_of_a_package_are_in_layers(package: str) -> None:
    needs: dict[str, set[str]] = defaultdict(set)
    for name, imported in imports().items():
        here = folder_of(name, package)
        if here and name != package:
            there = {folder_of(each, package) for each in imported} - {"", here, package}
            needs[here] |= {each for each in there if (here, each) not in UPWARD}
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError as circle:
        pytest.fail(f"a circle of folders: {' -> '.join(circle.args[1])}")


_FILE = "a file or kind of page of the site"
SMALL_MODULES = {
    "artifacts.query.ranking.cutoffs": "a stage of ranking",
    "artifacts.query.retrieval.graph_list": "a list, as its neighbours are",
    "artifacts.query.understanding.static_encoder": "an encoder of queries, beside the model's",
    "docsite.fingerprints.topic_pages": "fingerprints of one kind of page, as its neighbours are",
    "docsite.pages.offline": _FILE,
    "docsite.pages.previews": _FILE,
    "docsite.pages.sitemap": _FILE,
    "flows.cli.mcp": "a command, as its neighbours are",
    "flows.nightly": "a Prefect flow, found by its path",
    "flows.schedule.serve": "a boundary: it imports Prefect",
    "pipeline.embedding.centroids": "a formula with its source",
    "pipeline.parse.markdown.link_rules.spans": "a rule of the parser, as its neighbours are",
}


def test_a_small_module_has_several_importers() -> None:
    importers = Counter(each for imported in imports().values() for each in imported)
    small = {
        name
        for name, path in modules().items()
        if path.name != "__init__.py"
        and len(path.read_text("utf-8").splitlines()) < LEAST_LINES
        and importers[name] == 1
    }
    assert small == set(SMALL_MODULES)


def test_a_module_is_not_long() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


_RECORD = "names the fields of a record, one a line"
LONG_FUNCTIONS = {"docsite.outline.plan.plan_site": _RECORD, "docsite.pages.documents._view": _RECORD}


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has below its signature and its docstring."""
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    return (node.end_lineno or 0) - node.body[has_docstring].lineno + 1


def test_a_function_is_not_long() -> None:
    long = {
        f"{name}.{node.name}"
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MOST_BODY
    }
    assert long == set(LONG_FUNCTIONS)


# Commands are found by their names, and Prefect's entry points keep their paths.
NAMED_AFTER_COMMANDS = ("flows.cli.", "flows.site", "flows.index", "flows.nightly", "pipeline.parse.")


def test_a_name_stands_once_in_a_package() -> None:
    count = Counter(
        (name.split(".")[0], name.rpartition(".")[2])
        for name, path in modules().items()
        if path.name != "__init__.py" and not name.startswith(NAMED_AFTER_COMMANDS)
    )
    assert [each for each, number in count.items() if number > 1] == []


def test_public_class_names_are_unique() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(name)
    assert {name: sorted(found) for name, found in homes.items() if len(found) > 1} == {}


def test_unit_tests_mirror_the_folders() -> None:
    unit = ROOT / "tests" / "unit"
    for path in unit.rglob("test_*.py"):
        package, *folders = path.relative_to(unit).parent.parts
        place = ROOT / PACKAGES.get(package, package)
        assert place.joinpath(*folders).is_dir(), f"{path.relative_to(unit)} lies in no folder of a package"


def test_a_test_named_after_a_module_mirrors_its_folder() -> None:
    folders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name in modules():
        folder, _, module = name.rpartition(".")
        folders[name.split(".")[0], module].add(folder)
    unit = ROOT / "tests" / "unit"
    elsewhere = {}
    for path in unit.rglob("test_*.py"):
        place, subject = path.parent.relative_to(unit).parts, path.stem.removeprefix("test_")
        homes = folders[place[0], subject]
        # The tests of a package lie in its folder, or beside it.
        if homes and not homes & {".".join(place), ".".join(place).removesuffix(f".{subject}")}:
            elsewhere[str(path.relative_to(unit))] = sorted(homes)
    assert elsewhere == {}


def test_only_entry_points_import_absolutely() -> None:
    absolute = {
        name
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("noctule")
    }
    # Prefect may load these by their paths.
    assert absolute == {"flows.index", "flows.nightly", "flows.site"}
