"""Labels that no document has may be of other projects of Sphinx: they are text, counted apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.docsite.build import build_site
from noctule.flows.api import build_snapshot
from noctule.flows.report.store import snapshot_report
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.site import Site
from tests.command_line import CommandLine
from tests.sentence_model_builder import small_model

PAGES = {
    "index.rst": "Owls\n====\n\n.. _here:\n\nHome\n----\n\nSee :ref:`here`, :ref:`try` and :doc:`gone`.\n",
    "more.md": "# More\n\nSee {ref}`here` and {ref}`the statement <try>`.\n",
}
MAPPED = "globals().update(config(intersphinx_mapping={'python': ('https://docs.example.org/', None)}))\n"


def _built(folder: Path, conf: str) -> Store:
    (folder / "docs").mkdir()
    (folder / "docs/conf.py").write_text(conf)
    for name, text in PAGES.items():
        (folder / "docs" / name).write_text(text)
    given = {
        "collections": {"docs": {"root": str(folder / "docs")}},
        "engine": {"name": "inline"},
        "embed": {"model": small_model()},
    }
    store = Store(folder / "store")
    build_snapshot(parse(given, where="test"), store)
    with store.open() as snapshot:
        build_site(snapshot, folder / "site", Site(), Search())
    return store


def test_labels_of_other_projects_are_no_broken_links(tmp_path: Path) -> None:
    store = _built(tmp_path, MAPPED)
    found = snapshot_report(store, None)
    assert [each.target for each in found.unresolved_targets] == ["gone"]
    assert [(each.target, each.count) for each in found.other_projects] == [("#ref:try", 2)]
    pages = (tmp_path / "site/index.html").read_text() + (tmp_path / "site/more.html").read_text()
    assert 'See <a href="#' in pages and "the statement." in pages and pages.count("missing-link") == 1
    said = CommandLine(tmp_path, store.root).run("report").out
    assert "Broken links: 1\n" in said and "Labels of other projects, or of none: 2\n" in said


@pytest.mark.parametrize(
    "conf", ["project = 'Owls'\n", "# intersphinx_mapping is not used\n", "intersphinx_mapping = {}\n"]
)
def test_without_other_projects_such_a_label_is_a_broken_link(conf: str, tmp_path: Path) -> None:
    found = snapshot_report(_built(tmp_path, conf), None)
    assert [(each.target, each.count) for each in found.unresolved_targets] == [("#ref:try", 2), ("gone", 1)]
    assert found.other_projects == ()
