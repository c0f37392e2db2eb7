"""A night begins with the search of its site before the snapshot is published: the same site, and made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.replaced_sites import replaced_site
from noctule.docsite import build
from noctule.docsite.search import background as beside_search
from noctule.flows.run import work
from noctule.flows.run.request import IndexRequest
from noctule.flows.run.result import BuildResult
from noctule.flows.run.steps import PlainSteps, Silent

PAGES = {
    "owl.md": "# Owls\n\nThe little owl hunts at dusk. See [the barn](barn.md).\n",
    "barn.md": "# Barns\n\nIn old barns [owls](owl.md) nest under the roof.\n",
}


class Here:
    """A process beside this one that is this one: work is done when it is asked for."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def start(
        self, stage: Callable[[Any], Any], given: Any, here: object = None, *, waits: bool = True
    ) -> Callable[[], Any]:
        result = stage(given)
        self.done.append(getattr(stage, "__name__", "a part"))
        return lambda: result

    def is_idle(self) -> bool:
        return True


class Night:
    """A folder of documents, its store and its site, and what was made for them."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.docs, self.store, self.out = root / "docs", root / "store", root / "site"
        self.docs.mkdir()
        for name, content in PAGES.items():
            (self.docs / name).write_text(content)
        self.beside, self.lookups = Here(), 0
        make = beside_search.make_lookup

        @contextmanager
        def beside(then: tuple[str, ...] = ()) -> Iterator[Here]:
            yield self.beside

        def counted(*given: Any) -> Any:
            self.lookups += 1
            return make(*given)

        monkeypatch.setattr(work, "beside", beside)
        monkeypatch.setattr(beside_search, "make_lookup", counted)
        monkeypatch.setattr(beside_search, "LEAST_DOCUMENTS", 1)

    def request(self) -> IndexRequest:
        return IndexRequest(store=self.store, sources=(str(self.docs),))

    def run(self) -> BuildResult:
        """A night; ``lookups`` and what is done beside are those of this one."""
        self.lookups, self.beside.done = 0, []
        return work.build_night(self.request(), self.out, PlainSteps, Silent()).build

    def files(self, folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.name not in ("_report.html", ".noctule-record", ".noctule-site")
        }


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    return Night(tmp_path, monkeypatch)


def test_the_lookup_is_made_once_and_before_the_site_is_asked_for(night: Night) -> None:
    for text in ("", "Some hunt by day.\n"):
        (night.docs / "owl.md").write_text(PAGES["owl.md"] + text)
        night.run()
        assert night.lookups == 1
        assert night.beside.done.index("make_ahead") < night.beside.done.index("fill_search")
        fresh = night.out.with_name(f"fresh{len(text)}")
        request = night.request()
        work.build_site(
            request.store, fresh, request.settings().site, PlainSteps(), request.settings().search
        )
        assert night.files(fresh) == night.files(night.out)


def test_a_build_begins_with_the_site_that_was_set_aside(night: Night) -> None:
    marker, aside = night.out / ".noctule-site", replaced_site(night.store, night.out)
    before = b""
    for number in range(4):
        (night.docs / "owl.md").write_text(PAGES["owl.md"] + f"Seen {number} times.\n")
        night.run()
        if before:
            assert (aside / marker.name).read_bytes() == before
        before = marker.read_bytes()


def test_what_goes_wrong_ahead_of_a_snapshot_does_not_keep_it_back(
    night: Night, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*given: Any) -> None:
        raise OSError("no room for a process")

    monkeypatch.setattr(beside_search, "begin_ahead", fails)
    monkeypatch.setattr(build, "prepare_lookup", lambda *given: None)
    assert night.run().changed
    assert "no room for a process" in caplog.text and (night.out / "index.html").is_file()


def test_a_snapshot_that_is_current_already_is_not_looked_ahead_of(night: Night) -> None:
    first = night.run()
    request = IndexRequest(store=night.store, sources=(str(night.docs),), start="parse")
    night.beside.done = []
    again = work.build_night(request, night.out, PlainSteps, Silent()).build
    assert (again.snapshot, again.changed) == (first.snapshot, False)
    assert "make_ahead" not in night.beside.done


def test_what_was_made_ahead_of_a_site_that_another_has_replaced_is_made_again(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.run()
    (night.docs / "owl.md").write_text(PAGES["owl.md"] + "Some hunt by day.\n")
    made = work.night_site

    def replaced_first(*given: Any) -> Any:
        night.out.rename(night.out.with_name("gone"))
        return made(*given)

    monkeypatch.setattr(work, "night_site", replaced_first)
    night.run()
    assert night.lookups == 2


def test_a_site_without_search_has_nothing_made_ahead(night: Night) -> None:
    config = night.docs.with_name("noctule.toml")
    config.write_text(f'[collections.docs]\nroot = "{night.docs}"\n[site]\nsearch = false\n')
    request = IndexRequest(store=night.store, config=config)
    work.build_night(request, night.out, PlainSteps, Silent())
    assert night.lookups == 0 and not (night.out / "_search").exists()
