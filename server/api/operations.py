"""The operations of the service, as one table: routes, the OpenAPI document and the tests follow from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import bodies, events, reading, searching
from .calls import JSON, TEXT, Call, Reply
from .parameters import (
    DocumentListParameters,
    DocumentParameters,
    MultiSearchParameters,
    Parameters,
    RelatedParameters,
    SearchParameters,
    SimilarParameters,
)

_SEARCH_PROBLEMS = (
    "query-empty", "query-too-long", "query-invalid", "filter-unknown", "filter-invalid",
    "collection-forbidden", "collection-unknown", "shards-missing",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: where it is, what it takes, what answers it, and the scope that a token needs for it.

    ``problems`` are those that it may answer with besides those of every operation; ``takes`` are the
    types under which a body of JSON may come.
    """

    method: str
    path: str
    name: str
    summary: str
    parameters: type[Parameters]
    answer: Callable[[Call[Any]], Reply]
    body: Any
    scope: str = "search"
    problems: tuple[str, ...] = ()
    forms: tuple[str, ...] = (JSON,)
    takes: tuple[str, ...] = (JSON,)


OPERATIONS = (
    Operation("GET", "/v1/search", "search", "Search the current snapshot.", SearchParameters,
              searching.search, bodies.AnswerBody, problems=_SEARCH_PROBLEMS),
    Operation("POST", "/v1/search", "searchByBody", "Search, with a body in place of a query.",
              SearchParameters, searching.search, bodies.AnswerBody, problems=_SEARCH_PROBLEMS),
    Operation("POST", "/v1/multi-search", "multiSearch", "Several searches, each answered by itself.",
              MultiSearchParameters, searching.multi_search, bodies.MultiSearchBody),
    Operation("GET", "/v1/similar", "similar", "Documents like one.", SimilarParameters,
              searching.similar, bodies.AnswerBody,
              problems=("document-unknown", *_SEARCH_PROBLEMS[2:])),
    Operation("GET", "/v1/related", "related", "Words that mean almost the same.", RelatedParameters,
              searching.related, bodies.RelatedBody, problems=("query-empty", "collection-forbidden")),
    Operation("GET", "/v1/documents", "documents", "The documents whose names begin so.",
              DocumentListParameters, reading.documents, bodies.DocumentListBody, "documents"),
    Operation("GET", "/v1/documents/{doc_id}", "document", "A document, a section, or a range of characters.",
              DocumentParameters, reading.document, bodies.DocumentBody, "documents",
              ("document-unknown", "section-unknown", "not-acceptable"), reading.FORMS),
    Operation("GET", "/v1/collections", "collections", "The collections.", Parameters,
              reading.collections, bodies.CollectionsBody),
    Operation("GET", "/v1/snapshot", "snapshot", "What is served.", Parameters,
              reading.snapshot, bodies.SnapshotBody),
    Operation("POST", events.PATH, "events", "Record hits that were shown and opened, if it is on.",
              events.EventParameters, events.record, bodies.RecordedBody, "events",
              ("events-off", "events-full"),
              # Browsers send a last word from a page to another host only as text.
              takes=(JSON, TEXT)),
)  # fmt: skip
# What any operation may answer with.
COMMON_PROBLEMS = (
    "parameter-unknown", "parameter-missing", "parameter-repeated", "parameter-invalid", "token-missing",
    "token-wrong", "scope-missing", "origin-forbidden", "snapshot-gone", "body-too-large", "host-unknown",
    "rate-exceeded", "internal", "not-ready", "overloaded", "unavailable", "deadline-exceeded",
)  # fmt: skip
# What one with a body may answer with besides.
BODY_PROBLEMS = ("body-invalid", "body-late", "media-type-unknown")
