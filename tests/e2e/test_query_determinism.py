"""One order, whatever the process: other hash seeds, other locales, other numbers of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.query.index.postings import best
from noctule.artifacts.query.retrieval.semantic import semantic_list
from noctule.artifacts.store.store import Store
from tests.library_builder import searcher_of
from tests.repetitions import ALL

REPOSITORY = Path(__file__).resolve().parents[2]
TEXTS = [
    "cool cellar",
    "boats ships sea",
    "lighthouse",
    "the saga of the whale part",
    "harbuor gate SSO",
    "tide",
]
LIGHT = {
    "encoder": "static",
    "weights": {"keyword": 1.0, "semantic": 0.5, "document": 0.5, "code": 1.0, "graph": 0.5},
    "understand": ["split", "classify", "spelling", "acronyms"],
    "fuzziness": "auto",
    "stages": [
        "support", "in_degree", "community", "recency", "glossary", "calibrate", "duplicate_hash",
        "duplicate_url",
        "duplicate_ngram", "duplicate_cosine", "mmr", "per_document",
    ],
}  # fmt: skip
FULL = {
    "encoder": "full",
    "understand": ["split", "classify", "spelling", "acronyms", "concepts"],
    "stages": [*LIGHT["stages"], "aggregate"],
    "weights": {"keyword": 1.0, "semantic": 1.0, "code": 0.5, "graph": 0.5},
}
PROGRAM = """
import json, sys
from datetime import date
from pathlib import Path
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.settings.reading import parse
settings = parse({"search": json.loads(sys.argv[2]), "embed": {"workers": int(sys.argv[4])}}, "test")
answers = []
with Searcher(Store(Path(sys.argv[1])).open(), settings, clock=lambda: date(2026, 8, 31)) as searcher:
    for text in json.loads(sys.argv[3]):
        answer = searcher.search(text, 20).as_dict()
        assert answer["hits"], text
        answers.append({name: value for name, value in answer.items() if name != "timings"})
print(json.dumps(answers))
print("torch" in sys.modules, file=sys.stderr)
"""


def start(library: Store, search: dict[str, object], number: int) -> subprocess.Popen[str]:
    surroundings = {
        "PYTHONHASHSEED": str(number * 7919 % 4_294_967),
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'site'}",
        "OMP_NUM_THREADS": str(1 + number % 2),
        "LC_ALL": ("C", "C.UTF-8")[number % 2],
        "TZ": ("UTC", "Asia/Tokyo", "America/Lima")[number % 3],
    }
    arguments = [str(library.root), json.dumps(search), json.dumps(TEXTS), str(1 + number % 2)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=os.environ | surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answers_of(library: Store, search: dict[str, object], processes: int, at_once: int) -> list[str]:
    found: list[str] = []
    for first in range(0, processes, at_once):
        running = [start(library, search, number) for number in range(first, min(first + at_once, processes))]
        for process in running:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            assert "True" not in err, err
            found.append(out)
    return found


@pytest.mark.parametrize(
    # Every time zone, each with a hash seed of its own; of six, with either locale. And one with each number
    # of threads.
    ("search", "processes"),
    [(LIGHT, 6 if ALL else 3), (FULL, 2)],
    ids=["without a model", "with it"],
)
def test_the_same_queries_have_one_answer_in_every_process(
    library: Store, search: dict[str, object], processes: int
) -> None:
    found = answers_of(library, search, processes, at_once=2 if search is LIGHT else 1)
    assert len(found) == processes
    assert len(set(found)) == 1
    assert sum(len(answer["hits"]) for answer in json.loads(found[0])) > 20


@pytest.mark.parametrize("limit", [1, 5, 1000])
@pytest.mark.parametrize("filtered", [False, True])
def test_the_semantic_list_is_that_of_comparing_with_everything(
    library: Store, limit: int, filtered: bool
) -> None:
    rng = np.random.default_rng(5)
    with searcher_of(library) as searcher:
        corpus = searcher.corpus
        vectors = corpus.vectors(np.arange(corpus.passages)).astype(np.float64)
        allowed = rng.uniform(size=corpus.passages) < 0.4 if filtered else None
        for _ in range(10):
            normal = rng.normal(size=vectors.shape[1])
            query = np.asarray(normal / np.linalg.norm(normal), dtype=np.float32)
            cosine = vectors @ query.astype(np.float64)
            found = semantic_list(query, corpus, limit, allowed)
            may = np.flatnonzero((cosine > 0) & (allowed if allowed is not None else True))
            # float32 and float64 agree to some 1e-7, and scores are rounded: nearer ones may change places.
            rows, expected = best(may, cosine[may], limit)
            assert len(found.rows) == len(set(found.rows.tolist()) & set(may.tolist())) == len(rows)
            assert found.scores == pytest.approx(expected, abs=2e-6)
            assert cosine[found.rows] == pytest.approx(expected, abs=2e-6)
