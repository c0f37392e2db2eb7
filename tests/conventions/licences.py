"""The licence that each installed distribution names, in the words of SPDX, and what noctule needs to run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
# As classifiers and older metadata put it.
_SPOKEN = {
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache-2.0 license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "mit license": "MIT",
    "mit": "MIT",
    "the mit license (mit)": "MIT",
    "bsd license": "BSD-3-Clause",
    "bsd": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd-3-clause license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "isc": "ISC",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "public domain": "Public-Domain",
    "the unlicense (unlicense)": "Unlicense",
    "the unlicense": "Unlicense",
    "apache 2.0 license": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "sil open font license 1.1 (ofl-1.1)": "OFL-1.1",
    "bsd-3-clause": "BSD-3-Clause",
    "mpl-2.0 and mit": "MPL-2.0 AND MIT",
    "bsd-3-clause, apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "epl-2.0 or gpl-2.0-or-later": "EPL-2.0 OR GPL-2.0-or-later",
}


def licence_of(found: Distribution) -> str:
    """What the distribution's metadata says: an SPDX expression, or the words that it uses."""
    given = found.metadata
    if given.get("License-Expression"):
        return str(given["License-Expression"])
    last = [
        each.rpartition(" :: ")[2].lower()
        for each in given.get_all("Classifier") or []
        if each.startswith("License")
    ]
    told = [each for each in last if each not in ("osi approved", "dfsg approved")] or [
        (given.get("License") or "").split("\n")[0].lower()
    ]
    return " AND ".join(sorted({_SPOKEN.get(each.strip(), each.strip() or "unknown") for each in told}))


def direct() -> set[str]:
    """Every distribution that pyproject.toml names, of the extras too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (each for group in project["optional-dependencies"].values() for each in group)
    return {Requirement(each).name for each in (*project["dependencies"], *extras)}


def needed(names: Iterable[str]) -> Iterator[Distribution]:
    """The installed distributions among these, and all that they need in turn, each once."""
    pending, seen = sorted(names), set[str]()
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        yield found
        required = (Requirement(each) for each in found.requires or [])
        pending += [each.name for each in required if not each.marker or each.marker.evaluate({"extra": ""})]
