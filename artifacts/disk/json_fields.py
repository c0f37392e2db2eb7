"""The fields of a JSON object that nobody vouches for, taken one by one and validated."""

from __future__ import annotations

import json
import re

from ...pipeline.printable import is_printable

_MAX_TEXT = 1_000
# Names that a file chooses: they are printed as they stand.
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. +-]{0,99}")


class WrongField(Exception):
    """What is wrong with a value; the reader of the file turns it into an error that names the file."""


def json_object(content: bytes, most: int) -> dict[str, object]:
    """Return the JSON object in these bytes, at most so many; raises ``WrongField``."""
    if len(content) > most:
        raise WrongField(f"over {most} bytes")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise WrongField(f"not JSON ({error})") from None
    if not isinstance(value, dict):
        raise WrongField("not a JSON object")
    return value


class Fields:
    """The fields of a JSON object, taken one by one and validated; those never taken are unknown."""

    def __init__(self, value: object, at: str = "") -> None:
        if not isinstance(value, dict):
            raise WrongField(f"{at.rstrip('.') or 'it'} is not an object")
        self.rest, self.at = dict(value), at

    def _take(self, name: str) -> object:
        if name not in self.rest:
            raise WrongField(f"{self.at}{name} is missing")
        return self.rest.pop(name)

    def number(self, name: str, least: int = 0, most: int = 1 << 62) -> int:
        """Take an integer between these bounds."""
        value = self._take(name)
        if type(value) is not int or not least <= value <= most:
            raise WrongField(f"{self.at}{name} is {value!r:.80}, expected an integer from {least} to {most}")
        return value

    def text(self, name: str, pattern: re.Pattern[str] | None = None) -> str:
        """Take a line that can be printed, and that matches the pattern if there is one."""
        value = self._take(name)
        if not isinstance(value, str) or (pattern and not pattern.fullmatch(value)):
            raise WrongField(f"{self.at}{name} is {value!r:.80}")
        if len(value) > _MAX_TEXT or not is_printable(value) or "\n" in value:
            raise WrongField(f"{self.at}{name} is not a line that can be printed: {value!r:.80}")
        return value

    def prompt(self, name: str) -> str:
        """Take a text that is put in front of queries and may have any characters."""
        value = self._take(name)
        if not isinstance(value, str) or len(value) > _MAX_TEXT:
            raise WrongField(f"{self.at}{name} is {value!r:.80}")
        return value

    def inner(self, name: str) -> Fields:
        """Take an object, to take its fields in turn."""
        return Fields(self._take(name), f"{self.at}{name}.")

    def numbers(self, name: str) -> dict[str, int]:
        """Take an object whose values are all integers."""
        inner = self.inner(name)
        return {key: inner.number(key) for key in inner.names()}

    def texts(self, name: str) -> dict[str, str]:
        """Take an object whose values are all lines that can be printed."""
        inner = self.inner(name)
        return {key: inner.text(key) for key in inner.names()}

    def names(self) -> list[str]:
        """Return the names that are left, in order."""
        for key in self.rest:
            if not _KEY.fullmatch(key):
                raise WrongField(f"{self.at}{key!r:.80} is not a name")
        return sorted(self.rest)
