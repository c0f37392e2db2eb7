"""What keeps a saved file from being shown, as the browser says it: what, where, and what to do next."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from ...pipeline.errors import NoctuleError
from ...pipeline.model import ReportEntry

_LINE = re.compile(r"\bline (\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class PreviewProblem:
    """A reason why a file, the settings or the build failed; ``line`` is 0 where none is known."""

    what: str
    where: str
    line: int = 0
    hint: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the problem as JSON."""
        return asdict(self)


def problem_of(rejection: ReportEntry, location: str) -> PreviewProblem:
    """Return the problem of a file that was left out."""
    return PreviewProblem(rejection.reason, location, _line(rejection.reason), "Mend the file and save it.")


def problem_in(error: NoctuleError) -> PreviewProblem:
    """Return an error of the settings or of a build."""
    return PreviewProblem(error.what, error.where, _line(f"{error.where} {error.what}"), error.hint)


def _line(text: str) -> int:
    found = _LINE.search(text)
    return int(found[1]) if found else 0
