"""The report of a night says what changed: in the store, on the site's page, as markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.night_reports import read_night
from noctule.artifacts.store.run_records import read_runs
from noctule.artifacts.store.store import Store
from noctule.docsite.pages.report import ReportSheet, fill_report
from noctule.flows.api import build_site
from noctule.flows.graph import context_of
from noctule.flows.job import run_job
from noctule.flows.report import night as night_report
from noctule.flows.report import sheets
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.stage import Silent
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import Site
from tests.command_line import CommandLine, write_vault

_SETTINGS = """
[collections.vault]
root = "vault"
[engine]
name = "inline"
[limits]
max_shrink_share = 1.0
[query_encoder]
phrases = 0
spans = 0
passages = 0
[communities]
seed = {seed}
"""


def _edit(vault: Path) -> None:
    """One of each: added, changed, moved, removed, left out, mended; a link broken and a link mended."""
    (vault / "missing note.md").write_text("# Missing note\n\nHere it is: zebra zebra.\n")
    (vault / "install.md").write_text("# Install\n\nRun the zebra, see [[nowhere]].\n")
    (vault / "guide" / "cancel.md").rename(vault / "stop.md")
    (vault / "guide" / "owls.md").unlink()
    (vault / "broken.md").write_text("# Mended\n\nText about a zebra at last.\n")
    (vault / "worse.md").write_bytes(b"\x00\xff\xfe not text \x00")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store after two nights."""
    folder = tmp_path_factory.mktemp("nights")
    vault, store = write_vault(folder / "vault"), Store(folder / "store")
    for seed in (0, 1):
        (folder / "noctule.toml").write_text(_SETTINGS.format(seed=seed))
        run_job(context_of(IndexRequest(store.root, folder / "noctule.toml")), PlainDriver(), Silent())
        if not seed:
            _edit(vault)
    return store


@pytest.fixture(scope="module")
def night(store: Store) -> Mapping[str, Any]:
    current = store.current()
    assert current is not None
    found = read_night(store.root, current)
    assert found is not None
    return found


def test_documents_added_changed_moved_and_removed(night: Mapping[str, Any]) -> None:
    names = {kind: each["names"] for kind, each in night["documents"].items()}
    assert names == {
        "added": ["vault:broken.md", "vault:missing note.md"],
        "changed": ["vault:install.md"],
        "moved": ["vault:guide/cancel.md -> vault:stop.md"],
        "removed": ["vault:guide/owls.md"],
    }


def test_files_left_out_now_and_files_mended(night: Mapping[str, Any]) -> None:
    (worse,) = night["refused"]["first"]
    assert worse[0] == "vault:worse.md" and worse[1].startswith("quarantined: ")
    assert night["refused"]["mended"]["names"] == ["vault:broken.md"]


def test_links_broken_and_mended(night: Mapping[str, Any]) -> None:
    broken = {(each["source"], each["target"]): each["fate"] for each in night["links"]["first_broken"]}
    assert broken["vault:install.md", "nowhere"] == "missing-document"
    (mended,) = [each for each in night["links"]["first_mended"] if each["target"] == "missing note"]
    assert (mended["source"], mended["fate"]) == ("vault:index.md", "resolved")


def test_rising_terms_are_counted_in_passages(night: Mapping[str, Any]) -> None:
    assert {"term": "zebra", "before": 0, "now": 3} in night["rising"]


def test_sizes_times_and_what_was_made_anew(night: Mapping[str, Any]) -> None:
    sizes = {each["what"]: (each["before"], each["now"]) for each in night["sizes"]}
    assert sizes["documents"] == (4, 5)
    assert sizes["bytes"][0] > 0
    assert night["runs"] == 1 and night["usual_seconds"] > 0
    stages = {each["stage"]: each for each in night["stages"]}
    assert stages["parse"]["seconds"] > 0 and stages["parse"]["usual"] > 0
    assert [line.split(" ")[0] for line in night["rebuilt"]] == ["communities.seed"]
    assert night["previous"] != night["snapshot"]


def test_the_site_has_the_report_with_links_to_its_pages(store: Store, tmp_path: Path) -> None:
    build_site(tmp_path / "public", store=store.root, settings=Settings(site=Site()))
    page = (tmp_path / "public" / "_report.html").read_text()
    assert '<a href="install.html">vault:install.md</a>' in page
    assert "vault:guide/owls.md" in page and 'href="guide/owls.html"' not in page
    assert 'href="_report.html"' in (tmp_path / "public" / "index.html").read_text()


def test_the_page_begins_with_pictures_of_all_nights(store: Store, tmp_path: Path) -> None:
    runs = read_runs(store.root)
    assert all(run["bytes"] > 0 and run["broken_links"] > 0 for run in runs)
    build_site(tmp_path / "public", store=store.root, settings=Settings(site=Site()))
    page = (tmp_path / "public" / "_report.html").read_text()
    for title in ("Documents", "Broken links", "Size", "Seconds by stage", "Documents by folder"):
        assert f"<title>{title}</title>" in page
    assert page.index("<svg") < page.index("The night</h2>")
    assert "style=" not in page and (tmp_path / "public" / "_assets" / "charts.css").is_file()


def test_the_first_site_of_a_night_is_one_of_its_stages(store: Store, tmp_path: Path) -> None:
    current = store.current()
    assert current is not None
    for _ in range(2):
        build_site(tmp_path / "public", store=store.root, settings=Settings(site=Site()))
        report = read_night(store.root, current)
        assert report is not None
        found = [each["seconds"] for each in report["stages"] if each["stage"] == "site"]
        assert len(found) == 1 and found[0] > 0
    assert "<td>site</td>" in (tmp_path / "public" / "_report.html").read_text()


def test_a_store_that_refuses_writes_costs_the_site_no_report(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> None:
        raise WriteFailed("cannot write", where="here", hint="Look at the disk.")

    monkeypatch.setattr(night_report, "write_night", refusing)
    for report in (store.root / "reports").glob("*.json"):
        told = json.loads(report.read_bytes())
        told["stages"] = [each for each in told["stages"] if each["stage"] != "site"]
        told.pop("failed", None)  # as an earlier version wrote it
        report.write_text(json.dumps(told))
    build_site(tmp_path / "public", store=store.root, settings=Settings(site=Site()))
    assert "vault:guide/owls.md" in (tmp_path / "public" / "_report.html").read_text()


def test_a_site_need_not_have_it(store: Store, tmp_path: Path) -> None:
    build_site(tmp_path / "public", store=store.root, settings=Settings(site=Site(report=False)))
    assert not (tmp_path / "public" / "_report.html").exists()
    assert "_report.html" not in (tmp_path / "public" / "index.html").read_text()


def test_text_of_documents_is_text_in_html_and_in_markdown(night: Mapping[str, Any], tmp_path: Path) -> None:
    evil = "<script>alert(1)</script> | `x` [y](z)"
    (tmp_path / "_report.html").write_text("a<!-- report -->old<!-- /report -->z")
    assert fill_report(tmp_path, [ReportSheet(evil, evil, (evil,), ((evil,),), documents=True)])
    page = (tmp_path / "_report.html").read_text()
    assert "<script" not in page and page.startswith("a<!-- report -->") and "old" not in page
    told = json.loads(json.dumps(night))
    told["links"]["first_broken"] = [{"source": evil, "target": evil, "fate": "missing"}]
    assert "<script" not in sheets.markdown(told)
    assert "\\| \\`x\\` \\[y\\]" in sheets.markdown(told)


def test_a_night_without_a_change_leaves_the_report_and_rolled_back_reports_go(store: Store) -> None:
    folder = store.root.parent
    before = sorted(path.name for path in (store.root / "reports").iterdir())
    run_job(context_of(IndexRequest(store.root, folder / "noctule.toml")), PlainDriver(), Silent())
    assert sorted(path.name for path in (store.root / "reports").iterdir()) == before
    assert len(before) == 2, "the first night and the second"


def test_the_command_prints_it(store: Store, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, store.root)
    printed = command.run("report", "--json").json
    assert printed["night"]["documents"]["removed"]["count"] == 1
    text = command.run("report").out
    assert "Documents: 2 added; 1 changed; 1 moved; 1 removed." in text
    assert " broke;" in text
