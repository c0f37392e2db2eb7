"""Pages that define a term count more, and more still where the query stands in their title or a heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pathspec import PathSpec

from ....pipeline.lexical.analyzer import query_terms
from ....pipeline.settings.search import GlossaryPages
from ..model import Candidate
from .fuse import in_order


def boost_glossary_pages(
    candidates: Sequence[Candidate],
    place: Callable[[Candidate], tuple[str, str, str]],
    terms: Sequence[str],
    languages: Sequence[str],
    settings: GlossaryPages,
) -> list[Candidate]:
    """Candidates of glossary pages times the factors that apply.

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
