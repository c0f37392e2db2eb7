"""The operations that search: by a query, several at once, documents like one, and words near one."""

from __future__ import annotations

from typing import Any

from ...artifacts.query.answer import Answer
from ...artifacts.query.context import SearchRequest
from ...pipeline.errors import NoctuleError
from ..problems import HttpProblem, problem_of
from .access import conditions_of, require_document
from .calls import Call, Reply, json_reply, server_timing
from .parameters import MultiSearchParameters, RelatedParameters, SearchParameters, SimilarParameters

# Of an answer over shards: those that it does without.
MISSING = "Missing-Shards"


def search(call: Call[SearchParameters]) -> Reply:
    """Answer a search."""
    answer = _answer(call, call.parameters)
    body = answer_body(answer, explain=call.parameters.explain)
    headers = server_timing(answer)
    if answer.missing:
        headers[MISSING] = ", ".join(answer.missing)
    return json_reply(body, headers, kept=not answer.warnings)


def multi_search(call: Call[MultiSearchParameters]) -> Reply:
    """Answer several searches; one that cannot be answered leaves the others."""
    results = [_result(call, parameters) for parameters in call.parameters.searches]
    return json_reply({"snapshot": call.served.snapshot, "results": results})


def similar(call: Call[SimilarParameters]) -> Reply:
    """Find documents like one."""
    given, served = call.parameters, call.served
    require_document(given.doc_id, served, call.client)
    filters = conditions_of(given.filter, given.collection, served, call.client)
    answer = served.searcher.similar(given.doc_id, given.top_n, filters=filters)
    return json_reply(answer_body(answer, explain=given.explain), server_timing(answer))


def related(call: Call[RelatedParameters]) -> Reply:
    """List words near a word; they are of all collections."""
    if call.client.collections is not None:
        raise HttpProblem("collection-forbidden", "Related words are of all collections.")
    given = call.parameters
    if not given.term.strip():
        raise HttpProblem("query-empty", "Give term a word.")
    found = [{"term": c.term, "similarity": c.similarity} for c in _related(call)]
    return json_reply({"term": given.term, "snapshot": call.served.snapshot, "related": found})


def answer_body(answer: Answer, *, explain: bool) -> dict[str, Any]:
    """Return an answer as the command line prints it, but for what differs each time: a tag stands for it."""
    body = answer.as_dict(explain=explain)
    body.pop("timings", None)
    return body


def _answer(call: Call[Any], given: SearchParameters) -> Answer:
    if not given.q.strip():
        raise HttpProblem("query-empty", "Give q some words.")
    filters = conditions_of(given.filter, given.collection, call.served, call.client)
    request = SearchRequest(
        given.q, given.top_n, given.mode, filters, given.hypothesis, excerpt_chars=given.excerpt_chars
    )
    answer = call.served.searcher.ask(request)
    call.metrics.tell_answer(answer)
    if answer.missing and not given.partial:
        detail = f"Shards that do not answer: {', '.join(answer.missing)}."
        raise HttpProblem("shards-missing", detail, headers={"Retry-After": "1"})
    return answer


def _result(call: Call[MultiSearchParameters], given: SearchParameters) -> dict[str, Any]:
    try:
        answer = _answer(call, given)
    except (HttpProblem, NoctuleError) as error:
        problem = error if isinstance(error, HttpProblem) else problem_of(error)
        return {"status": problem.status, "problem": problem.as_dict()}
    return {"status": 200, "answer": answer_body(answer, explain=given.explain)}


def _related(call: Call[RelatedParameters]) -> Any:
    return call.served.searcher.related(call.parameters.term, call.parameters.top_n)
