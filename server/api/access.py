"""What a client may see: conditions on documents, collections, and documents by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...artifacts.query.retrieval.filters import KINDS, Filter, parse_filter
from ...pipeline.errors import QueryError
from ...pipeline.printable import bounded
from ..guard.tokens import Client
from ..problems import FieldProblem, HttpProblem
from ..served import ServedSnapshot
from .parameters import nearest

_FRONT = "front."
_MOST_NAMED = 200
_SURROGATES = re.compile("[\ud800-\udfff]")


def conditions_of(
    given: Sequence[str], collections: Sequence[str], served: ServedSnapshot, client: Client
) -> tuple[Filter, ...]:
    """Return the filters of a search; raise ``HttpProblem`` for one that cannot be or is not allowed."""
    filters = [_filter(each) for each in given]
    named = [*collections, *(each.value for each in filters if each.kind == "collection")]
    for name in named:
        require_collection(name.lower(), served, client)
    others = [each for each in filters if each.kind != "collection"]
    wanted = named or sorted(client.collections or ())
    return (*others, *(Filter("collection", name.lower()) for name in dict.fromkeys(wanted)))


def require_collection(name: str, served: ServedSnapshot, client: Client) -> None:
    """Raise ``HttpProblem`` unless the snapshot has the collection and the client may see it."""
    if not client.sees(name):
        raise HttpProblem("collection-forbidden", f"The token does not allow the collection {name}.")
    known = served.collections
    if name not in known:
        near = nearest(name, [each for each in known if client.sees(each)])
        raise HttpProblem("collection-unknown", f"There is no collection {name}.", nearest=near)


def require_document(doc_id: str, served: ServedSnapshot, client: Client) -> int:
    """Return a document's row; raise ``HttpProblem`` with the nearest names if the client sees none such.

    Names of a collection that the client may not see are no names to it; unlisted ones must be known.
    """
    row = None if _SURROGATES.search(doc_id) else served.searcher.corpus.document_row(doc_id)
    if row is not None and client.sees(doc_id.partition(":")[0]):
        return row
    near = nearest(doc_id, [each for each in served.listed if client.sees(each.partition(":")[0])])
    detail = f"There is no document {bounded(doc_id, _MOST_NAMED)}. They are named collection:path."
    raise HttpProblem("document-unknown", detail, nearest=near)


def _filter(text: str) -> Filter:
    kind = text.partition(":")[0]
    if ":" in text and kind not in KINDS and not kind.startswith(_FRONT):
        near = nearest(kind, KINDS) or [*KINDS, "front.KEY"]
        wrong = FieldProblem("filter", f"there is no kind {kind}", near)
        raise HttpProblem("filter-unknown", f"There is no filter {kind}.", [wrong], near)
    try:
        return parse_filter(text)
    except QueryError as error:
        wrong = FieldProblem("filter", error.what)
        raise HttpProblem("filter-invalid", f"{error.what}. {error.hint}", [wrong]) from None
