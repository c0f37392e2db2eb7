"""Acronyms defined in a corpus: ``Single Sign-On (SSO)`` and ``SSO (Single Sign-On)`` both define SSO.

The algorithm is that of Schwartz and Hearst (2003): a short form in or before brackets, and next to it the
fewest words that contain its letters in order. It is stricter here, since a wrong expansion harms a query
more than a missing one: letters must be at the starts of words or humps, and every word except short function
words must contribute a letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_SHORT = r"[^\W\d_][^\W_]{1,9}"
# ``long form (SHORT)`` and ``SHORT (long form)``: brackets on one line, without nested brackets.
_INSIDE = re.compile(rf"(?<=\w[ \u00a0])\(({_SHORT})\)")
_OUTSIDE = re.compile(rf"(?<![\w.\-/])({_SHORT})[ \u00a0]\(([^()\n]{{4,100}})\)")
_ATOM = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?:;,()\[\]{}\"“”|\n]")
_SMALL = frozenset(
    ("a", "an", "and", "as", "at", "by", "de", "des", "du", "en", "et", "for", "für", "in", "la", "le", "of",
     "on", "or", "per", "the", "to", "und", "with")
)  # fmt: skip
_MAX_BEFORE = 160
_NEVER = 1_000


@dataclass(frozen=True, slots=True)
class Acronym:
    """A short form, its expansion, and how many documents define it so."""

    acronym: str
    expansion: str
    documents: int


def learn(texts: Iterable[str]) -> tuple[Acronym, ...]:
    """Return the acronyms that the texts define, one text per document, in every spelling."""
    counts: Counter[tuple[str, str]] = Counter()
    for text in texts:
        # One spelling per document, so that a document counts once.
        counts.update({(short, _key(long)): (short, long) for short, long in _pairs(text)}.values())
    return tuple(Acronym(short, long, counts[short, long]) for short, long in sorted(counts))


def merge(parts: Iterable[Acronym]) -> tuple[Acronym, ...]:
    """Unite spelling variants under the commonest; sort by acronym, then by documents, most first."""
    spellings: dict[tuple[str, str], Counter[str]] = {}
    for part in parts:
        found = spellings.setdefault((part.acronym, _key(part.expansion)), Counter())
        found[part.expansion] += part.documents
    merged = [
        Acronym(short, min(found, key=lambda long: (-found[long], long)), found.total())
        for (short, _), found in spellings.items()
    ]
    return tuple(sorted(merged, key=lambda each: (each.acronym, -each.documents, each.expansion)))


def _key(long: str) -> str:
    """Return what the spellings of an expansion share: case, hyphens and a plural's s are ignored."""
    return " ".join(_ATOM.findall(long.casefold())).removesuffix("s")


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield short and long forms in order of appearance."""
    for found in _INSIDE.finditer(text):
        clause = _SENTENCE_END.split(text[max(0, found.start() - _MAX_BEFORE) : found.start()])[-1]
        words = clause.split()
        short = _singular(found[1])
        if _may_be_short(short) and (long := _nearest(short, words)):
            yield short, _singular_words(long) if short != found[1] else long
    for found in _OUTSIDE.finditer(text):
        short = _singular(found[1])
        words = _SENTENCE_END.split(found[2].strip("\"'“”‘’ "))[0].split()
        if _may_be_short(short) and _stands_for(short, words):
            long = " ".join(words)
            yield short, _singular_words(long) if short != found[1] else long


def _may_be_short(word: str) -> bool:
    letters = [c for c in word if c.isalpha()]
    return len(letters) >= 2 and sum(c.isupper() for c in letters) * 2 > len(letters)


def _singular(short: str) -> str:
    """Return ``API`` for its plural ``APIs``."""
    return short[:-1] if short.endswith("s") and short[-2].isupper() and len(short) > 2 else short


def _singular_words(long: str) -> str:
    if long.endswith("ies"):
        return f"{long[:-3]}y"
    if long.endswith(("sses", "xes", "ches", "shes")):
        return long[:-2]
    return long[:-1] if long.endswith("s") and not long.endswith("ss") else long


def _nearest(short: str, words: Sequence[str]) -> str:
    """Return the fewest last words that the short form stands for, or an empty string."""
    most = min(len(short) + 5, len(short) * 2)
    for count in range(1, min(most, len(words)) + 1):
        if _stands_for(short, words[-count:]):
            return " ".join(words[-count:])
    return ""


def _stands_for(short: str, words: Sequence[str]) -> bool:
    """Return whether the words hold the letters in order, nearly all at starts, and each has its share."""
    long = " ".join(words)
    if not words or len(long) <= len(short):
        return False
    # ``GIF (GIF89a)`` explains nothing.
    if any(atom.startswith(short.casefold()) for atom in _ATOM.findall(long.casefold())):
        return False
    return _cost(short, words) <= len(short) // 4


def _cost(short: str, words: Sequence[str]) -> int:
    """Return the fewest letters that must come from within words; a high number if no match exists."""
    best: dict[tuple[int, int], int] = {}  # where the last letter was found: word, place in it
    for at, letter in enumerate(short):
        best = (
            _first(letter, words[0])
            if at == 0
            else {
                (w, i): cost
                for w, word in enumerate(words)
                for i, c in enumerate(word)
                if c.casefold() == letter.casefold() and (cost := _step(best, words, w, i, letter)) < _NEVER
            }
        )
    return min((cost for (w, _), cost in best.items() if w == len(words) - 1), default=_NEVER)


def _first(letter: str, word: str) -> dict[tuple[int, int], int]:
    """Return where the first letter may be: at the very start, or as the X of ``Extensible``."""
    at = 1 if letter == "X" and word[:2].casefold() == "ex" else 0
    return {(0, at): 0} if word[at : at + 1].casefold() == letter.casefold() else {}


def _step(best: dict[tuple[int, int], int], words: Sequence[str], w: int, i: int, letter: str) -> int:
    """Return the least cost of a path whose next letter is character ``i`` of word ``w``."""
    cost = _NEVER
    for (before, place), paid in best.items():
        later = before < w or (before == w and place < i)
        if later and all(word.casefold() in _SMALL for word in words[before + 1 : w]):
            follows = letter.islower() and (before, place) == (w, i - 1)
            cost = min(cost, paid + (0 if follows or _is_start(words[w], i) else 1))
    return cost


def _is_start(word: str, i: int) -> bool:
    """Return whether a part begins here: after a hyphen, a hump, a digit; or at the X of ``Extensible``."""
    if i == 0 or not word[i - 1].isalnum():
        return True
    if word[i].isupper() or (word[i].isdigit() and not word[i - 1].isdigit()):
        return True
    return i == 1 and word[:2].casefold() == "ex"
