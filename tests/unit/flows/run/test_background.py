"""Work in the background: its result comes, an accident is made good, and what is not wanted ends at once."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.docsite import build, search_only
from noctule.docsite.fingerprints.pages import PageFingerprint
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.pages import rendering as page_work
from noctule.docsite.search import background_index, index
from noctule.docsite.search.background_index import ShownJob, fill_shown
from noctule.docsite.search.excerpts import cards
from noctule.docsite.search.facets import facets
from noctule.docsite.search.index import FOLDER
from noctule.flows.api import build_snapshot
from noctule.flows.engines.background_encoder import encode_batch
from noctule.flows.run.background import Background
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.stages import links, tables
from noctule.flows.stages.embedding import training_texts
from noctule.pipeline.errors import WriteFailed
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.site import Site
from tests.guide_snapshot import Guide, guide
from tests.repetitions import sample
from tests.sentence_model_builder import small_model

__all__ = ["guide"]


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    raise ValueError(f"not {number}")


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def die_elsewhere(owner: int) -> int:
    if os.getpid() != owner:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def test_the_result_comes_and_so_does_an_error() -> None:
    with Background() as background:
        assert background.start(double, 4)() == 8
        with pytest.raises(ValueError, match="not 3"):
            background.start(refuse, 3)()


def whereabouts(_: None) -> int:
    return os.getpid()


def nap(seconds: float) -> None:
    time.sleep(seconds)


def test_where_the_process_dies_this_one_does_the_work() -> None:
    with Background() as background:
        assert background.start(die_elsewhere, os.getpid())() == os.getpid()


def test_work_that_need_not_wait_is_done_here_where_it_has_not_begun() -> None:
    with Background() as background:
        background.start(nap, 60.0)
        assert background.start(whereabouts, None, waits=False)() == os.getpid()
        assert not background.is_idle()
    with Background() as background:
        begun = background.start(whereabouts, None, waits=False)
        while not background.is_idle():
            time.sleep(0.05)
        assert begun() != os.getpid()


@pytest.mark.parametrize("after_s", [0.0, 0.3, 3.0])
def test_a_block_that_ends_waits_for_nothing(after_s: float) -> None:
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Background() as background:
        background.start(sleep, 60.0)
        time.sleep(after_s)  # the process is not begun, starting, or at work
        raise KeyboardInterrupt
    assert time.monotonic() - start < 20


class Eager(Background):
    """One that takes work whenever there is some, and remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[object] = []

    def start(self, stage, given, here=None, *, waits=True):  # type: ignore[no-untyped-def]
        self.given.append(stage)
        return super().start(stage, given, here, waits=waits)

    def is_idle(self) -> bool:
        return True


def test_a_site_has_the_same_files_whoever_makes_its_pages_and_its_search_index(
    guide: Guide,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background_index, "LEAST_DOCUMENTS", 1)
    monkeypatch.setattr(page_work, "LEAST_PAGES", 1)
    monkeypatch.setattr(page_work, "PAGES_AT_A_TIME", 1)
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    with guide.store.open() as snapshot, Eager() as background:
        first = build.build_site(snapshot, alone, Site(), Search())
        second = build.build_site(snapshot, helped, Site(), Search(), background=background)
        assert (first.files, first.bytes, first.written) == (second.files, second.bytes, second.written)
        assert _files(alone) == _files(helped)
        assert background.given.count(page_work.write_pages) > 10
        assert background.given.count(fill_shown) == 1
        # What stands there is taken over by either, and read anew by neither where all is wanted new.
        site = Site(title="Another")
        again = build.build_site(snapshot, helped, site, Search(), background=background)
        assert 0 < again.written < again.files - 10
        anew = build.build_site(snapshot, helped, site, Search(), background=background, full=True)
        assert anew.written >= anew.files - 2
    assert _files(helped) != _files(alone)


def test_whoever_makes_a_site_it_may_begin_with_what_was_set_aside(
    guide: Guide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_index, "LEAST_DOCUMENTS", 1)
    monkeypatch.setattr(page_work, "LEAST_PAGES", 1)
    monkeypatch.setattr(page_work, "PAGES_AT_A_TIME", 1)
    with guide.store.open() as snapshot:
        for title in ("One", "Another", "One"):
            site = Site(title=title)
            build.build_site(snapshot, tmp_path / "alone", site, Search(), full=True)
            with Eager() as background:
                build.build_site(
                    snapshot,
                    tmp_path / "helped",
                    site,
                    Search(),
                    background=background,
                    aside=tmp_path / "aside",
                )
            assert _files(tmp_path / "alone") == _files(tmp_path / "helped")
    assert (tmp_path / "aside/index.html").is_file()


def test_the_search_of_a_folder_has_the_same_files_whoever_makes_its_index(
    guide: Guide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_index, "LEAST_DOCUMENTS", 1)
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    with guide.store.open() as snapshot, Eager() as background:
        for name in snapshot.table("documents", ["path"])["path"].to_pylist():
            for folder in (alone, helped):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).touch()
        search_only.build_search(snapshot, alone, Site(), Search())
        search_only.build_search(snapshot, helped, Site(), Search(), background=background)
        assert background.given.count(fill_shown) == 1
        assert len(_files(alone)) > 20 and _files(alone) == _files(helped)
        again = search_only.build_search(snapshot, helped, Site(), Search(), background=background)
        assert again.written <= 3, "what stands there was not taken over"


def _counted_lookups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets an entry for each lookup that is made from now on."""
    made: list[int] = []
    make = index.make_lookup

    def counted(*given: Any) -> Any:
        made.append(1)
        return make(*given)

    monkeypatch.setattr(index, "make_lookup", counted)
    return made


@pytest.fixture(scope="module")
def plain_site(guide: Guide, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plain") / "site"
    with guide.store.open() as snapshot:
        build.build_site(snapshot, target, Site(), Search())
    return target


@pytest.mark.parametrize(
    "what_follows", sample(["the same", "another ranking", "another snapshot", "another site"], 2)
)
def test_a_lookup_made_before_is_taken_where_it_is_of_the_same(
    guide: Guide, plain_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what_follows: str
) -> None:
    site, copy = shutil.copytree(plain_site, tmp_path / "site"), tmp_path / "copy"
    with guide.store.open() as snapshot:
        shutil.copytree(snapshot.path, copy)
        manifest = snapshot.manifest
        if what_follows == "another snapshot":
            manifest = replace(manifest, settings_sha256="0" * 64)
        lookup = background_index.make_lookup_files(
            background_index.LookupJob((copy,), manifest, Search(), site)
        )
        shutil.rmtree(copy)
        ranking = (
            Search(candidates=77, rrf_k=3, fusion="rrf") if what_follows == "another ranking" else Search()
        )
        if what_follows == "another site":
            build.build_site(snapshot, site, Site(title="Another"), Search(), full=True)
        made = _counted_lookups(monkeypatch)
        build.build_site(snapshot, site, Site(title="New"), ranking, lookup=lookup)
        assert len(made) == (what_follows != "the same")
        build.build_site(snapshot, tmp_path / "fresh", Site(title="New"), ranking)
    mine, fresh = _files(site), _files(tmp_path / "fresh")
    assert {name for name in mine if "_search" in name} == {name for name in fresh if "_search" in name}
    assert all(mine[name] == fresh[name] for name in fresh if "_search" in name)


def test_a_lookup_heeds_no_change_of_its_folders_name(
    guide: Guide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Path.cwd()
    with guide.store.open() as snapshot:
        before, after = tmp_path / "staging", tmp_path / "published"
        shutil.copytree(snapshot.path, before)
        make = background_index.Files

        def renamed(*given: Any) -> Any:
            before.rename(after)
            return make(*given)

        monkeypatch.setattr(background_index, "Files", renamed)
        job = background_index.LookupJob((before, after), snapshot.manifest, Search(), None)
        first = background_index.make_lookup_files(job)
        monkeypatch.setattr(background_index, "Files", make)
        assert background_index.make_lookup_files(job).pages == first.pages, "moved before the work began"
    assert Path.cwd() == here


def test_a_snapshot_is_the_same_whoever_does_its_long_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    long = shutil.ignore_patterns("fault-matrix.md", "promises.md")
    shutil.copytree(Path(__file__).parents[4] / "docs" / "store", docs, ignore=long)
    given = {
        "collections": {"docs": {"root": str(docs)}},
        "engine": {"name": "inline"},
        "embed": {"model": small_model()},
    }
    settings = parse(given, where="a test")
    started: list[object] = []
    start = Background.start

    def noted(self: Background, stage: Any, *given: Any) -> Any:
        if stage is not encode_batch:  # texts that no store knows yet
            started.append(stage)
        return start(self, stage, *given)

    monkeypatch.setattr(Background, "start", noted)
    alone = build_snapshot(settings, Store(tmp_path / "alone"), PlainDriver(), Silent())
    assert not started
    monkeypatch.setattr(links, "_LARGE_GRAPH", 1)
    monkeypatch.setattr(training_texts, "_MANY_TEXTS", 1)
    monkeypatch.setattr(tables, "_MANY_WORDS", 1)
    helped = build_snapshot(settings, Store(tmp_path / "helped"), PlainDriver(), Silent())
    assert len(started) == 3 and helped.snapshot == alone.snapshot


def test_work_that_died_half_done_is_done_again_over_what_it_left(guide: Guide, tmp_path: Path) -> None:
    with guide.store.open() as snapshot:
        plan = plan_site(snapshot, Site())
        pages = tuple(page_work.Wanted(page, PageFingerprint("", "")) for page in plan.tree.order[:3])
        job = page_work.PagesJob(snapshot.path, snapshot.id, Site(), None, tmp_path, None, pages)
        shown = ShownJob(
            snapshot.path, snapshot.manifest, cards(plan), facets(plan), None, tmp_path, None, FOLDER
        )
        first = page_work.write_pages(job), fill_shown(shown)
        whole = _files(tmp_path)
        again = page_work.write_pages(job), fill_shown(shown)
    assert first[0].files == again[0].files
    assert first[1][0].files == again[1][0].files
    assert whole == _files(tmp_path)


def test_a_page_whose_bytes_are_those_before_is_taken_over_by_the_process_beside(
    guide: Guide, tmp_path: Path
) -> None:
    with guide.store.open() as snapshot, Background() as background:
        build.build_site(snapshot, tmp_path / "site", Site(), Search())
        pages = tuple(
            page_work.Wanted(page, PageFingerprint("another", "another"))
            for page in plan_site(snapshot, Site()).tree.order[:3]
        )
        job = page_work.PagesJob(
            snapshot.path, snapshot.id, Site(), tmp_path / "site", tmp_path / "new", None, pages
        )
        (tmp_path / "new").mkdir()
        done = [background.start(page_work.write_pages, job)() for _ in range(2)]
    assert [(len(each.files) >= 3, each.written) for each in done] == [(True, 0), (True, 0)]


def test_nothing_is_written_into_a_folder_that_was_given_up(guide: Guide, tmp_path: Path) -> None:
    with guide.store.open() as snapshot:
        page = page_work.Wanted(plan_site(snapshot, Site()).tree.order[0], PageFingerprint("", ""))
        job = page_work.PagesJob(snapshot.path, snapshot.id, Site(), None, tmp_path / "gone", None, (page,))
        with pytest.raises(WriteFailed):
            page_work.write_pages(job)
    assert not (tmp_path / "gone").exists()


def _files(site: Path) -> dict[str, bytes]:
    return {
        path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()
    }
