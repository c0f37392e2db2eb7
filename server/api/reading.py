"""The operations that read: documents whole or in part, their list, collections, and what is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...artifacts.query.index.documents import StoredDocument, TextSpan
from ...pipeline.marked_text import CodeMark, HeadingMark, document_markdown, with_marks
from ...pipeline.printable import bounded
from ..problems import HttpProblem
from .access import require_document
from .calls import JSON, MARKDOWN, Call, Reply, json_reply
from .parameters import DocumentListParameters, DocumentParameters, Parameters, nearest

_MOST_NAMED = 200


def document(call: Call[DocumentParameters]) -> Reply:
    """Return a document, a section of it, or a range of either, as JSON or as markdown."""
    given = call.parameters
    found = call.served.documents.read(require_document(call.target, call.served, call.client))
    whole = section_markdown(found, given.section) if given.section else markdown_of(found)
    if given.start and given.start >= len(whole):
        detail = f"start is {given.start:,}, and the text has {len(whole):,} characters."
        raise HttpProblem("parameter-invalid", detail)
    text = whole[given.start : given.start + given.max_chars]
    following = given.start + len(text)
    rest = following if following < len(whole) else None
    if call.media_type == MARKDOWN:
        return Reply(text.encode(), f"{MARKDOWN}; charset=utf-8", _next_link(given, rest))
    part = {"section": given.section, "text": text, "start": given.start, "next": rest}
    return json_reply(
        {"snapshot": call.served.snapshot, **_described(found), **part, "total_chars": len(whole)}
    )


def _described(found: StoredDocument) -> dict[str, Any]:
    sections = [{"section": s.name, "title": s.title, "depth": s.depth} for s in found.sections]
    shown = {name: getattr(found, name) for name in _SHOWN}
    return {**shown, "tags": list(found.tags), "sections": sections}


_SHOWN = ("doc_id", "collection", "path", "title", "url", "description", "language", "modified")


def documents(call: Call[DocumentListParameters]) -> Reply:
    """List the documents that the client may see and lists may name, those that begin with the prefix."""
    given, table = call.parameters, call.served.searcher.corpus.documents
    chosen = _chosen(call)
    total = pc.sum(chosen).as_py() or 0
    if given.after:
        chosen = pc.and_(chosen, pc.greater(table.column("doc_id"), given.after))
    rows = np.flatnonzero(chosen.to_numpy())
    entries = table.select(["doc_id", "title", "url"]).take(rows[: given.limit]).to_pylist()
    following = entries[-1]["doc_id"] if len(rows) > given.limit else None
    body = {"snapshot": call.served.snapshot, "documents": entries, "next": following, "total": total}
    return json_reply(body)


def _chosen(call: Call[DocumentListParameters]) -> pa.ChunkedArray:
    """Return for each document whether it is listed, begins with the prefix, and may be seen."""
    table, seen = call.served.searcher.corpus.documents, call.client.collections
    ids = table.column("doc_id")
    is_listed = pc.is_in(ids, value_set=pa.array(call.served.listed, pa.string()))
    chosen = pc.and_(is_listed, pc.starts_with(ids, call.parameters.prefix))
    if seen is not None:
        chosen = pc.and_(chosen, pc.is_in(table.column("collection"), value_set=pa.array(sorted(seen))))
    return chosen


def collections(call: Call[Parameters]) -> Reply:
    """List the collections that the client may see, and how many documents each has."""
    counted = call.served.collections.items()
    found = [{"collection": name, "documents": n} for name, n in counted if call.client.sees(name)]
    return json_reply({"snapshot": call.served.snapshot, "collections": found})


def snapshot(call: Call[Parameters]) -> Reply:
    """Describe what is served; who may see some collections learns the size of no other."""
    served, manifest = call.served, call.served.searcher.corpus.snapshot.manifest
    model = {name: getattr(manifest.model, name) for name in ("name", "sha256", "dimension", "precision")}
    body = {
        "snapshot": served.snapshot,
        "generation": served.generation,
        "format_version": manifest.format_version,
        "counts": _counts(call, manifest.counts),
        "languages": list(manifest.languages),
        "model": model,
        "tools": dict(manifest.tools),
    }
    return json_reply(body)


def _counts(call: Call[Parameters], counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a snapshot that the client may know."""
    if call.client.collections is None:
        return dict(counts)
    seen = [n for name, n in call.served.collections.items() if call.client.sees(name)]
    return {"documents": sum(seen)}


def markdown_of(found: StoredDocument) -> str:
    """Return a document as markdown."""
    headings = [HeadingMark(each.byte_start, each.depth) for each in found.sections]
    code = [CodeMark(each.name, each.byte_start, each.byte_end) for each in found.code]
    return document_markdown(found.text, found.syntax, found.title, headings, code)


def section_markdown(found: StoredDocument, name: str) -> str:
    """Return a section with the sections in it, as markdown; raise ``HttpProblem`` if there is none."""
    section = next((each for each in found.sections if each.name == name), None)
    if section is None:
        known = [each.name for each in found.sections]
        detail = f"{found.doc_id} has no section {bounded(name, _MOST_NAMED)}."
        raise HttpProblem("section-unknown", detail, nearest=nearest(name, known) or known[:10])
    start, end = section.byte_start, section.byte_end
    text = found.text.encode()[start:end].decode(errors="replace")
    if found.syntax == "html":
        inner = [HeadingMark(s.byte_start - start, s.depth) for s in _inside(found.sections, section)]
        blocks = _inside(found.code, section)
        code = [CodeMark(c.name, c.byte_start - start, c.byte_end - start) for c in blocks]
        text = with_marks(text, inner, code).text
    return f"{'#' * max(section.depth, 1)} {section.title}\n\n{text.strip()}\n"


def _inside(spans: Sequence[TextSpan], section: TextSpan) -> list[TextSpan]:
    return [s for s in spans if section.byte_start < s.byte_start and s.byte_end <= section.byte_end]


def _next_link(given: DocumentParameters, rest: int | None) -> dict[str, str]:
    if rest is None:
        return {}
    changed = given.model_dump(exclude_defaults=True) | {"start": rest}
    return {"Link": f'<?{urlencode(changed)}>; rel="next"'}


FORMS = (JSON, MARKDOWN)
