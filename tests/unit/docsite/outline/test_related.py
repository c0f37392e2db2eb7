"""Related pages and backlinks."""

from __future__ import annotations

import numpy as np
import pytest

from noctule.docsite.grouping import Edges
from noctule.docsite.library import Library
from noctule.docsite.outline import related
from noctule.docsite.outline.related import Relations
from tests.site_builder import snapshot_of


def _related(texts: dict[str, str], path: str, many: int = 5) -> list[str]:
    library = Library(snapshot_of({"notes": texts}))
    known = Relations(library.entries, library.edges, many)
    row = library.by_id[f"notes:{path}"].row
    return [library.entries[other].path for other in known.related_to(row)]


HUB = {"hub.md": "# Hub\n"}


def test_pages_that_share_a_rare_tag_come_before_those_that_share_a_common_one() -> None:
    texts = {
        "a.md": "---\ntags: [rare, common]\n---\n# A\n",
        "b.md": "---\ntags: [common]\n---\n# B\n",
        "c.md": "---\ntags: [rare]\n---\n# C\n",
        "d.md": "---\ntags: [common]\n---\n# D\n",
    }
    assert _related(texts, "a.md") == ["c.md", "b.md", "d.md"]


def test_pages_that_link_to_the_same_page_are_related() -> None:
    texts = HUB | {"a.md": "[h](hub.md)", "b.md": "[h](hub.md)", "c.md": "alone"}
    assert set(_related(texts, "a.md")) == {"hub.md", "b.md"}


def test_a_page_without_relations_has_none_and_zero_means_none() -> None:
    texts = HUB | {"a.md": "[h](hub.md)", "c.md": "alone"}
    assert _related(texts, "c.md") == []
    assert _related(texts, "a.md", many=0) == []


def test_the_own_community_comes_first() -> None:
    left = {f"l{i}.md": " ".join(f"[x](l{j}.md)" for j in range(4) if j != i) for i in range(4)}
    right = {f"r{i}.md": " ".join(f"[x](r{j}.md)" for j in range(4) if j != i) for i in range(4)}
    left["l0.md"] = f"---\ntags: [one, two, three]\n---\n{left['l0.md']}"
    right["r0.md"] = f"---\ntags: [one, two, three]\n---\n{right['r0.md']}"
    found = _related(left | right, "l0.md", many=4)
    assert set(found[:3]) == {"l1.md", "l2.md", "l3.md"} and found[3] == "r0.md"


def test_pages_are_compared_in_blocks_with_the_pages_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"p{i}.md": f"---\ntags: [t{i % 3}]\n---\n[x](p{(i * 5 + 1) % 11}.md)" for i in range(11)}
    library = Library(snapshot_of({"notes": texts}))
    whole = Relations(library.entries, library.edges, 4)
    monkeypatch.setattr(related, "_PAGES_AT_A_TIME", 2)
    parts = Relations(library.entries, library.edges, 4)
    expected = [whole.related_to(row).tolist() for row in range(11)]
    assert [parts.related_to(row).tolist() for row in range(11)] == expected
    assert any(len(others) == 4 for others in expected)


def test_backlinks_are_the_links_turned_round() -> None:
    entries = Library(snapshot_of({"notes": {f"{name}.md": name for name in "abc"}})).entries
    known = Relations(entries, Edges(np.array([0, 0, 1, 2]), np.array([1, 2, 2, 0])), 4)
    assert [known.links_of(row) for row in range(3)] == [[1, 2], [2], [0]]
    assert [known.backlinks_of(row) for row in range(3)] == [[2], [0], [0, 1]]


def test_a_site_without_links_has_no_backlinks() -> None:
    none = np.array([], dtype=np.int64)
    entries = Library(snapshot_of({"notes": {"a.md": "alone"}})).entries
    assert Relations(entries, Edges(none, none), 4).backlinks_of(0) == []


def test_what_many_documents_have_in_common_is_held_once() -> None:
    texts = {f"{number}.md": f"---\ntags: [one, two]\nauthor: Ada\n---\n# {number}\n" for number in range(9)}
    entries = Library(snapshot_of({"notes": texts})).entries
    assert entries[0].tags == ("one", "two") and entries[0].syntax and entries[0].collection == "notes"
    for name in ("collection", "language", "syntax", "modified", "author"):
        assert len({id(getattr(entry, name)) for entry in entries}) == 1, name
    assert len({id(tag) for entry in entries for tag in entry.tags}) == 2
