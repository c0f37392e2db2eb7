"""The bodies of answers, as the OpenAPI document describes them; tests hold real answers against them."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict


class HitBody(TypedDict):
    """A passage, or a section, that answers."""

    doc_id: str
    path: str
    title: str
    breadcrumb: str
    url: str
    score: float
    confidence: float | None
    excerpt: str
    excerpt_start: int
    highlights: list[tuple[int, int]]
    section_id: str
    passage_id: str
    passages: list[str]
    text: str
    why: NotRequired[dict[str, Any]]


class AnswerBody(TypedDict):
    """The hits of a search, best first; ``explain`` adds the keys from ``understood`` on.

    ``missing`` names the shards that a router got no answer from, if there are any.
    """

    query: str
    snapshot: str
    sure: bool
    suggestions: list[str]
    hits: list[HitBody]
    warnings: list[str]
    missing: NotRequired[list[str]]
    understood: NotRequired[list[dict[str, Any]]]
    weights: NotRequired[dict[str, float]]
    counts: NotRequired[dict[str, int]]


class FieldProblemBody(TypedDict):
    """What is wrong with one parameter."""

    parameter: str
    detail: str
    nearest: NotRequired[list[str]]


class ProblemBody(TypedDict):
    """Problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: NotRequired[str]
    snapshot: NotRequired[str]
    nearest: NotRequired[list[str]]
    errors: NotRequired[list[FieldProblemBody]]


class SearchResultBody(TypedDict):
    """One search of several: its answer, or its problem."""

    status: int
    answer: NotRequired[AnswerBody]
    problem: NotRequired[ProblemBody]


class MultiSearchBody(TypedDict):
    """The results of several searches, in the order in which they were asked."""

    snapshot: str
    results: list[SearchResultBody]


class RelatedTermBody(TypedDict):
    """A word, and how near it is (a cosine)."""

    term: str
    similarity: float


class RelatedBody(TypedDict):
    """Words near a word, nearest first."""

    term: str
    snapshot: str
    related: list[RelatedTermBody]


class SectionBody(TypedDict):
    """A section of a document."""

    section: str
    title: str
    depth: int


class DocumentBody(TypedDict):
    """A document, or a part of it, as markdown; ``next`` is where the rest begins."""

    snapshot: str
    doc_id: str
    collection: str
    path: str
    title: str
    url: str
    description: str
    tags: list[str]
    language: str
    modified: str
    sections: list[SectionBody]
    section: str
    text: str
    start: int
    next: int | None
    total_chars: int


class DocumentEntryBody(TypedDict):
    """A document in a list."""

    doc_id: str
    title: str
    url: str


class DocumentListBody(TypedDict):
    """Documents in the order of their names; ``next`` is what ``after`` must be for the rest."""

    snapshot: str
    documents: list[DocumentEntryBody]
    next: str | None
    total: int


class CollectionBody(TypedDict):
    """A collection."""

    collection: str
    documents: int


class CollectionsBody(TypedDict):
    """The collections that the client may see."""

    snapshot: str
    collections: list[CollectionBody]


class SnapshotBody(TypedDict):
    """What is served."""

    snapshot: str
    generation: int
    format_version: int
    counts: dict[str, int]
    languages: list[str]
    model: dict[str, Any]
    tools: dict[str, str]


class RecordedBody(TypedDict):
    """How many events were recorded."""

    recorded: int


def schema_of(body: Any, template: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON schema of a body, and those that it refers to by name."""
    schema = TypeAdapter(body).json_schema(ref_template=template, mode="serialization")
    return schema, schema.pop("$defs", {})
