"""The tokens of a JavaScript or TypeScript file, and the names among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

# A token that is not closed ends with its line or the file, so that nothing is looked at twice.
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"""
    r"""|(?P<string>"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?)"""
    r"""|(?P<number>-?\d[\d_]*(?:\.\d+)?)|(?P<name>[^\W\d][\w$]*|[$][\w$]*)|(?P<sign>\.\.\.|=>|[^\s])"""
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
# A regular expression follows one of these; after a value, a slash is a division or ends an element.
_BEFORE_REGEX = frozenset(["=", "=>", *"(,:[!&|?{;", "return", "typeof", "case"])
_IN_TEMPLATE = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{)?")
OPENING, CLOSING = "([{", ")]}"
_WORD = re.compile(r"[\w$]+")
_ESCAPE = re.compile(r"\\(?:u\{?([0-9A-Fa-f]{1,6})\}?|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "\r\n": ""}


def tokens(source: str) -> list[tuple[str, str]]:
    """Return the kind (string, regex, number, name or sign) and the text of each token; no comments.

    A template is one string, with what is computed in it.
    """
    return [*_Scanner(source)]


class _Scanner:
    def __init__(self, source: str) -> None:
        self._source, self._at, self._before = source, 0, ";"
        # Where the open templates begin, with the brackets that are open in what each computes.
        self._templates: list[tuple[int, int]] = []
        self._no_regex_until = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        while found := _TOKEN.match(self._source, self._at):
            start, self._at = self._at, found.end()
            if (kind := found.lastgroup) is None:
                continue
            text = found[0]
            if kind == "sign" and text in "/`{}":
                kind, text = self._sign(text, start)
            self._before = text if kind in ("sign", "name") else ""
            if kind and not self._templates:
                yield kind, text
        if self._templates:
            yield "string", self._source[self._templates[0][0] :]

    def _sign(self, text: str, start: int) -> tuple[str, str]:
        if text == "/":
            return self._slash(start)
        if text == "`":
            return self._template(start)
        if self._templates:
            begin, level = self._templates.pop()
            if text == "}" and not level:
                return self._template(begin)
            self._templates.append((begin, level + (1 if text == "{" else -1)))
        return "sign", text

    def _slash(self, start: int) -> tuple[str, str]:
        if self._before not in _BEFORE_REGEX or start < self._no_regex_until:
            return "sign", "/"
        if found := _REGEX.match(self._source, start):
            self._at = found.end()
            return "regex", found[0]
        end = self._source.find("\n", start)
        self._no_regex_until = end if end >= 0 else len(self._source)
        return "sign", "/"

    def _template(self, begin: int) -> tuple[str, str]:
        """Go on in a template up to its end, or to what is computed in it."""
        found = _IN_TEMPLATE.match(self._source, self._at)
        self._at = found.end() if found and found[1] else len(self._source)
        if found and found[1] == "${":
            self._templates.append((begin, 0))
            return "", "${"
        return "string", self._source[begin : self._at]


def names_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, outside of comments and strings."""
    return frozenset(text for kind, text in tokens(source) if kind == "name")


def keys_in(source: str) -> frozenset[str]:
    """Return the names that stand in a script, and the quoted keys of its objects; not those in comments.

    Words of regular expressions and of templates that compute are among them: where one begins and ends is
    not certain in every dialect.
    """
    found = tokens(source)
    names = {text for kind, text in found if kind == "name"}
    names |= {text[1:-1] for (kind, text), (_, after) in pairwise(found) if kind == "string" and after == ":"}
    unsure = (text for kind, text in found if kind == "regex" or (text[0] == "`" and "${" in text))
    return frozenset(names.union(*map(_WORD.findall, unsure)))


def unescaped(text: str) -> str:
    """Return what is between the quotation marks of a string."""
    text = text[1:-1]
    return _ESCAPE.sub(_letter, text) if "\\" in text else text


def _letter(found: re.Match[str]) -> str:
    if number := found[1] or found[2]:
        code = int(number, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return _LETTERS.get(found[3], found[3])
