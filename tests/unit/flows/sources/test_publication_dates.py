"""Documents that their tool publishes later, or no longer, are in no snapshot until then."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.store.store import Store
from noctule.flows import api
from noctule.flows.incremental import unchanged
from noctule.flows.sources import publication_dates
from noctule.flows.sources.publishing_rules import rules_of
from noctule.flows.sources.withheld import withheld
from noctule.flows.stages import parse
from noctule.pipeline.settings.reading import parse as parse_settings
from tests.sentence_model_builder import in_this_process

PAGES = {
    "a.md": "---\npublishDate: 2000-01-01\nexpiryDate: 2999-01-01\n---\n# A\n\nShown.\n",
    "b.md": "---\nPublishDate: 2998-01-01T10:00:00Z\n---\n# B\n\nSecret.\n",
    "c.md": "---\nexpirydate: 2001-01-01\n---\n# C\n\nSecret.\n",
    "d.md": "---\ndate: 2999-01-01\n---\n# D\n\nA date alone says nothing.\n",
    "_posts/2999-01-02-e.md": "# E\n\nSecret.\n",
    "_posts/2001-01-02-f.md": "# F\n\nShown.\n",
    "_posts/2999-01-02-g.md": "---\ndate: 2001-01-01\n---\n# G\n\nShown.\n",
}
SHOWN = ["_posts/2001-01-02-f.md", "_posts/2999-01-02-g.md", "a.md", "d.md"]


def paths(store: Path) -> list[str]:
    with Store(store).open() as snapshot:
        found: list[str] = snapshot.table("documents")["path"].to_pylist()
        return sorted(found)


def test_a_page_is_public_from_its_day_until_it_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "docs" / name).write_text(text)
    store, config = tmp_path / "store", tmp_path / "noctule.toml"
    config.write_text('[collections.docs]\nroot = "docs"\n' + in_this_process())
    first = api.index(store=store, config=config)
    assert paths(store) == SHOWN
    reasons = {each.path: (each.kind, each.reason) for each in first.rejections}
    assert reasons == {
        "_posts/2999-01-02-e.md": ("skipped", "is a draft until 2999-01-02"),
        "a.md": ("noted", "expires on 2999-01-01"),
        "b.md": ("skipped", "is a draft until 2998-01-01"),
        "c.md": ("skipped", "is a draft since 2001-01-01, when it expired"),
    }
    assert not api.index(store=store, config=config).changed
    for module in (parse, unchanged, publication_dates):
        monkeypatch.setattr(module, "today", lambda: "2998-01-01")
    assert api.index(store=store, config=config).changed
    assert paths(store) == sorted([*SHOWN, "b.md"])


def test_drafts_are_included_where_they_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/b.md").write_text(PAGES["b.md"])
    given = '[collections.docs]\nroot = "docs"\ndrafts = true\n' + in_this_process()
    (tmp_path / "noctule.toml").write_text(given)
    api.index(store=tmp_path / "store", config=tmp_path / "noctule.toml")
    assert paths(tmp_path / "store") == ["b.md"]


@pytest.mark.parametrize(
    ("settings_file", "front_matter", "reason"),
    [
        ("hugo.toml", {"date": "2999-01-01"}, "is a draft until 2999-01-01"),
        ("hugo.toml", {"PubDate": "2999-01-02", "date": "2001-01-01"}, "is a draft until 2999-01-02"),
        ("hugo.toml", {"publishDate": "2001-01-01", "date": "2999-01-01"}, ""),
        ("hugo.toml", {"published": True, "unpublishdate": "2001-01-01"}, "is a draft since 2001-01-01"),
        ("book.toml", {"date": "2999-01-01", "pubDate": "2999-01-01"}, ""),
    ],
)
def test_a_date_alone_decides_in_a_folder_of_hugo(
    settings_file: str, front_matter: dict[str, object], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / settings_file).touch()
    settings = parse_settings({"collections": {"docs": {"root": str(tmp_path / "content")}}}, "test")
    row = {"collection": "docs", "path": "a.md", "front_matter": json.dumps(front_matter)}
    rows = pa.table({"documents": [[row]]})
    held = withheld(rows, (), settings, rules_of(settings), "2026-11-25")
    assert [each.reason.partition(",")[0] for each in held] == ([reason] if reason else [])
