"""The gate's verdict in lines for a person: figures of each set, then each query that fell, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...pipeline.printable import counted

if TYPE_CHECKING:
    from ...artifacts.judged.explain import Explained
    from .gate import FallenQuery, SetVerdict, Verdict

_MOST_NAMED = 10
_MOST_TERMS = 6


def lines(verdict: Verdict) -> tuple[str, ...]:
    """Return the whole verdict, set by set."""
    notes = (f"note: {note}" for note in verdict.notes)
    return (*(line for each in verdict.sets for line in _of_set(each, verdict)), *notes)


def figures(verdict: Verdict) -> tuple[str, ...]:
    """Return a line for each set."""
    return tuple(_figures(each, verdict.measure) for each in verdict.sets)


def _of_set(each: SetVerdict, verdict: Verdict) -> Iterator[str]:
    yield _figures(each, verdict.measure)
    for what, names in (
        ("judged documents deleted since the current snapshot, left out", each.deleted),
        ("judged documents in no snapshot, left out", each.missing),
        ("queries named by the judgements alone", each.unknown_queries),
    ):
        if names:
            more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
            yield f"  {len(names):,} {what}: {', '.join(names[:_MOST_NAMED])}{more}"
    if each.reason:
        yield f"  refused: {each.reason}"
    for fallen in each.fell:
        yield from _fallen(fallen, verdict.measure)


def _figures(each: SetVerdict, measure: str) -> str:
    if each.before is None:
        return f"{each.judged}: {measure} {each.after:.4f} over {counted(each.queries, 'query')}"
    queries = counted(each.queries, "query")
    return (
        f"{each.judged}: {measure} {each.before:.4f} to {each.after:.4f} over {queries}, "
        f"difference {each.after - each.before:+.4f}, "
        f"95 % interval {each.low:+.4f} to {each.high:+.4f}, p {each.p:.4f}"
    )


def _fallen(fallen: FallenQuery, measure: str) -> Iterator[str]:
    change = fallen.change
    yield (
        f"  {change.query_id} {change.text!r}: {measure} {change.before:.3f} to {change.after:.3f}, "
        f"{fallen.after.doc_id} rank {_rank(fallen.before)} to {_rank(fallen.after)}"
    )
    for when, explained in (("before", fallen.before), ("after", fallen.after)):
        yield f"    {when}: {'; '.join(_parts(explained))}"


def _parts(explained: Explained) -> Iterator[str]:
    if explained.lists:
        yield f"score {explained.score:.4f}"
        yield ", ".join(f"{each.list} {_place(each.rank)} gave {each.share:.4f}" for each in explained.lists)
    else:
        yield "not among the candidates"
    if explained.factors:
        yield ", ".join(f"{name} × {factor:.3f}" for name, factor in explained.factors.items())
    words = [
        f"{each.term} {each.score:.2f} ({', '.join(each.fields)})" for each in explained.terms[:_MOST_TERMS]
    ]
    yield f"words {', '.join(words)}" if words else "none of the words"


def _place(rank: int) -> str:
    # Convex fusion asks every list for the score of what only another one found.
    return f"rank {rank}" if rank else "(not found by it)"


def _rank(explained: Explained) -> str:
    return str(explained.rank) if explained.rank else "-"
