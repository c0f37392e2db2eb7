"""Every licence that noctule comes to depend on is known, listed, and one that lets anyone use it."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conventions.licences import ROOT, direct, licence_of, needed

PAGE = (ROOT / "docs" / "reference" / "dependencies.md").read_text("utf-8")
FREE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "CNRI-Python",
    "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Public-Domain", "Python-2.0", "Unlicense",
    "Zlib",
}  # fmt: skip
# Several licences to choose from, of parts that are not installed, or named outside the metadata; the page
# says which is used.
CHOSEN = {
    "atheris": "Apache-2.0", "docutils": "BSD-2-Clause", "mammoth": "BSD-2-Clause",
    "text-unidecode": "Artistic-1.0",
}  # fmt: skip


def listed() -> dict[str, set[str]]:
    """The packages below each licence on the page."""
    section = PAGE.split("\n## Licences\n")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| ([^|`]+) \| (`[^|]+`) \|$", section)
    return {licence: set(re.findall(r"`([^`]+)`", names)) for licence, names in rows}


def binding(distributions: Iterable[Distribution]) -> dict[str, str]:
    """The licences that not everyone may use, by package; the chosen ones are looked at by hand."""
    found = {}
    for each in distributions:
        name, licence = each.metadata["Name"], licence_of(each)
        parts = {part.strip() for part in re.split(r" AND | OR |[()]", licence)} - {""}
        if name not in CHOSEN and not parts <= FREE:
            found[name] = licence
    return found


def test_the_licence_of_every_dependency_is_listed_as_its_metadata_says() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    absent = set()
    for name in direct():
        try:
            found[CHOSEN.get(name) or licence_of(distribution(name))].add(name)
        except PackageNotFoundError:
            absent.add(name)
    page = listed()
    assert {licence: names - absent for licence, names in page.items() if names - absent} == found
    assert set().union(*page.values()) == direct()


def test_what_runs_needs_no_licence_that_binds_its_user() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["build"]]
    assert binding(needed(Requirement(name).name for name in needs)) == {}


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "MIT AND AGPL-3.0-only", "SSPL-1.0", "MIT"])
def test_a_binding_licence_is_noticed(licence: str, tmp_path: Path) -> None:
    info = tmp_path / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: strange\nLicense-Expression: {licence}\n")
    assert binding([PathDistribution(info)]) == ({} if licence == "MIT" else {"strange": licence})


@pytest.mark.parametrize(("name", "licence"), CHOSEN.items())
def test_the_licence_that_was_chosen_stands_beside_the_package(name: str, licence: str) -> None:
    places = [part for part in re.split(r"\n\n|\n\|", PAGE) if f"`{name}`" in part]
    assert any(licence in part for part in places)
