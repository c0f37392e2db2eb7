"""Boosts: factors on the scores of candidates for what is known about their documents.

Each function returns the candidates in their new order; nothing enters that was not found, and every factor
is named in the candidate's explanation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date

import numpy as np
import numpy.typing as npt
from pathspec import PathSpec

from ....pipeline.lexical.analyzer import query_terms
from ....pipeline.settings.search import GlossaryPages, Recency
from ..index.corpus import Vectors
from ..model import Candidate
from .fuse import in_order, values_of


def boost_alike(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    centroids: Vectors,
    seeds: int,
    share: float,
) -> list[Candidate]:
    """Add to each score ``share`` times the cosine of the candidate's document and the ``seeds`` best ones.

    Rocchio 1971, with the best documents taken for relevant: the question's vector is moved toward theirs. As
    the score is a sum of cosines, among others, that adds one more.
    """
    documents = values_of(document_of, candidates)
    center = centroids[list(dict.fromkeys(documents))[:seeds]].mean(axis=0)
    cosines = np.einsum("ij,j->i", centroids[documents], center / (np.linalg.norm(center) or 1.0)).tolist()

    def boosted(candidate: Candidate, cosine: float) -> Candidate:
        if candidate.score <= 0 or cosine <= 0:
            return candidate
        because = f"cosine {cosine:.2f} with the best documents"
        return candidate.times("rocchio", 1 + share * cosine / candidate.score, because)

    return in_order(map(boosted, candidates, cosines))


def support_documents(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    passages: npt.NDArray[np.int32],
    share: float,
) -> list[Candidate]:
    """Multiply the best passage of each document by ``1 + share · second / best``.

    The others keep their score.

    Callan 1994 and many since: the best passage finds a document, the next ones confirm it. A document that
    has but one passage (``passages`` counts them) needs no second, or short documents would lose to long
    ones.
    """
    best: dict[int, int] = {}
    second: dict[int, float] = {}
    documents = values_of(document_of, candidates)
    for at, (candidate, document) in enumerate(zip(candidates, documents, strict=True)):
        if document in best:
            second.setdefault(document, candidate.score)
        else:
            best[document] = at
    supported = list(candidates)
    for document, at in best.items():
        first = candidates[at]
        alone = passages[document] == 1
        confirmed = first.score if alone else second.get(document, 0.0)
        if first.score > 0 and confirmed > 0:
            because = "it is its whole document" if alone else "another passage of its document was found"
            supported[at] = first.times("support", 1 + share * confirmed / first.score, because)
    return in_order(supported)


def boost_linked(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    links_in: npt.NDArray[np.int32],
    share: float,
) -> list[Candidate]:
    """Multiply each candidate by ``1 + share · ln(1 + n)``, where ``n`` documents link to its document.

    A prior on the query-independent worth of a page, as in Kraaij, Westerveld, Hiemstra 2002: links are
    votes, and the tenth tells less than the first.
    """

    def linked(candidate: Candidate, links: int) -> Candidate:
        if links <= 0:
            return candidate
        because = f"{links} documents link here" if links > 1 else "1 document links here"
        return candidate.times("in_degree", 1 + share * math.log1p(links), because)

    counts = links_in[values_of(document_of, candidates)].tolist()
    return in_order(map(linked, candidates, counts))


def boost_communities(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    community_of: npt.NDArray[np.int32],
    seeds: int,
    factor: float,
) -> list[Candidate]:
    """Multiply candidates whose document shares a community with one of the ``seeds`` best documents.

    The seeds themselves are not boosted; ``community_of`` is -1 for a document without a community.
    """
    documents = values_of(document_of, candidates)
    best = list(dict.fromkeys(documents))[:seeds]
    communities = {int(community_of[document]) for document in best} - {-1}
    return in_order(
        candidate.times("community", factor, f"community {community_of[document]}")
        if document not in best and int(community_of[document]) in communities
        else candidate
        for candidate, document in zip(candidates, documents, strict=True)
    )


def boost_recent(
    candidates: Sequence[Candidate],
    document_of: npt.NDArray[np.int32],
    modified: npt.NDArray[np.datetime64],
    today: date,
    tiers: Recency,
    bias: float,
) -> list[Candidate]:
    """Multiply each candidate by the factor of the first tier that is not younger than its document.

    ``bias`` scales what a factor adds: 1 takes the factors as they stand, 0 none. A document without a date,
    or with one in the future, belongs to no tier.
    """
    now = np.datetime64(today, "D")

    def recent(candidate: Candidate) -> Candidate:
        day = modified[document_of[candidate.row]]
        if np.isnat(day):
            return candidate
        factor = 1 + bias * (tier_factor(int((now - day).astype(int)), tiers) - 1)
        return candidate if factor == 1 else candidate.times("recency", factor, f"changed {day}")

    return in_order(map(recent, candidates))


def tier_factor(age_days: int, tiers: Recency) -> float:
    """Return the factor for an age in days: 1 beyond the last tier, and for a day in the future."""
    if age_days < 0:
        return 1.0
    fitting = (factor for days, factor in zip(tiers.days, tiers.factors, strict=True) if age_days <= days)
    return next(fitting, 1.0)


def boost_glossary_pages(
    candidates: Sequence[Candidate],
    place: Callable[[Candidate], tuple[str, str, str]],
    terms: Sequence[str],
    languages: Sequence[str],
    settings: GlossaryPages,
) -> list[Candidate]:
    """Multiply candidates on pages that define a term, more if the query stands in their title or a heading.

    ``place`` gives a candidate's path, title and breadcrumb; ``terms`` are the query's.
    """
    pages = PathSpec.from_lines("gitignore", settings.paths)
    wanted = set(terms)

    def boosted(candidate: Candidate) -> Candidate:
        path, title, breadcrumb = place(candidate)
        if not pages.match_file(path.lower()):
            return candidate
        found = candidate.times("glossary", settings.page, "it defines a term")
        if wanted and wanted <= set(query_terms(title, languages)):
            found = found.times("glossary title", settings.title)
        elif wanted and wanted <= set(query_terms(breadcrumb, languages)):
            found = found.times("glossary section", settings.section)
        return found

    return in_order(map(boosted, candidates))
