"""Documents by the names that links may have."""

from __future__ import annotations

from noctule.pipeline.links.linking_documents import LinkingDocument, ListedDocuments
from noctule.pipeline.links.name_index import NameIndex


def test_names_of_a_page_are_made_once_however_many_links_lead_to_it() -> None:
    made = [0]

    def names(document: LinkingDocument) -> tuple[str, ...]:
        made[0] += 1
        return document.anchors

    anchors = tuple(f"m.o{number}" for number in range(1_000))
    page = LinkingDocument("c:api", "c", "api.rst", "/api/", "API", (), anchors, ())
    index = NameIndex(ListedDocuments([page]), names)
    index.add(0, page)
    index.sort()
    assert all(index.get(anchor) == page for anchor in anchors)
    assert index.get("m.o1000") is None
    assert made[0] <= 2
