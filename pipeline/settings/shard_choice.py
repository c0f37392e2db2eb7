"""Which shards of a set a process opens: some by their numbers, or every n-th of however many there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PART = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
_NUMBERS = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")
HINT = "Write numbers and ranges, 0,1,4-7, or a part of all shards, 1/2 and 2/2."


@dataclass(frozen=True, slots=True)
class ShardChoice:
    """A choice of shards by their names, which are numbers: those named, or every ``of``-th from ``part`` on.

    A part goes on holding its share when the number of shards changes; numbers that are named do not.
    """

    numbers: frozenset[int] = frozenset()
    part: int = 0
    of: int = 0

    @classmethod
    def parse(cls, text: str) -> ShardChoice:
        """Return the choice that a text names; raise ``ValueError`` saying what is wrong with it."""
        found = _PART.fullmatch(text.strip())
        if found is not None:
            part, of = map(int, found.groups())
            if not 1 <= part <= of:
                raise ValueError(f"there is no part {part} of {of}. {HINT}")
            return cls(part=part, of=of)
        given = text.replace(" ", "")
        if not _NUMBERS.fullmatch(given):
            raise ValueError(f"not a choice of shards. {HINT}")
        return cls(frozenset(number for each in given.split(",") for number in _range(each)))

    def of_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names that are chosen, in their order."""
        if self.of:
            return tuple(names[self.part - 1 :: self.of])
        return tuple(name for name in names if int(name) in self.numbers)

    def __str__(self) -> str:
        return f"{self.part}/{self.of}" if self.of else ",".join(map(str, sorted(self.numbers)))


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
