"""Each part of a page's fingerprint is needed: without it, some night would leave a page as it was and
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.docsite.fingerprints import pages
from noctule.docsite.outline import navigation
from noctule.pipeline.settings.site import Site
from tests.site_builder import TablesInMemory, snapshot_of

# Folders without a page of their own: navigation then shows a page's title only beside the page itself.
VAULT = {
    "index.md": "# Home\n\nBegin.\n",
    "a/one.md": "# One\n\nTo [that](/d/four.md) and [this](/c/three.md).\n",
    "b/two.md": "---\ntags: [night]\n---\n# Two\n\nAlone.\n",
    "c/three.md": "# Three\n\nText.\n",
    "d/four.md": "---\ntags: [night]\n---\n# Four\n\nText.\n",
    "e/index.md": "# E\n",
    "e/five.md": "# Five\n",
    "e/six.md": "# Six\n",
    "f/index.md": "# F\n\n<!-- pages below -->\n",
    "f/seven.md": "# Seven\n",
    "f/eight.md": "# Eight\n\nText.\n",
}
PLAIN = Site(graph=False, related=0)
Change = Callable[[TablesInMemory], TablesInMemory]


def _with(column: str, table: str, key: str, value: str) -> Change:
    """One cell of another value: in the row whose path is the key, or in every row where it is empty."""

    def changed(snapshot: TablesInMemory) -> TablesInMemory:
        rows = snapshot.tables[table]
        old = rows.column(column).to_pylist()
        paths = rows.column("path").to_pylist() if key else [""] * len(old)
        new = [value if path == key else each for path, each in zip(paths, old, strict=True)]
        place = rows.schema.get_field_index(column)
        tables = {**snapshot.tables, table: rows.set_column(place, rows.schema.field(column), [new])}
        return TablesInMemory("another", tables)

    return changed


def _text(path: str, text: str) -> Change:
    return lambda _: snapshot_of({"notes": VAULT | {path: text}})


@dataclass(frozen=True)
class Night:
    """What changed, on a site of which settings, and the page that must show it."""

    change: Change
    settings: Site
    page: str
    whole_tree: bool = False


NIGHTS: Mapping[str, Night] = {
    "content_digests": Night(
        _text("b/two.md", "---\ntags: [night]\n---\n# Two\n\nStill alone.\n"), PLAIN, "b/two.html"
    ),
    "navigation_digests": Night(
        _with("title", "documents", "d/four.md", "Another"), PLAIN, "b/two.html", True
    ),
    "_neighbours": Night(_with("title", "documents", "b/two.md", "Another"), PLAIN, "a/one.html"),
    "backlink_digests": Night(_with("title", "documents", "a/one.md", "Another"), PLAIN, "d/four.html"),
    "drawing_digests": Night(
        _with("title", "documents", "d/four.md", "Another"), Site(graph=True, related=0), "a/one.html"
    ),
    "related_digests": Night(
        _with("title", "documents", "d/four.md", "Another"), Site(graph=False, related=3), "b/two.html"
    ),
    "_below": Night(_with("description", "documents", "e/six.md", "Another"), PLAIN, "e/index.html"),
    "asks_for_pages": Night(_text("f/eight.md", "# Eight\n\nOther text.\n"), PLAIN, "f/index.html"),
    "_topics": Night(_with("label", "communities", "", "creatures"), PLAIN, "a/one.html"),
}


def _built(snapshot: TablesInMemory, folder: Path, night: Night) -> bytes:
    build_site(snapshot, folder, night.settings)
    return (folder / night.page).read_bytes()


def _blank(found: object) -> object:
    if isinstance(found, Mapping):
        return dict.fromkeys(found, b"")
    assert isinstance(found, list)
    return [b""] * len(found)


@pytest.mark.parametrize("fence", ["::: {option}", "- ```{option}"])
def test_a_link_to_an_object_follows_its_description(fence: str, tmp_path: Path) -> None:
    night = Night(lambda each: each, PLAIN, "page.html")
    old, new = (
        snapshot_of({"notes": {"page.md": "To [it](cli.md#cmdoption-a).\n", "cli.md": f"{fence} {name}\n"}})
        for name in ("-a", "-b")
    )
    assert b"#cmdoption-a" in _built(old, tmp_path / "site", night)
    assert b"#cmdoption-a" not in _built(new, tmp_path / "site", night)


@pytest.mark.parametrize("part", sorted(NIGHTS))
def test_a_part_that_were_left_out_would_leave_a_page_as_it_was(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night, before = NIGHTS[part], snapshot_of({"notes": VAULT})
    if not night.whole_tree:
        monkeypatch.setattr(navigation, "WHOLE_TREE_PAGES", 0)
    after = night.change(before)
    old = _built(before, tmp_path / "site", night)
    fresh = _built(after, tmp_path / "fresh", night)
    assert _built(after, tmp_path / "site", night) == fresh != old
    whole = getattr(pages, part)
    monkeypatch.setattr(pages, part, lambda *given: _blank(whole(*given)))
    assert _built(before, tmp_path / "blind", night) == old
    assert _built(after, tmp_path / "blind", night) == old
