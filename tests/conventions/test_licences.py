"""Every licence that noctule comes to depend on is known, listed, and one that lets anyone use it."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, distribution

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
    strange = {}
    needs = [*project["dependencies"], *project["optional-dependencies"]["build"]]
    for each in needed(Requirement(name).name for name in needs):
        name = each.metadata["Name"]
        licences = re.split(r" AND | OR |[()]", licence_of(each))
        if name not in CHOSEN and not {part.strip() for part in licences if part.strip()} <= FREE:
            strange[name] = licence_of(each)
    assert strange == {}


def test_a_binding_licence_would_be_noticed() -> None:
    assert not {"GPL-3.0-or-later", "AGPL-3.0-only", "unknown", "SSPL-1.0"} & FREE
    for name, licence in CHOSEN.items():
        assert f"`{name}`" in PAGE and licence in PAGE
