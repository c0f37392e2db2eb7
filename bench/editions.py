"""Real text in many editions: the same pages with varied titles, addresses and, in places, word order."""

from __future__ import annotations

import random
import re
from pathlib import Path

_SWAP = 0.05
_WORDS = re.compile(r"\b([a-z]{2,}) ([a-z]{2,})\b")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def write_editions(source: Path, target: Path, documents: int) -> None:
    """Write ``documents`` pages of ``source`` to ``target``, in a folder per edition.

    Each edition links within itself.
    """
    files = sorted(source.rglob("*.md"))
    partial = target.with_suffix(".partial")
    for number in range(documents):
        edition, at = divmod(number, len(files))
        # Spread over all of them if there are fewer than one edition holds.
        file = files[at if documents >= len(files) else at * len(files) // documents]
        path = partial / f"edition{edition}" / file.relative_to(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edited(file.read_text("utf-8"), edition, str(file.relative_to(source))), "utf-8")
    partial.rename(target)


def edited(text: str, edition: int, name: str) -> str:
    """Return a page in another edition, the same every time; edition 0 is the page itself."""
    if edition == 0:
        return text
    chance = random.Random(f"{edition}/{name}")
    head = _FRONT_MATTER.match(text)
    front, body = (head.group(), text[head.end() :]) if head else ("", text)
    front = re.sub(r"(?m)^(title: \S.*?)(['\"]?)$", rf"\1 {edition}\2", front)
    front = re.sub(r"(?m)^slug: ", f"slug: edition{edition}/", front)

    def swapped(pair: re.Match[str]) -> str:
        return f"{pair[2]} {pair[1]}" if chance.random() < _SWAP else pair[0]

    lines = [_WORDS.sub(swapped, line) for line in body.split("\n")]
    return front + "\n".join(lines).replace("/en-US/docs/", f"/en-US/docs/edition{edition}/")
