"""The commands ``search``, ``similar`` and ``related``, which print hits as text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ....pipeline.errors import QueryError
from .. import output
from ..flags import Flags, RequireSigned, store_folder

if TYPE_CHECKING:
    from ....artifacts.query import Answer, Searcher
    from ....artifacts.query.context import SearchRequest

Mode = Annotated[
    Literal["hybrid", "keyword", "semantic", "code"],
    typer.Option("--mode", help="Which lists to search."),
]
TopN = Annotated[int, typer.Option("--top-n", "-n", min=1, max=1000, help="How many hits.")]
EncoderName = Literal["full", "static"]
Encoder = Annotated[
    EncoderName | None,
    typer.Option(
        "--encoder",
        help="What encodes the query: the model that encoded the passages (full), "
        "or the snapshot's term vectors (static).",
        show_default="full, or what the settings say",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show where each score comes from, and what each stage did.")
]


@dataclass(frozen=True, slots=True)
class RequestFlags:
    """What is searched for, and among which documents."""

    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, a question, or code.")]
    top_n: TopN = 10
    mode: Mode = "hybrid"
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", "-f", metavar="KIND:VALUE", help="Only documents that match; may be repeated."
        ),
    ] = None
    hypothesis: Annotated[
        str,
        typer.Option(
            "--hypothesis", metavar="TEXT", help="A hypothetical answer to search for as well (HyDE)."
        ),
    ] = ""
    where: Annotated[
        str,
        typer.Option("--where", metavar="SQL",
                     help="Only documents that meet this SQL condition on the table documents."),
    ] = ""  # fmt: skip

    def request(self) -> SearchRequest:
        """Return the request; raise ``QueryError`` for a filter that is none."""
        from ....artifacts.query.context import SearchRequest
        from ....artifacts.query.retrieval.filters import parse_filter

        filters = tuple(map(parse_filter, self.filters or ()))
        return SearchRequest(
            self.query, self.top_n, self.mode, filters, self.hypothesis, where=self.where.strip()
        )


@dataclass(frozen=True, slots=True)
class SearcherFlags:
    """How a store is opened to be searched."""

    encoder: Encoder = None
    require_signed: RequireSigned = None


@dataclass(frozen=True, slots=True)
class AgentFlags:
    """Whether the answer is text for an agent, and how long that may be."""

    for_agent: Annotated[
        bool,
        typer.Option("--for-agent", help="Print the text that the tool search_docs of noctule mcp returns."),
    ] = False
    max_tokens: Annotated[
        int,
        typer.Option("--max-tokens", metavar="N", min=200, max=8000,
                     help="With --for-agent: the maximum length."),
    ] = 2000  # fmt: skip


def search(
    flags: Flags,
    asked: RequestFlags,
    opening: SearcherFlags,
    agent: AgentFlags,
    namespaces: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace",
            metavar="NAME=DIR",
            help="Search this store under this name; repeat it to fuse several.",
        ),
    ] = None,
    explain: Explain = False,
) -> None:
    """Search the current snapshot.

    "a phrase" must occur, -word must not, title:word must occur in that field, begin* completes a word.

    Filters: collection, path (a glob), tag, author, language, after, before, community, doc, front.KEY.
    --where "modified > date '2026-01-01' and list_contains(tags, 'api')": any SQL condition on documents.

    Examples: noctule search "how do I cancel a request" --explain ; noctule search 'fetch -react' -f tag:api
    """
    request = asked.request()
    if agent.for_agent and (namespaces or explain or flags.as_json):
        what = "--for-agent cannot be combined with --namespace, --explain or --json"
        raise QueryError(what, where="noctule search", hint="Leave one of them out.")
    if namespaces:
        _search_namespaces(flags, request, namespaces, opening)
        return
    with _searcher(flags, flags.store, opening) as searcher:
        if agent.for_agent:
            from ....server.agents.tools import Tools

            output.say(Tools().show(searcher, request, agent.max_tokens))
            return
        answer = searcher.ask(request)
    _print_answer(flags, answer, explain)


def similar(
    flags: Flags,
    document: Annotated[str, typer.Argument(metavar="DOC", help="A document, as collection:path.")],
    top_n: TopN = 10,
    explain: Explain = False,
) -> None:
    """Find documents similar to one.

    Example: noctule similar docs:guide/install.md
    """
    with _searcher(flags, flags.store) as searcher:
        answer = searcher.similar(document, top_n)
    _print_answer(flags, answer, explain)


def related(
    flags: Flags,
    term: Annotated[str, typer.Argument(metavar="TERM", help="A word of the vocabulary, or any text.")],
    top_n: TopN = 10,
    encoder: Encoder = None,
) -> None:
    """List the words of the corpus closest in meaning to a word or text.

    Example: noctule related authentication
    """
    with _searcher(flags, flags.store, SearcherFlags(encoder)) as searcher:
        found = searcher.related(term, top_n)
    if flags.as_json:
        output.emit({"term": term, "related": [{"term": c.term, "similarity": c.similarity} for c in found]})
        return
    for concept in found:
        output.say(f"{concept.similarity:.3f}  {concept.term}")
    if not found:
        output.say("No word of the vocabulary is near it.")


def _print_answer(flags: Flags, answer: Answer, explain: bool) -> None:
    if flags.as_json:
        output.emit(answer.as_dict())
        return
    from . import text  # and with it rich

    text.print_answer(answer, explain=explain)


@contextmanager
def _searcher(flags: Flags, store: Path, opening: SearcherFlags = SearcherFlags()) -> Iterator[Searcher]:
    from ....artifacts import query as searching
    from ....artifacts.store.store import Store
    from ...run.request import read_settings

    settings = read_settings(flags.config)
    if opening.encoder is not None:
        search = settings.search.model_copy(update={"encoder": opening.encoder})
        settings = settings.model_copy(update={"search": search})
    # Warnings are printed with the answer.
    signers = opening.require_signed
    with searching.open(Store(store), settings, require_signed=signers, silent=True) as searcher:
        yield searcher


def _search_namespaces(
    flags: Flags, request: SearchRequest, given: list[str], opening: SearcherFlags
) -> None:
    from ....artifacts.query.federate import search_namespaces
    from . import text

    stores = dict(map(_namespace, given))
    with ExitStack() as opened:
        searchers = {
            name: opened.enter_context(_searcher(flags, store, opening)) for name, store in stores.items()
        }
        found = search_namespaces(searchers, request)
    if flags.as_json:
        hits = [
            each.hit.as_dict() | {"namespace": each.namespace, "rank": each.rank, "score": each.score}
            for each in found.hits
        ]
        said = [f"{name}: {each}" for name, answer in found.answers.items() for each in answer.warnings]
        output.emit({"query": request.text, "hits": hits, "warnings": said})
    else:
        text.print_federated(found)


def _namespace(given: str) -> tuple[str, Path]:
    name, equals, folder = given.partition("=")
    if not (name and equals and folder):
        raise QueryError("a namespace is written NAME=DIR", where=given, hint="DIR is a store's folder.")
    return name, store_folder(folder)
