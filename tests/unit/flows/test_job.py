"""A night is one table: the site's lookup is made once, beside the publishing, and the site is the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.replaced_sites import replaced_site
from noctule.docsite.incremental import search_changes
from noctule.docsite.incremental.previous import previous_site
from noctule.docsite.search import background_index, index
from noctule.flows.api import build_site
from noctule.flows.graph import BUILD, context_of
from noctule.flows.job import run_job
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.stage import Silent, Stage
from noctule.flows.stages import site
from tests.sentence_model_builder import small_model_table

PAGES = {
    "owl.md": "# Owls\n\nThe little owl hunts at dusk. See [the barn](barn.md).\n",
    "barn.md": "# Barns\n\nIn old barns [owls](owl.md) nest under the roof.\n",
}


class Night:
    """A folder of documents, its store and its site, and how many lookups were made for them."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.docs, self.store, self.out = root / "docs", root / "store", root / "site"
        self.docs.mkdir()
        self.config = root / "noctule.toml"
        self.configure()
        for name, content in PAGES.items():
            (self.docs / name).write_text(content)
        self.lookups = 0
        for module in (background_index, index):
            monkeypatch.setattr(module, "make_lookup", self._counted(module.make_lookup))

    def configure(self, more: str = "") -> None:
        """Write the settings, and more of them."""
        docs = f'[collections.docs]\nroot = "{self.docs}"\n'
        self.config.write_text(docs + small_model_table() + more)

    def _counted(self, make: Any) -> Any:
        def counted(*given: Any) -> Any:
            self.lookups += 1
            return make(*given)

        return counted

    def request(self, start: str | None = None) -> IndexRequest:
        options = BuildOptions(start=start)
        return IndexRequest(store=self.store, config=self.config, engine="inline", options=options)

    def run(self, start: str | None = None, stages: tuple[Stage, ...] = BUILD) -> BuildResult:
        """Run a night; ``lookups`` are those of this one."""
        self.lookups = 0
        run = context_of(self.request(start), self.out)
        built = run_job(run, PlainDriver(), Silent(), stages=stages).build
        assert built is not None
        return built

    def files(self, folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.name not in ("_report.html", ".noctule-record", ".noctule-site")
        }


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    return Night(tmp_path, monkeypatch)


def test_the_lookup_is_made_once_and_the_site_is_that_of_a_site_alone(night: Night) -> None:
    for text in ("", "Some hunt by day.\n"):
        (night.docs / "owl.md").write_text(PAGES["owl.md"] + text)
        night.run()
        assert night.lookups == 1
        fresh = night.out.with_name(f"fresh{len(text)}")
        build_site(fresh, store=night.store, settings=night.request().settings())
        assert night.files(fresh) == night.files(night.out)


def test_the_lookup_of_a_large_site_is_made_by_the_background_process(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_index, "LEAST_DOCUMENTS", 1)
    night.run()
    assert night.lookups == 0, "not by this process"
    build_site(night.out.with_name("alone"), store=night.store, settings=night.request().settings())
    assert night.files(night.out.with_name("alone")) == night.files(night.out)


def test_a_build_begins_with_the_site_that_was_set_aside(night: Night) -> None:
    marker, aside = night.out / ".noctule-site", replaced_site(night.store, night.out)
    before = b""
    for number in range(4):
        (night.docs / "owl.md").write_text(PAGES["owl.md"] + f"Seen {number} times.\n")
        night.run()
        if before:
            assert (aside / marker.name).read_bytes() == before
        before = marker.read_bytes()


def test_a_lookup_that_fails_keeps_no_snapshot_back(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise OSError("no room for a lookup")

    stages = tuple(
        Stage("search lookup", fails, ("run", "staged"), ("lookup",))
        if each.name == "search lookup"
        else each
        for each in BUILD
    )
    with pytest.raises(OSError, match="no room for a lookup"):
        night.run(stages=stages)
    assert not (night.out / "index.html").exists()
    monkeypatch.undo()
    assert not night.run().changed, "the snapshot had been published"
    assert (night.out / "index.html").is_file()


def test_the_search_keeps_the_shards_of_its_base_until_much_has_changed(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched() -> set[str]:
        return {
            name for name in night.files(night.out) if name.startswith("_search/0") or "_search/1" in name
        }

    night.run()
    base, first, lone = _base_of(night.out), searched(), night.out.with_name("lone")
    shutil.copytree(night.out, lone)
    monkeypatch.setattr(search_changes, "MOST_CHANGED", 1.0)
    (night.docs / "bat.md").write_text("# Bats\n\nA bat hangs in the cave.\n")
    night.run()
    kept = night.files(night.out)
    assert _base_of(night.out) == base and len(searched() - first) < len(searched() & first)
    # The same two snapshots give the same bytes, whoever makes them.
    build_site(lone, store=night.store, settings=night.request().settings())
    assert night.files(lone) == kept
    monkeypatch.setattr(search_changes, "MOST_CHANGED", 0.1)
    (night.docs / "cat.md").write_text("# Cats\n\nA cat sleeps.\n")
    night.run()
    assert _base_of(night.out) not in ("", base)


def _base_of(site: Path) -> str:
    with previous_site(site) as found:
        return found.record.base


def test_content_that_is_current_already_gives_the_same_site(night: Night) -> None:
    first = night.run()
    before = night.files(night.out)
    again = night.run(start="parse")
    assert (again.snapshot, again.changed) == (first.snapshot, False)
    assert night.files(night.out) == before


def test_a_lookup_of_a_site_that_another_has_replaced_is_made_again(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.run()
    (night.docs / "owl.md").write_text(PAGES["owl.md"] + "Some hunt by day.\n")

    def replaced_first(*given: Any) -> Any:
        night.out.rename(night.out.with_name("gone"))
        return site.build_site(*given)

    stages = tuple(
        Stage("site", replaced_first, each.needs, each.makes) if each.name == "site" else each
        for each in BUILD
    )
    night.run(stages=stages)
    assert night.lookups == 2


def test_a_site_that_stands_already_gets_no_lookup(night: Night) -> None:
    night.run()
    night.run()
    assert night.lookups == 0
    (night.out / "index.html").write_text("damaged")
    night.run()
    assert night.lookups == 1 and "damaged" not in (night.out / "index.html").read_text()


def test_a_site_without_search_has_no_lookup(night: Night) -> None:
    night.configure("[site]\nsearch = false\n")
    run_job(context_of(night.request(), night.out), PlainDriver(), Silent())
    assert night.lookups == 0 and not (night.out / "_search").exists()


def test_a_change_of_the_settings_in_mid_run_changes_nothing(night: Night) -> None:
    night.configure('[site]\ntitle = "Before"\n')

    def edited(*given: Any) -> Any:
        night.config.write_text("this is no TOML any more")
        return site.make_search_lookup(*given)

    stages = tuple(
        Stage("search lookup", edited, each.needs, each.makes) if each.name == "search lookup" else each
        for each in BUILD
    )
    run_job(context_of(night.request(), night.out), PlainDriver(), Silent(), stages=stages)
    assert "Before" in (night.out / "index.html").read_text()


def test_a_stage_is_added_by_one_row_and_one_function(night: Night) -> None:
    counted: list[int] = []

    def count_words(corpus: Any) -> int:
        counted.append(sum(len(text.split()) for text in corpus.passages["text"].to_pylist()))
        return counted[-1]

    row = Stage("count words", count_words, ("corpus",), ("word_count",))
    built = night.run(stages=(*BUILD[:8], row, *BUILD[8:]))
    assert counted == [17]
    assert "count words" in [time.stage for time in built.times], "the report's rows come from the table"
