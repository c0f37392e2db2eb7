"""The settings of search: which lists are consulted, which stages run in which order, and their parameters.

None of it is part of a snapshot: the same snapshot can be searched with any of these.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ..patterns import PathPattern

LISTS = ("keyword", "semantic", "document", "code", "graph", "hypothesis")
DEFAULT_WEIGHTS = {
    "keyword": 0.32, "semantic": 0.2, "document": 0.48, "code": 0.0, "graph": 0.0, "hypothesis": 1.0,
}  # fmt: skip
DEFAULT_RERANKER = "cross-encoder/ms-marco-MiniLM-L-6-v2"

Share = Annotated[float, Field(ge=0, le=1)]
Understanding = Literal[
    "split", "classify", "identifiers", "compounds", "spelling", "acronyms", "synonyms", "concepts"
]
StageName = Literal[
    "rocchio",
    "support",
    "in_degree",
    "community",
    "recency",
    "glossary",
    "calibrate",
    "duplicate_hash",
    "duplicate_url",
    "duplicate_ngram",
    "duplicate_cosine",
    "rerank",
    "mmr",
    "per_document",
    "elbow",
    "aggregate",
    "parents",
]


class Table(BaseModel):
    """A table of settings: frozen, and with no keys but those it declares."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Classify(Table):
    """The factor by which each kind of query raises the weight of the list that serves it best."""

    factual: float = Field(default=1.5, gt=0, strict=False, description="on keyword")
    navigational: float = Field(default=1.5, gt=0, strict=False, description="on graph")
    exploratory: float = Field(default=1.3, gt=0, strict=False, description="on semantic")


class Spelling(Table):
    """Correction of words that the corpus does not contain to the nearest that it does."""

    max_edits: int = Field(default=2, ge=1, le=2)
    min_chars: int = Field(default=4, ge=2)
    weight: float = Field(default=0.8, gt=0, le=1, strict=False)


class Acronyms(Table):
    """Expansion of acronyms that the corpus defines, in both directions."""

    weight: float = Field(default=0.3, gt=0, le=1, strict=False)


class Synonyms(Table):
    """A glossary: a TOML file of ``term = ["synonym", …]``."""

    file: str = ""
    max_terms: int = Field(default=8, ge=1)
    weight: float = Field(default=0.3, gt=0, le=1, strict=False)


class Concepts(Table):
    """Expansion by words of the concept vocabulary whose vectors are near the query's."""

    terms: int = Field(default=3, ge=1)
    min_similarity: float = Field(default=0.5, ge=-1, le=1, strict=False)
    keyword_weight: float = Field(default=0.2, ge=0, le=1, strict=False)
    vector_weight: float = Field(default=0.2, ge=0, le=1, strict=False)


class Graph(Table):
    """Documents one or more links away from the best ones."""

    seeds: int = Field(default=10, ge=1)
    depth: int = Field(default=1, ge=1, le=3)
    max_links: int = Field(default=100, ge=1, description="links of one document that are followed")


class Balance(Table):
    """Score-aware weights: a list whose scores hardly differ is less informative, and counts less."""

    enabled: bool = False
    spread: float = Field(default=0.1, gt=0, strict=False)
    min_factor: float = Field(default=0.5, gt=0, le=1, strict=False)


class Rocchio(Table):
    """A boost for what is near the best documents, where most documents have no headings."""

    documents: int = Field(default=2, ge=1)
    share: float = Field(default=0.25, gt=0, le=1, strict=False)


class Support(Table):
    """A boost for documents with a second matching passage: this share of its score is added."""

    share: float = Field(default=0.2, gt=0, le=1, strict=False)


class InDegree(Table):
    """A boost for documents that many others link to: a factor of ``1 + share · ln(1 + links)``."""

    share: float = Field(default=0.05, gt=0, le=1, strict=False)


class CommunityBoost(Table):
    """A boost for documents in the communities of the best ones."""

    seeds: int = Field(default=3, ge=1)
    factor: float = Field(default=1.1, ge=1, strict=False)


class Recency(Table):
    """Factors for documents changed within so many days."""

    days: tuple[int, ...] = Field(default=(7, 30), strict=False)
    factors: tuple[Annotated[float, Field(ge=1)], ...] = Field(default=(1.2, 1.1), strict=False)

    @field_validator("days")
    @classmethod
    def _days(cls, given: tuple[int, ...]) -> tuple[int, ...]:
        if list(given) != sorted(set(given)) or any(day < 0 for day in given):
            raise ValueError("days must be ascending and not negative")
        return given

    @model_validator(mode="after")
    def _one_factor_each(self) -> Recency:
        if len(self.days) != len(self.factors):
            raise ValueError("give as many factors as days")
        return self


class GlossaryPages(Table):
    """Factors for pages that define a term: if the query is in the title, in a heading, or for that alone."""

    paths: tuple[PathPattern, ...] = Field(default=("**/glossary/**", "**/glossary.*"), strict=False)
    page: float = Field(default=1.10, ge=1, strict=False)
    title: float = Field(default=1.08, ge=1, strict=False)
    section: float = Field(default=1.05, ge=1, strict=False)


class Calibrate(Table):
    """Confidence: a sigmoid over the share of the maximal score, or a file of fitted parameters.

    The defaults are fitted to questions that six collections answer and cannot answer
    (``python -m bench relevance --part confidence``).
    """

    threshold: float = Field(default=0.4, ge=0, le=1, strict=False)
    steepness: float = Field(default=20.0, gt=0, strict=False)
    min_confidence: float = Field(default=0.0, ge=0, le=1, strict=False)
    file: str = ""


class Duplicates(Table):
    """The similarity from which on a passage counts as a duplicate of a better one."""

    ngram: float = Field(default=0.7, gt=0, le=1, strict=False)
    cosine: float = Field(default=0.85, gt=0, le=1, strict=False)


class Rerank(Table):
    """Reranking of the best candidates by a cross-encoder."""

    model: str = Field(default=DEFAULT_RERANKER, min_length=1)
    depth: int = Field(default=10, ge=1, le=1000)
    # How much the previous order counts at ranks 1 to 3, 4 to 10, and beyond.
    blend: tuple[Share, Share, Share] = Field(default=(0.75, 0.6, 0.4), strict=False)


class Mmr(Table):
    """Maximal marginal relevance: ``relevance_weight``, the formula's lambda, of 1 is relevance alone."""

    relevance_weight: float = Field(default=0.7, ge=0, le=1, strict=False)


class Elbow(Table):
    """The answer ends where a score falls below this share of the previous one."""

    ratio: float = Field(default=0.5, gt=0, le=1, strict=False)
    max_results: int = Field(default=20, ge=1)


class Aggregate(Table):
    """Sections of which this share was found, and at least so many, are returned as their parent."""

    share: float = Field(default=0.5, gt=0, le=1, strict=False)
    matches: int = Field(default=2, ge=2)


class Parents(Table):
    """Hits come with the section around them, if that has at most this many bytes."""

    max_bytes: int = Field(default=2000, ge=100)


class Caches(Table):
    """How many answers are cached and for how long, and how many query vectors; 0: none."""

    answers: int = Field(default=1000, ge=0)
    ttl_seconds: float = Field(default=3600.0, gt=0, strict=False)
    vectors: int = Field(default=512, ge=0)


class Search(Table):
    """How a query is answered."""

    encoder: Literal["full", "static"] = "full"
    candidates: int = Field(default=100, ge=1)
    oversample: int = Field(default=5, ge=1, le=100)
    understand: tuple[Understanding, ...] = Field(default=("identifiers", "spelling"), strict=False)
    fuzziness: Literal["off", "auto"] = "off"
    weights: dict[str, float] = Field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    fusion: Literal["rrf", "convex"] = "convex"
    rrf_k: int = Field(default=60, ge=0)
    stages: tuple[StageName, ...] = Field(
        default=(
            "rocchio", "support", "in_degree",
            "duplicate_hash", "duplicate_url", "calibrate", "per_document",
        ),
        strict=False,
    )  # fmt: skip
    max_per_document: int = Field(default=2, ge=0, description="0: no limit")
    recency_bias: float = Field(default=1.0, ge=0, strict=False, description="0: off")
    excerpt_chars: int = Field(default=280, ge=40)
    classify: Classify = Classify()
    spelling: Spelling = Spelling()
    acronyms: Acronyms = Acronyms()
    synonyms: Synonyms = Synonyms()
    concepts: Concepts = Concepts()
    graph: Graph = Graph()
    balance: Balance = Balance()
    rocchio: Rocchio = Rocchio()
    support: Support = Support()
    in_degree: InDegree = InDegree()
    community: CommunityBoost = CommunityBoost()
    recency: Recency = Recency()
    glossary: GlossaryPages = GlossaryPages()
    calibrate: Calibrate = Calibrate()
    duplicates: Duplicates = Duplicates()
    rerank: Rerank = Rerank()
    mmr: Mmr = Mmr()
    elbow: Elbow = Elbow()
    aggregate: Aggregate = Aggregate()
    parents: Parents = Parents()
    caches: Caches = Caches()

    @field_validator("understand", "stages")
    @classmethod
    def _once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({name for name in given if given.count(name) > 1})
        if twice:
            raise ValueError(f"named twice: {', '.join(twice)}")
        return given

    @field_validator("weights", mode="before")
    @classmethod
    def _known_lists(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        unknown = sorted(set(map(str, given)) - set(LISTS))
        if unknown:
            raise ValueError(f"unknown list {', '.join(unknown)}; there are {', '.join(LISTS)}")
        bad = sorted(name for name, weight in given.items() if not _is_weight(weight))
        if bad:
            raise ValueError(f"a weight is a number of at least 0: {', '.join(bad)}")
        return DEFAULT_WEIGHTS | {name: float(weight) for name, weight in given.items()}


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
