"""A collection with settings of its own leaves or returns in mid-run: nothing private is published, and what
is kept is as these settings made it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.report.result import BuildResult
from noctule.flows.run import retry
from noctule.flows.shards import build as sets
from noctule.flows.sources import publishing_rules
from noctule.flows.sources.publishing_rules import PublishingRules, Rules
from noctule.flows.stages import sources
from noctule.pipeline.errors import NoctuleError
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.source_files import FoundFile
from tests.sentence_model_builder import small_model
from tests.shared_folder import copied_store, shared_folder

# Each is private for a reason of its own, of which two are known only from the folder's settings.
PRIVATE = {
    "excluded/a.md": "---\npublish: true\n---\n# A\n\nUnveiled: excluded.\n",
    "draft.md": "---\npublish: true\ndraft: true\n---\n# D\n\nUnveiled: a draft.\n",
    "ignored/b.md": "---\npublish: true\n---\n# B\n\nUnveiled: ignored.\n",
    "silent.md": "# S\n\nUnveiled: silent.\n",
}
QUARTZ = (
    "export default { configuration: { ignorePatterns: ['ignored'] }, "
    "plugins: { filters: [Plugin.ExplicitPublish()] } }\n"
)


def page(number: int, word: str) -> str:
    return f"---\npublish: true\n---\n# Seite {number}\n\nDie Eulen von @@NAME@@ sind {word}.\n"


def settings_for(base: Path, shards: int, **own: object) -> Settings:
    given: dict[str, Any] = {
        "root": str(base / "notes"),
        "language": "de",
        "exclude": ["excluded/**"],
        "rules": [{"pattern": "@@NAME@@", "replacement": "Lothlorien"}],
    }
    return parse(
        {
            "collections": {"notes": given | own, "plain": {"root": str(base / "plain")}},
            "engine": {"name": "inline"},
            "embed": {"model": small_model()},
            "shards": {"count": shards, "drift": 0} if shards else {},
        },
        where="test",
    )


def _write(base: Path, word: str) -> None:
    files = {f"seite{number}.md": page(number, word) for number in range(6)}
    for name, text in {**files, **PRIVATE, "quartz.config.ts": QUARTZ}.items():
        (base / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "notes" / name).write_text(text)
    for number in range(4):
        (base / "plain").mkdir(exist_ok=True)
        (base / "plain" / f"page{number}.md").write_text(f"# Page {number}\n\nOwls are {word}.\n")


def _build(base: Path) -> None:
    _write(base, "alt")
    for name, shards in (("whole", 0), ("sharded", 2)):
        build_snapshot(settings_for(base, shards), Store(base / name))


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A folder with the documents, changed since they were indexed into a store of each kind."""
    built = shared_folder(tmp_path_factory, "a collection of its own", _build)
    copied_store(built, tmp_path / "base")
    _write(tmp_path / "base", "neu")
    return tmp_path / "base"


def _rows(store: Store, collection: str) -> list[dict[str, Any]]:
    """Return a collection's documents and passages, as they are published."""
    with store.open() as snapshot:
        documents = snapshot.table("documents", ["doc_id", "collection", "text", "language"]).to_pylist()
        texts = snapshot.table("passages", ["doc_id", "text"]).to_pylist()
    names = {row["doc_id"] for row in documents if row["collection"] == collection}
    rows = [*documents, *texts]
    return sorted((row for row in rows if row["doc_id"] in names), key=str)


class Disk:
    """The disk of the collection, unmounted while something runs, or from then on."""

    def __init__(self, folder: Path, *, is_mount_point: bool) -> None:
        self._folder, self._aside = folder, folder.with_name("unmounted")
        self._is_mount_point = is_mount_point

    def unmount(self) -> None:
        self._folder.rename(self._aside)
        if self._is_mount_point:
            self._folder.mkdir()

    def mount(self) -> None:
        if self._is_mount_point:
            self._folder.rmdir()
        self._aside.rename(self._folder)

    def away_during(self, really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.unmount()
            try:
                return really(*given, **named)
            finally:
                self.mount()

        return call

    def away_after(self, really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            found = really(*given, **named)
            self.unmount()
            return found

        return call


@pytest.fixture(params=["folder", "mount point"])
def disk(request: pytest.FixtureRequest, base: Path) -> Disk:
    return Disk(base / "notes", is_mount_point=request.param == "mount point")


# Whatever is away, the whole and a set see the same of it.
in_both = pytest.mark.parametrize(
    ("shards", "disk"), [(0, "folder"), (2, "mount point")], indirect=["disk"], ids=["whole", "set"]
)


def _night(base: Path, shards: int, **own: object) -> tuple[Store, BuildResult]:
    store = Store(base / ("sharded" if shards else "whole"))
    return store, build_snapshot(settings_for(base, shards, **own), store)


def _require_kept(base: Path, shards: int, before: list[dict[str, Any]]) -> None:
    """A night publishes the other collection, and of this one what was there, as it was."""
    store, result = _night(base, shards)
    assert list(result.failed) == ["notes"]
    assert _rows(store, "notes") == before and len(before) == 12
    assert "Lothlorien" in str(before) and {row.get("language", "de") for row in before} == {"de"}
    assert "neu" in str(_rows(store, "plain"))


def _require_returned(base: Path, shards: int) -> None:
    """The next night is that of a fresh store, and nothing in it is private."""
    store, result = _night(base, shards)
    assert not result.failed
    fresh = Store(base / "fresh")
    build_snapshot(settings_for(base, shards), fresh)
    assert _rows(store, "notes") == _rows(fresh, "notes") != []
    found = str(_rows(store, "notes"))
    assert "neu" in found and "Unveiled" not in found
    assert store.current() == fresh.current()


@in_both
def test_a_collection_that_returns_once_its_rules_were_looked_for_publishes_nothing_private(
    shards: int, base: Path, disk: Disk
) -> None:
    store = Store(base / ("sharded" if shards else "whole"))
    before = _rows(store, "notes")
    with pytest.MonkeyPatch.context() as patched:
        for module in (sources, sets):
            patched.setattr(module, "rules_of", disk.away_during(module.rules_of))  # type: ignore[attr-defined]
        _require_kept(base, shards, before)
    _require_returned(base, shards)


@pytest.mark.parametrize("shards", [0, 2], ids=["whole", "set"])
def test_a_page_that_comes_in_mid_run_with_the_setting_that_hides_it_is_not_published(
    shards: int, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where somebody pulls while a night has read the settings, but not yet the files."""
    discovered = sources.list_sources

    def pulled(*given: Any) -> Any:
        (base / "mkdocs.yml").write_text("docs_dir: plain\nexclude_docs: secret.md\n")
        (base / "plain" / "secret.md").write_text("# Secret\n\nUnveiled: pulled.\n")
        return discovered(*given)

    with monkeypatch.context() as patched:
        patched.setattr(sources, "list_sources", pulled)
        store, result = _night(base, shards)
    assert not result.failed and "Unveiled" not in str(_rows(store, "plain"))
    later, again = _night(base, shards)
    assert not again.failed and "Unveiled" not in str(_rows(later, "plain"))


@in_both
def test_a_collection_that_leaves_once_it_is_listed_keeps_all_its_documents(
    shards: int, base: Path, disk: Disk
) -> None:
    store = Store(base / ("sharded" if shards else "whole"))
    before = _rows(store, "notes")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sources, "list_sources", disk.away_after(sources.list_sources))
        _require_kept(base, shards, before)
    disk.mount()
    _require_returned(base, shards)


@in_both
def test_a_collection_of_which_a_few_files_are_left_to_read_loses_none_when_it_leaves(
    shards: int, base: Path, disk: Disk
) -> None:
    """So few that as many may be gone in a night."""
    store = Store(base / ("sharded" if shards else "whole"))
    before, read = _rows(store, "notes"), sources.read_in_full

    def leaving(file: FoundFile, settings: Settings) -> Any:
        if file.path != "seite5.md":
            return read(file, settings)
        disk.unmount()
        try:
            return read(file, settings)
        finally:
            disk.mount()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sources, "read_in_full", leaving)
        _require_kept(base, shards, before)
    _require_returned(base, shards)


@in_both
def test_a_collection_that_was_away_for_the_listing_alone_stays_as_it_was(
    shards: int, base: Path, disk: Disk
) -> None:
    store = Store(base / ("sharded" if shards else "whole"))
    before = _rows(store, "notes")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sources, "list_sources", disk.away_during(sources.list_sources))
        _require_kept(base, shards, before)
    _require_returned(base, shards)


@in_both
def test_settings_that_change_while_a_collection_is_away_hold_once_it_is_back(
    shards: int, base: Path, disk: Disk
) -> None:
    store = Store(base / ("sharded" if shards else "whole"))
    before = _rows(store, "notes")
    disk.unmount()
    own = {"language": "nl", "exclude": ["excluded/**", "seite1.md"], "rules": []}
    _, result = _night(base, shards, **own)
    assert list(result.failed) == ["notes"] and _rows(store, "notes") == before
    disk.mount()
    _, result = _night(base, shards, **own)
    rows = _rows(store, "notes")
    assert not result.failed and "@@NAME@@" in str(rows) and "Lothlorien" not in str(rows)
    assert {row.get("language", "nl") for row in rows} == {"nl"} and "seite1.md" not in str(rows)
    assert "Unveiled" not in str(rows)


@pytest.mark.parametrize("shards", [0, 2], ids=["whole", "set"])
def test_a_collection_whose_rules_cannot_be_read_again_stays_as_it_was(shards: int, base: Path) -> None:
    store = Store(base / ("sharded" if shards else "whole"))
    before, read, rules_of = _rows(store, "notes"), publishing_rules._found, publishing_rules.rules_of

    def stale(root: Path, *given: Any, **named: Any) -> PublishingRules:
        if root.name == "notes":
            raise OSError(errno.ESTALE, "Stale file handle", str(root))
        return read(root, *given, **named)

    def read_again(settings: Settings) -> Rules:
        with pytest.MonkeyPatch.context() as failing:
            failing.setattr(publishing_rules, "_found", stale)
            return rules_of(settings)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retry, "_PAUSES_S", ())
        patched.setattr(publishing_rules, "rules_of", read_again)  # not what reads them when a run begins
        _require_kept(base, shards, before)
    _require_returned(base, shards)


def test_a_first_run_whose_rules_are_not_known_publishes_nothing(base: Path, disk: Disk) -> None:
    with pytest.MonkeyPatch.context() as patched, pytest.raises(NoctuleError) as found:
        patched.setattr(sources, "rules_of", disk.away_during(sources.rules_of))
        given = settings_for(base, 0)
        alone = given.model_copy(update={"collections": {"notes": given.collections["notes"]}})
        build_snapshot(alone, Store(base / "first"))
    assert "was empty when the run began" in found.value.what and "notes" in found.value.where
    assert Store(base / "first").current() is None
