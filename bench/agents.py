"""Whether budgets of the tools for agents hold: 1,000 random calls over a store.

Run as ``python -m bench.agents STORE``. Words of queries are those of the collection; what is counted are the
tokens of answers by the counter that the tools have themselves.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import noctule
from noctule.server.agents.documents import SnapshotDocuments
from noctule.server.agents.tools import Tools

_CALLS = 1_000
_BUDGETS = (200, 300, 500, 1_000, 2_000, 4_000, 8_000)


def measure_store(store: Path) -> None:
    """Print how many calls there were, how many answers exceeded their budget, and how many were errors."""
    draw, tools = random.Random(7), Tools()  # no secret
    over = errors = 0
    with noctule.open(store) as searcher:
        documents, words = tools.of(searcher).documents, sorted(searcher.corpus.written.counts)
        for _ in range(_CALLS):
            name, arguments = _call(draw, documents, words)
            budget = draw.choice(_BUDGETS)
            answer = tools.call(searcher, name, {**arguments, "max_tokens": budget})
            over += documents.counter.count(answer.text) > budget
            errors += answer.is_error
    print(f"{_CALLS} calls, {over} over their budget, {errors} errors")


def _call(
    draw: random.Random, documents: SnapshotDocuments, words: list[str]
) -> tuple[str, dict[str, object]]:
    document = draw.choice(documents.listed)
    match draw.choice(["search_docs"] * 5 + ["read_doc"] * 4 + ["browse_docs"]):
        case "search_docs":
            query = " ".join(draw.sample(words, draw.randint(1, 6)))
            return "search_docs", {"query": query, "limit": draw.randint(1, 20)}
        case "read_doc":
            return "read_doc", {"ref": document, "start": draw.choice([0, draw.randint(0, 3_000)])}
        case _:
            return "browse_docs", {"path": document.rpartition("/")[0], "depth": draw.randint(1, 5)}


if __name__ == "__main__":
    measure_store(Path(sys.argv[1]))
