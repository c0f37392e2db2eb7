"""``make fuzz``: which short pieces of syntax, repeated, take more time than their length explains.

    python -m tests.fuzz.growth --least 2000 --formats md rst

Each piece is repeated 2,000, 4,000 and 8,000 times on one line, half as often on lines of their own, and a
quarter as often in paragraphs of their own, and goes all the way from file to page. Those are named, and end
with code 1, whose time grows by more than 2.6 for a doubling above 0.2 s, and at the next doubling again.
"""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp

from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.assets.embedded_images import embedded_images
from noctule.pipeline.chunk.passages import build_passages
from noctule.pipeline.chunk.sections import build_tree, code_blocks
from noctule.pipeline.errors import RejectedDocument
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Chunk, Site
from noctule.pipeline.source_files import FoundFile
from tests.fuzz.pieces import PIECES, Piece
from tests.pictures import png
from tests.site_builder import snapshot_of_sources

GROWTH, LEAST_S = 2.6, 0.2
_LIMIT_S = 60
_BETWEEN = {"on one line": "", "on lines": "\n", "in paragraphs": "\n\n"}
_FEWER = {"on one line": 1, "on lines": 2, "in paragraphs": 4}
# What a folder says of its tool decides what braces and brackets mean.
_SIGNS = (".obsidian", "_config.yml", "dendron.yml", ".vitepress")


class TooSlow(BaseException):
    """A text that takes more than its limit of processor time."""


@dataclass(frozen=True)
class Case:
    """A piece of syntax that is repeated in a file of this format."""

    piece: Piece
    between: str
    suffix: str

    def text(self, times: int) -> str:
        """Return the file's text; pieces with an end are nested."""
        opening, closing, head, middle, tail = self.piece
        between = _BETWEEN[self.between]
        opened, closed = (
            between.join(each.replace("{n}", str(number)) for number in range(times))
            for each in (opening, closing)
        )
        return head + opened + middle + (closed if closing else "") + tail

    def __str__(self) -> str:
        opening, closing, head = (repr(each) for each in self.piece[:3])
        more = f" … {closing}" * (closing != "''") + f" after {head}" * (head != "''")
        return f"{self.suffix} {opening}{more} {self.between}"


def cases(suffixes: tuple[str, ...] = tuple(PIECES)) -> Iterator[Case]:
    """Yield every piece of these formats in every arrangement."""
    for suffix in suffixes:
        for piece in PIECES[suffix]:
            yield from (Case(piece, between, suffix) for between in _BETWEEN)


@cache
def _folder() -> Path:
    folder = Path(mkdtemp(prefix="noctule-growth-"))
    for sign in _SIGNS:
        (folder / sign).write_text("title: T\n") if "." in sign[1:] else (folder / sign).mkdir()
    return folder


def work(text: str, suffix: str) -> None:
    """Read a file of this text, divide it into passages, and make its page."""
    path = _folder() / f"a{suffix}"
    path.write_text(text, newline="")
    collection = Collection(root=str(_folder()), max_bytes=50_000_000)
    try:
        source = read_source(FoundFile("c", path.name, str(path), len(text)), collection)
        document = parse(source, collection)
        embedded_images(source.content)
    except RejectedDocument as rejection:
        assert not rejection.what.startswith("the parser failed"), rejection.what
        return
    nodes = build_tree(document)
    code_blocks(document, nodes)
    if nodes:
        build_passages(document, nodes, lambda texts: [len(each.split()) for each in texts], Chunk())
    images = defaultdict[str, bytes](lambda: png(1, 1))
    plan = plan_site(snapshot_of_sources([source], {"c": collection}, images), Site())
    for entry in plan.by_page.values():
        plan.renderer.render(entry)


def seconds(case: Case, times: int, limit_s: float = _LIMIT_S) -> float:
    """Return the processor time that it takes; raises ``TooSlow``."""
    text, began = case.text(times), time.process_time()
    with _limited(limit_s):
        work(text, case.suffix)
    return time.process_time() - began


class _limited:  # noqa: N801  # a context like those of the standard library
    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s

    def __enter__(self) -> None:
        gc.disable()  # an error raised in a callback of the collector, such as Hypothesis's, is lost
        signal.signal(signal.SIGVTALRM, _give_up)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.limit_s, 1)  # and again: a finalizer loses it as well

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()


def _give_up(*_: object) -> None:
    raise TooSlow


def growth(case: Case, least: int) -> tuple[float, float]:
    """Return the seconds for the most repetitions, and the growth at the last doubling; 0 if it is short."""
    most = 4 * least // _FEWER[case.between]
    took = seconds(case, most)
    if took <= LEAST_S:
        return took, 0
    grew = max(took / (half := seconds(case, most // 2)), half / max(LEAST_S, seconds(case, most // 4)))
    return took, min(grew, seconds(case, 2 * most) / took) if grew > GROWTH else grew


def _suffix(name: str) -> str:
    return f".{name.lstrip('.')}"


def main() -> int:
    """Print what grows too fast, and say by the exit code whether anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=int, default=2_000)
    parser.add_argument("--formats", nargs="*", type=_suffix, default=list(PIECES), choices=list(PIECES))
    parser.add_argument(
        "--verbose", action="store_true", help="print all that takes over a tenth of a second"
    )
    parser.add_argument("--from", type=int, default=0, dest="first", help="the number of the first text")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many texts")
    given = parser.parse_args()
    seconds(Case(Piece("word "), "on one line", ".md"), 10)  # what is imported on the way
    found, made = 0, 0
    for case in islice(cases(tuple(given.formats)), given.first, given.first + given.count):
        made += 1
        if made % 100 == 0:
            print(f"  {made:,} texts, {time.process_time():.0f} s", file=sys.stderr, flush=True)
        try:
            took, grew = growth(case, given.least)
        except TooSlow:
            took, grew = _LIMIT_S, float("inf")
        found += grew > GROWTH
        if grew > GROWTH or (given.verbose and took > LEAST_S):
            print(f"{took:6.2f} s, × {grew:.1f}: {case}", flush=True)
    print(f"{made:,} texts, {found} that take more than time in proportion to their length")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
