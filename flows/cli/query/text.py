"""An answer as text for a person: hits, the reasons for their scores, and what each stage did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from ....artifacts.query.answer import Answer, Hit
from ....artifacts.query.federate import Federated
from ....artifacts.query.model import Query, Step
from ....pipeline.printable import printable
from .. import output

_NEW_LINE = "    "


def print_answer(answer: Answer, *, explain: bool) -> None:
    """Print the hits of an answer, and with ``explain`` how it came about."""
    for warning in answer.warnings:
        output.complain(f"warning: {warning}")
    if explain:
        for line in _understood(answer):
            output.console().print(Text(printable(line), style="dim"))
        output.console().print()
    if not answer.hits:
        output.say("Nothing found.")
    elif not answer.is_sure:
        output.say("Nothing here answers this well. The nearest:\n")
    for suggestion in answer.suggestions:
        output.say(f"Did you mean: {printable(suggestion)}\n")
    for number, hit in enumerate(answer.hits, start=1):
        print_hit(number, hit, hit.score, explain=explain)
    if explain:
        output.console().print(_steps(answer.steps))


def print_federated(found: Federated) -> None:
    """Print the hits of several namespaces, each with the name of its own."""
    for name, answer in found.answers.items():
        for warning in answer.warnings:
            output.complain(f"warning: {name}: {warning}")
    if not found.hits:
        output.say("Nothing found.")
    for number, each in enumerate(found.hits, start=1):
        print_hit(number, each.hit, each.score, explain=False, namespace=each.namespace)


def print_hit(number: int, hit: Hit, score: float, *, explain: bool, namespace: str = "") -> None:
    """Print one hit: title, place, address, the window of text that shows why it was found."""
    head = Text.assemble(
        (f"{number:>2}. ", "dim"),
        (f"[{printable(namespace)}] " if namespace else "", "magenta"),
        (printable(hit.title), "bold"),
        (f"  {score:.4f}", "dim"),
        (f"  confidence {hit.confidence:.2f}" if explain and hit.confidence is not None else "", "dim"),
    )
    lines = [head]
    if hit.breadcrumb and hit.breadcrumb != hit.title:
        lines.append(Text(_NEW_LINE + printable(hit.breadcrumb), style="cyan"))
    lines.append(Text(_NEW_LINE + printable(hit.url), style="blue"))
    lines.append(_excerpt(hit))
    if explain:
        lines.extend(Text(_NEW_LINE + printable(line), style="dim") for line in _reasons(hit))
    for line in lines:
        output.console().print(line)
    output.console().print()


def _excerpt(hit: Hit) -> Text:
    # A control character or a line end becomes a space, so that the highlights' positions stay right.
    flat = "".join(" " if not character.isprintable() else character for character in hit.excerpt)
    text = Text(flat)
    for start, end in hit.highlights:
        text.stylize("bold yellow", start, end)
    return Text(_NEW_LINE).append_text(text)


def _reasons(hit: Hit) -> Iterator[str]:
    for each in hit.why.lists:
        name = each.list if each.question == 0 else f"{each.list} (question {each.question + 1})"
        rank = f"rank {each.rank}" if each.rank else "not found by it"
        yield (f"{name}: {rank}, score {each.score:.4f}, weight {each.weight:g}, gives {each.share:.6f}")
    for factor in hit.why.multipliers:
        yield f"{factor.stage}: times {factor.factor:.4g}" + (
            f" ({factor.because})" if factor.because else ""
        )
    yield from hit.why.notes
    moves = ", ".join(f"{move.stage} {move.before} → {move.after}" for move in hit.why.moves)
    if moves:
        yield f"rank: {moves}"


def _understood(answer: Answer) -> Iterator[str]:
    for query in answer.understood:
        yield from _query(query)
    yield "lists: " + (", ".join(f"{name} × {weight:g}" for name, weight in answer.weights.items()) or "none")


def _query(query: Query) -> Iterator[str]:
    kind = f" ({query.kind})" if query.kind else ""
    yield f"asked{kind}: {query.text}"
    yield f"terms: {', '.join(query.terms) or 'none'}"
    for expansion in query.expansions:
        yield f"also: {expansion.text} × {expansion.weight:g}, {expansion.because}"
    yield from query.notes


def _steps(steps: Sequence[Step]) -> Table:
    table = Table(box=None, header_style="dim", style="dim", pad_edge=False)
    table.add_column("stage")
    table.add_column("passages", justify="right")
    table.add_column("ms", justify="right")
    for step in steps:
        count = str(step.count) if step.count or step.stage not in ("understand", "filter") else ""
        table.add_row(step.stage, count, f"{step.seconds * 1000:.1f}")
    return table
