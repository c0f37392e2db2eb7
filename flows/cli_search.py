"""The command ``search``: hits for a person to read, or as JSON."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows import output
from flows.flags import Flags, with_flags

if TYPE_CHECKING:
    from rich.text import Text

    from artifacts.query import Answer, Hit

Mode = Literal["hybrid", "keyword", "semantic", "code"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(with_flags(search))


def search(
    flags: Flags,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Words, a question, or code.", show_default=False)
    ],
    top_n: Annotated[int, typer.Option("--top-n", "-n", min=1, max=1000, help="How many hits.")] = 10,
    mode: Annotated[Mode, typer.Option("--mode", help="Which lists are asked.")] = "hybrid",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show where each score comes from, and where the time went.")
    ] = False,
) -> None:
    """Search the current snapshot.

    Examples: noctule search "how do I cancel a request" ; noctule search AbortController --mode code --explain
    """
    from artifacts import query as searching
    from artifacts.store import Store
    from flows.request import read_settings

    settings = read_settings(flags.config)
    with searching.open(Store(flags.store), settings) as searcher, warnings.catch_warnings():
        # The answer carries them too, and they are printed below.
        warnings.simplefilter("ignore", RuntimeWarning)
        answer = searcher.search(query, top_n=top_n, mode=mode)
    if flags.as_json:
        output.emit(answer.as_dict())
        return
    for warning in answer.warnings:
        output.complain(f"warning: {output.plain(warning)}")
    _print(answer, explain)


def _print(answer: Answer, explain: bool) -> None:
    if not answer.hits:
        output.say("Nothing found.")
    for number, hit in enumerate(answer.hits, start=1):
        _print_hit(number, hit, explain)
    if explain:
        spent = ", ".join(f"{stage} {seconds * 1000:.1f} ms" for stage, seconds in answer.timings.items())
        output.say(f"time: {spent}")


def _print_hit(number: int, hit: Hit, explain: bool) -> None:
    from rich.text import Text

    head = Text.assemble(
        (f"{number:>2}. ", "dim"), (output.plain(hit.title), "bold"), (f"  {hit.score:.4f}", "dim")
    )
    lines = [head]
    if hit.breadcrumb and hit.breadcrumb != hit.title:
        lines.append(Text(f"    {output.plain(hit.breadcrumb)}", style="cyan"))
    lines.append(Text(f"    {output.plain(hit.url)}", style="blue"))
    lines.append(_excerpt(hit))
    if explain:
        lines.extend(Text(f"    {line}", style="dim") for line in _reasons(hit))
    for line in lines:
        output.console().print(line)
    output.console().print()


def _excerpt(hit: Hit) -> Text:
    from rich.text import Text

    # A control character or a line end becomes a space, so that the highlights' positions stay right.
    flat = "".join(" " if not character.isprintable() else character for character in hit.excerpt)
    text = Text(flat)
    for start, end in hit.highlights:
        text.stylize("bold yellow", start, end)
    return Text("    ").append_text(text)


def _reasons(hit: Hit) -> list[str]:
    lists = [
        f"{each.list}: rank {each.rank}, score {each.score:.4f}, weight {each.weight:g}, gives {each.share:.6f}"
        for each in hit.why.lists
    ]
    factors = [f"{each.stage}: times {each.factor:g}" for each in hit.why.multipliers]
    return [*lists, *factors]
