"""Search latency and memory of two checkouts on one store: the same queries by turns, each in its process.

NOCTULE_STORE=path/to/store NOCTULE_OTHER=path/to/checkout python -m bench search-pairs
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpora import queries

_HERE = Path(__file__).resolve().parents[1]
_SERVER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from noctule.artifacts.query import open
from noctule.pipeline.settings.reading import parse
settings = parse({"search": {**json.loads(sys.argv[2]), "caches": {"answers": 0}}}, where="bench")
with open(sys.argv[1], settings) as searcher:
    for line in sys.stdin:
        given = json.loads(line)
        start = time.perf_counter()
        searcher.search(**given)
        seconds = time.perf_counter() - start
        status = dict(each.split(":", 1) for each in open_status().read().splitlines())
        print(json.dumps([seconds, int(status["VmRSS"].split()[0]) / 1024]), flush=True)
""".replace("open_status()", "__builtins__.open('/proc/self/status')")
_FIRST_DAY = date(2020, 1, 1)
# The settings of each case, and what a query asks besides its text.
_CASES: dict[str, tuple[dict[str, object], Callable[[int], dict[str, object]]]] = {
    "no filter": ({}, lambda _: {}),
    "filter by language": ({}, lambda _: {"filters": ["language:en"]}),
    "filter by path": ({}, lambda _: {"filters": ["path:**/css/**"]}),
    "filter by path and tag": (
        {},
        lambda _: {"filters": ["path:**/api/**", "tag:web-api", "tag:experimental"]},
    ),
    "filter by front matter": ({}, lambda _: {"filters": ["front.page-type:web-api-interface"]}),
    "a new date each time": ({}, lambda at: {"filters": [f"after:{_FIRST_DAY + timedelta(days=at)}"]}),
    "a new path each time": ({}, lambda at: {"filters": ["path:**/web/**", f"path:**/x{at}*/**"]}),
    "graph list": ({"weights": {"keyword": 1.0, "graph": 0.5}}, lambda _: {}),
}  # fmt: skip


def measure() -> None:
    """Print medians of both, their ratio, and the memory after the queries."""
    store, other = (Path(os.environ[name]).resolve() for name in ("NOCTULE_STORE", "NOCTULE_OTHER"))
    texts = queries("mdn-3p-links")
    print(f"{len(texts)} queries, warm, milliseconds at the median; MB resident; before and after")
    for label, (search, extra) in _CASES.items():
        asked = [{"text": text, **extra(at)} for at, text in enumerate(texts)]
        before, after = _paired(store, (other, _HERE), search, asked)
        a, b = (float(np.median(each[:, 0])) * 1000 for each in (before, after))
        ratio = float(np.median(after[:, 0] / before[:, 0]))
        memory = f"{before[100, 1]:7.1f} {after[100, 1]:7.1f}"
        print(f"  {label:24} {a:7.2f} {b:7.2f}   x {b / a:.2f} (pairs {ratio:.2f})   {memory}", flush=True)


def _paired(
    store: Path, checkouts: Sequence[Path], search: dict[str, object], asked: Sequence[dict[str, object]]
) -> list[np.ndarray[Any, Any]]:
    """Ask both in turn, the whole set once to warm them up; return seconds and memory for each query."""
    servers = [_serve(store, each, search) for each in checkouts]
    rows: list[list[list[float]]] = [[], []]
    for at, given in enumerate([*asked, *asked]):
        # Whoever is asked second may find the processor's caches warm: they change places.
        for which in (0, 1) if at % 2 else (1, 0):
            rows[which].append(_ask(servers[which], given))
    for server in servers:
        server.communicate()
    memory = [np.array(each)[: len(asked), 1] for each in rows]
    return [
        np.column_stack([np.array(each)[len(asked) :, 0], first])
        for each, first in zip(rows, memory, strict=True)
    ]


def _serve(store: Path, checkout: Path, search: dict[str, object]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(store), json.dumps(search)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(server: subprocess.Popen[str], given: dict[str, object]) -> list[float]:
    if server.stdin is None or server.stdout is None:
        raise RuntimeError("the server has no pipes")
    server.stdin.write(json.dumps(given) + "\n")
    server.stdin.flush()
    found: list[float] = json.loads(server.stdout.readline())
    return found
