"""Print the size and shape of the code for docs/benchmarks.md: ``python -m tests.conventions.measures``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter

from tests.conventions.test_structure import PACKAGES, UPWARD, folder_of, imports, modules

_OPENING = re.compile(r"(?:The|An?|What|Whether|Where|Which|How|Of|Those|That) ")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def layers(package: str) -> str:
    """Return how many folders a package has, in how many layers, and the imports between them."""
    found = {folder_of(name, package) for name in modules()} - {"", package}
    drawn = {
        (folder_of(name, package), folder_of(each, package))
        for name, imported in imports().items()
        for each in imported
    }
    between = {(here, there) for here, there in drawn if here != there and {here, there} <= found}
    sorter = TopologicalSorter({here: {b for a, b in between - UPWARD.keys() if a == here} for here in found})
    sorter.prepare()
    layers = 0
    while ready := sorter.get_ready():
        layers += 1
        sorter.done(*ready)
    return f"{len(found)}, {layers}, {len(between)}"


def functions() -> Iterator[tuple[str, Function]]:
    """Yield every function with the name of its module."""
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, Function):
                yield name, node


def main() -> None:
    """Print a line for each row of the table."""
    texts = {name: path.read_text("utf-8").splitlines() for name, path in modules().items()}
    folders = Counter(
        name.rpartition(".")[0] for name, path in modules().items() if path.name != "__init__.py"
    )
    lengths = sorted(
        ((node.end_lineno or 0) - node.lineno + 1, f"{name}.{node.name}") for name, node in functions()
    )
    docstrings = [said for _, node in functions() if (said := ast.get_docstring(node))]
    print(f"modules: {len(texts)}")
    print(f"lines: {sum(map(len, texts.values())):,}")
    print(f"most modules in one folder: {max(folders.values())}")
    for package in PACKAGES:
        print(f"folders of {package}, their layers, imports between them: {layers(package)}")
    print("longest functions: " + ", ".join(f"{lines} {name}" for lines, name in lengths[:-4:-1]))
    print(f"lines of a function at the median: {lengths[len(lengths) // 2][0]}")
    print(f"functions over 30 lines: {sum(lines > 30 for lines, _ in lengths)} of {len(lengths):,}")
    print(f"docstrings that open with The, A, What …: {sum(map(bool, map(_OPENING.match, docstrings)))}")


if __name__ == "__main__":
    main()
