"""Fingerprints of a document's own content: its text, and where its links and transclusions lead."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...pipeline.parse.labels import UNTITLED
from ...pipeline.parse.markdown.authoring import TAG_LIST
from ...pipeline.parse.markdown.myst.descriptions import DIRECTIVE_FENCE
from ..content.render import MAX_TRANSCLUSION_DEPTH
from ..incremental.columns import digest, group_digests, row_digests
from ..library import Library
from ..outline.plan import SitePlan

_OWN = (
    "doc_id", "collection", "path", "title", "description", "tags", "language", "modified", "syntax",
    "anchors", "text", "html", "url", "front_matter",
)  # fmt: skip
_REFERENCES = ("wikilink", "transclusion")
# What shows text of other documents: a transclusion, and a reference to a block of Logseq.
_TRANSCLUSION = r"!\[\[|\[\[#\^"
# Links that show the title of what they lead to, in markdown and in HTML.
_UNTITLED = r"\[\]\(|\{(?:ref|doc|any|numref)\}`|\{(?:toctree|eval-rst)\}"
_UNTITLED_HTML = f'class="{UNTITLED}"'
_BETWEEN = "\0"


def content_digests(plan: SitePlan) -> list[bytes]:
    """Return for each document, by row, a digest of everything its content on any page is made from."""
    library = plan.library
    own = row_digests([library.documents.column(name) for name in _OWN])
    places = row_digests([pa.array(column, pa.large_string()) for column in _places(plan)])
    sections = library.section_rows
    code = library.code_rows
    parts = (
        own,
        places,
        group_digests(
            [sections.table.column(name) for name in ("slug", "title", "depth", "byte_start", "byte_end")],
            sections.bounds,
        ),
        group_digests(
            [code.table.column(name) for name in ("language", "byte_start", "byte_end")], code.bounds
        ),
        _link_digests(library),
    )
    content = [digest(*each) for each in zip(*parts, strict=True)]
    return _with_transclusions(library, content)


def _places(plan: SitePlan) -> tuple[list[str], ...]:
    """Return each document's page, the markdown beside it, the pages of its tags, and any list of all."""
    entries, texts = plan.library.entries, plan.library.documents.column("text")
    shows = pc.fill_null(pc.match_substring(texts, TAG_LIST), False).to_pylist()
    pages = ((tag, each.page, each.title) for tag, tagged in plan.tags.items() for each in tagged)
    listed = repr((plan.tag_pages, *pages)) if any(shows) else ""
    return (
        [listed if each else "" for each in shows],
        [entry.page for entry in entries],
        [plan.twins.get(entry.page, "") for entry in entries],
        ["\n".join(plan.tag_pages[tag] for tag in entry.tags) for entry in entries],
    )


def _link_digests(library: Library) -> list[bytes]:
    """Return digests of each document's links with the pages they lead to.

    If a link has a fragment, the headings, names and labels on that page are included; if the document holds
    links without texts of their own, the titles of all pages that it links to.
    """
    rows, anchors = library.link_rows, _named_places(library)
    target = library.rows_of(rows.table.column("target_id"))
    pages = pa.array([*(entry.page for entry in library.entries), None], pa.large_string())
    titles = pa.array([*(entry.title for entry in library.entries), None], pa.large_string())
    shows_titles = _shows_titles(library)[library.rows_of(rows.table.column("source_id"))]
    names = pa.array([*(each.hex() for each in anchors), None], pa.large_string())
    place = pa.array(np.where(target < 0, len(library.entries), target))
    fragment = rows.table.column("fragment").combine_chunks()
    plain = pc.equal(pc.fill_null(fragment, ""), "")
    columns = [rows.table.column(name) for name in ("kind", "target", "target_id", "fragment", "status")]
    return group_digests(
        [
            *columns,
            pages.take(place),
            pc.if_else(pa.array(shows_titles), titles.take(place), pa.scalar(None, pa.large_string())),
            pc.if_else(plain, pa.scalar(None, pa.large_string()), names.take(place)),
            _files(library),
        ],
        rows.bounds,
    )


def _shows_titles(library: Library) -> npt.NDArray[np.bool_]:
    """Return for each document whether its page may show the titles of others where it links to them."""
    documents = library.documents
    found = pc.or_(
        pc.fill_null(pc.match_substring_regex(documents.column("text"), _UNTITLED), False),
        pc.fill_null(pc.match_substring(documents.column("html"), _UNTITLED_HTML), False),
    )
    shows: npt.NDArray[np.bool_] = found.to_numpy()
    return shows


def _named_places(library: Library) -> list[bytes]:
    """Return for each document, by row, a digest of the places in it that have names, with their titles."""
    sections, texts = library.section_rows, library.documents.column("text")
    titles = group_digests([sections.table.column(name) for name in ("slug", "title")], sections.bounds)
    labels = pc.fill_null(pc.match_substring_regex(texts, rf"\)=|{DIRECTIVE_FENCE}"), False)
    labelled = pc.if_else(labels, texts, pa.scalar(None, texts.type))
    own = row_digests([library.documents.column("anchors"), library.documents.column("html"), labelled])
    return [digest(*each) for each in zip(own, titles, strict=True)]


def _files(library: Library) -> pa.Array:
    """Return for each link the place and size of the image or attachment that it leads to; null for none."""
    known = [*library.assets]
    shown = [f"{each.file} {each.width} {each.height}" for each in library.assets.values()]
    keys = pa.array([_BETWEEN.join(key) for key in known], pa.string())
    rows = library.link_rows.table
    source = library.rows_of(rows.column("source_id"))
    collections = pa.array([*(entry.collection for entry in library.entries), None], pa.string())
    owner = collections.take(pa.array(np.where(source < 0, len(library.entries), source)))
    path = rows.column("asset").combine_chunks()
    place = pc.index_in(pc.binary_join_element_wise(owner, path, _BETWEEN), value_set=keys)
    return pa.array(shown, pa.large_string()).take(place)


def _with_transclusions(library: Library, content: list[bytes]) -> list[bytes]:
    """Return the digests, combined with those of transcluded documents as deep as pages show them."""
    shown = _transcluded(library)
    deep = content
    for _ in range(MAX_TRANSCLUSION_DEPTH + 1 if shown else 0):
        deeper = {
            row: digest(content[row], *(deep[target] for target in targets)) for row, targets in shown.items()
        }
        deep = [deeper.get(row, each) for row, each in enumerate(deep)]
    return deep


def _transcluded(library: Library) -> Mapping[int, list[int]]:
    """Return for each document that transcludes any, everything it refers to by name, in order."""
    holds = pc.fill_null(pc.match_substring_regex(library.documents.column("text"), _TRANSCLUSION), False)
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(holds.to_numpy()).tolist():
        for link in library.links(library.entries[row]):
            target = library.by_id.get(link.target_id or "")
            if link.kind in _REFERENCES and target is not None:
                found.setdefault(row, []).append(target.row)
    return found
