"""The files for reading without a network are there when they are asked for, and change with the site."""

from __future__ import annotations

import json
from pathlib import Path

from noctule.docsite.build import build_site
from noctule.pipeline.settings.site import Site
from tests.site_builder import snapshot_of

NOTES = {"index.md": "# Home\n\nSee [[owl]].\n", "owl.md": "# Owl\n\nHoot.\n", "_offline.md": "# Mine\n"}


def _built(folder: Path, settings: Site, **changed: str) -> Path:
    texts = NOTES | {f"{name}.md": text for name, text in changed.items()}
    build_site(snapshot_of({"notes": texts}), folder, settings)
    return folder


def _worker(site: Path) -> str:
    return (site / "service-worker.js").read_text()


def test_it_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    site = _built(tmp_path / "site", Site())
    assert not (site / "service-worker.js").exists()
    assert not (site / "_assets/manifest.webmanifest").exists()
    assert "data-offline" not in (site / "index.html").read_text()


def test_the_worker_changes_with_the_site_and_with_nothing_else(tmp_path: Path) -> None:
    wanted = Site(offline=True)
    one = _built(tmp_path / "one", wanted)
    assert "data-offline" in (one / "owl.html").read_text()
    assert _worker(one) == _worker(_built(tmp_path / "two", wanted))
    assert _worker(one) != _worker(_built(tmp_path / "one", wanted, owl="# Owl\n\nOther.\n"))
    assert _worker(one) != _worker(_built(tmp_path / "one", Site(offline=True, title="Owls")))


def test_the_worker_is_small(tmp_path: Path) -> None:
    assert len(_worker(_built(tmp_path / "site", Site(offline=True)))) < 6_000


def test_a_document_of_the_same_name_is_not_lost(tmp_path: Path) -> None:
    site = _built(tmp_path / "site", Site(offline=True))
    assert "No network" in (site / "_offline.html").read_text()
    assert [path for path in site.glob("_offline-*.html") if "Mine" in path.read_text()]


def test_an_owners_web_manifest_goes_before_ours(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/manifest.webmanifest").write_text('{"name": "Mine"}')
    site = _built(tmp_path / "site", Site(offline=True, templates=str(tmp_path / "mine")))
    assert json.loads((site / "_assets/manifest.webmanifest").read_text()) == {"name": "Mine"}
