"""Judged queries from clicks, in the layout that ``evaluate``, ``tune`` and the relevance gate read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....artifacts.disk import durable
from ....pipeline.errors import SourceError
from ....pipeline.identity import sha256_hex
from .click_model import PairRelevance
from .logged_searches import LoggedSearch, spelling_of

BEST_GRADE = 3
_UNWRITABLE = frozenset("\t\r\n")


@dataclass(frozen=True, slots=True)
class LeastCounts:
    """What makes a query one that is judged: so many sessions, and so many of them that opened a document."""

    sessions: int = 5
    clicks: int = 2


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, the number of its sessions, and the grade of each document that was shown, by its id."""

    query_id: str
    text: str
    sessions: int
    grades: Mapping[str, int]


def judged_queries(
    queries: Mapping[str, Sequence[LoggedSearch]],
    pairs: Sequence[PairRelevance],
    documents: Mapping[str, object],
    limits: LeastCounts,
) -> tuple[JudgedQuery, ...]:
    """Return the queries that enough sessions asked, and opened a document of; by id.

    The document of the greatest relevance has the best grade, the others the share of it that they have of
    that relevance. What was opened too seldom to say is not judged, and what never was has the grade 0.
    """
    own: dict[str, list[PairRelevance]] = defaultdict(list)
    for pair in pairs:
        if pair.hit in documents and not _UNWRITABLE & set(pair.hit):
            own[pair.query].append(pair)
    found = []
    for query, searches in queries.items():
        grades = _grades(own[query], limits.clicks)
        if len(searches) >= limits.sessions and any(grades.values()):
            query_id = f"q-{sha256_hex(query.encode())[:12]}"
            found.append(JudgedQuery(query_id, spelling_of(searches), len(searches), grades))
    return tuple(sorted(found, key=lambda each: each.query_id))


def _grades(pairs: Sequence[PairRelevance], least: int) -> dict[str, int]:
    sure = [each for each in pairs if each.clicks >= least]
    best = max((each.relevance for each in sure), default=0.0)
    grades = {each.hit: round(BEST_GRADE * each.relevance / best) for each in sure}
    grades |= {each.hit: 0 for each in pairs if not each.clicks}
    return dict(sorted(grades.items()))


def write_judged(judged: Sequence[JudgedQuery], folder: Path, limits: LeastCounts) -> None:
    """Write the folder; raise ``SourceError`` if there is nothing to write, and ``WriteFailed``."""
    if not judged:
        raise SourceError(
            f"no query was asked in {limits.sessions} sessions and led to a page in {limits.clicks}",
            where="the recorded events",
            hint="Record for longer, with serve.events.queries, or lower --min-sessions.",
        )
    durable.make_directory(folder)
    lines = [json.dumps({"_id": each.query_id, "text": each.text}, ensure_ascii=False) for each in judged]
    rows = [f"{each.query_id}\t{doc_id}\t{grade}" for each in judged for doc_id, grade in each.grades.items()]
    durable.replace_file(folder / "queries.jsonl", "".join(f"{line}\n" for line in lines).encode())
    rows.insert(0, "query-id\tcorpus-id\tscore")
    durable.replace_file(folder / "qrels.tsv", "".join(f"{row}\n" for row in rows).encode())
