"""Plain questions: how often the page that answers is among the first hits.

python -m bench questions
    python -m bench questions --set foam --model /models/all-mpnet-base-v2

``plain_questions/CORPUS.tsv`` holds questions as people ask them who know the subject but not its words, and
the page that answers each, or several divided by ``|``. They were written down before anything was searched.
Those in ``plain_questions/development`` are there to look at and to tune on; the others are the test. Another
model encodes passages and questions if ``--model`` has its name or folder.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.judged import settings_of, store_of
from noctule.artifacts.judged.evaluate import for_evaluation
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.context import SearchRequest

FOLDER = Path(__file__).resolve().parent / "plain_questions"
_FIRST = 3
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the pages that answer it, the paths that were found, and the rank of an answer, or 0."""

    question: str
    answers: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Return the rank of the first page that answers, from 1, or 0 if none is among the hits."""
        right = (at for at, path in enumerate(self.found, 1) if path.endswith(self.answers))
        return next(right, 0)


def files() -> list[Path]:
    """Return the files of questions, each named after its corpus: the development set first."""
    return [*sorted((FOLDER / "development").glob("*.tsv")), *sorted(FOLDER.glob("*.tsv"))]


def asked(questions: Path, encoder: Literal["full", "static"], model: str = "") -> Iterator[Asked]:
    """Ask the corpus that a file is named after its questions with the defaults, or with another model."""
    corpus = questions.stem
    settings = for_evaluation(settings_of(corpus))
    if model:
        settings = settings.model_copy(update={"embed": settings.embed.model_copy(update={"model": model})})
    settings = settings.model_copy(update={"search": settings.search.model_copy(update={"encoder": encoder})})
    with questions.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with closing(Searcher(store_of(corpus, settings).open(), settings)) as searcher:
        for row in rows:
            found = searcher.rank(SearchRequest(row["question"], _SHOWN)).run.candidates[:_SHOWN]
            documents = [int(searcher.corpus.document_of[each.row]) for each in found]
            paths = tuple(searcher.corpus.document(at)["path"] for at in documents)
            yield Asked(row["question"], tuple(row["path"].split("|")), paths)


def measure(corpora: Sequence[str] = (), model: str = "") -> None:
    """Print the share of questions with an answer among the first, and the questions without one."""
    missed: list[str] = []
    print(f"| corpus | set | encoder | questions | in the first {_FIRST} | in the first {_SHOWN} |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    for path in (each for each in files() if not corpora or each.stem in corpora):
        corpus, kind = path.stem, "test" if path.parent == FOLDER else "development"
        for encoder in ("full", "static"):
            answers = list(asked(path, encoder, model))
            ranks = [each.rank for each in answers]
            found = (sum(0 < rank <= most for rank in ranks) / len(ranks) for most in (_FIRST, _SHOWN))
            shares = " | ".join(f"{each:.2f}" for each in found)
            print(f"| {corpus} | {kind} | {encoder} | {len(ranks)} | {shares} |", flush=True)
            if encoder == "full":
                missed += [
                    f"{corpus}, {kind}: {a.question} ({a.answers[0]}: {a.rank or 'not found'})"
                    for a in answers
                    if not 0 < a.rank <= _FIRST
                ]
    print("\n".join(["", *missed]))
