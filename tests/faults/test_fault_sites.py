"""Damage to every kind of file of a site is found and healed; no half-written file is ever served."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noctule import docsite
from noctule.artifacts.disk import durable
from noctule.artifacts.store.store import Store
from noctule.docsite.build import SiteResult, build_site
from noctule.docsite.content.render import Renderer
from noctule.docsite.incremental.previous import previous_site
from noctule.docsite.pages.report import ReportSheet, fill_report
from noctule.docsite.search import postings
from noctule.docsite.search_only import build_search
from noctule.docsite.verify import check_site
from noctule.flows.api import build_site as build_from_store
from noctule.pipeline.errors import DamagedSite
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import Fonts, Site, Version
from tests.crash.failing_disk import InterceptedDisk
from tests.library_builder import build_library
from tests.repetitions import ALL
from tests.search_format_reader import Index, names_of
from tests.site_builder import snapshot_of

SHEETS = [ReportSheet("The night", "Quiet.", ("document",), (("notes:boats.md",),), documents=True)]
DAY_NS = 86_400 * 10**9
# In this order: the first that fits.
KINDS = {
    "marker": r"\.noctule-site", "record": r"\.noctule-record", "not found": r"404\.html",
    "report": r"_report\.html", "offline page": r"_offline\.html", "offline worker": r"service-worker\.js",
    "llms.txt": r"llms\.txt", "text of a section": r"llms-full/.*\.txt", "feed": r"feed\.xml",
    "sitemap": r"sitemap.*\.xml", "overview": r"index\.html",
    "all pages": r"_pages/.*", "tags": r"_tags/index\.html", "tag": r"_tags/.*",
    "topics": r"_communities/index\.html", "map": r"_communities/map\.html", "topic": r"_communities/.*",
    "previews": r"_previews/.*", "engine": r"_search/engine\.js", "manifest": r"_search/manifest\.js",
    "words without scripts": r"_search/words-.*\.html", "search page": r"_search/index\.html",
    "playground": r"_search/ranking\.html", "mermaid": r"_assets/mermaid\.js",
    "owner's style": r"_assets/custom\.css", "owner's script": r"_assets/custom\.js",
    "owner's picture": r"_assets/(?:site-.*|picture)\.svg", "font": r"_assets/.*\.woff2",
    "web manifest": r"_assets/manifest\.webmanifest", "words of a language": r"_assets/words-.*\.js",
    "icon": r"_assets/icon\.svg", "theme's style": r"_assets/.*\.css", "theme's script": r"_assets/.*\.js",
    "file of a document": r"_files/.*", "card": r"_cards/.*\.png", "feed of a blog": r".*atom\.xml",
    "pages of a blog": r"_blogs/.*", "redirect": r"old/.*\.html", "redirects for hosts": r"_redirects",
    "page": r".*\.html", "markdown": r".*\.md",
}  # fmt: skip
OF_THE_BUILD = ("marker", "record")
# Of the search index, whose names are hashes.
PARTS = {
    "term_shards", "posting_tiers", "words", "near_words", "token_directories", "token_shards",
    "token_projections", "inverted_lists", "excerpts", "facets",
}  # fmt: skip
# Which module of ``docsite`` writes which kinds.
WRITERS = {
    "assets": {"theme's style", "theme's script", "icon", "mermaid", "owner's style", "owner's script",
               "font", "owner's picture", "words of a language", "card", "file of a document"},
    "incremental.previous": set(OF_THE_BUILD), "pages.blog": {"pages of a blog", "feed of a blog"},
    "pages.documents": {"page"}, "pages.feed": {"feed"}, "pages.llms": {"llms.txt", "text of a section"},
    "pages.listings": {"not found", "overview", "all pages", "tags", "tag", "topics", "map", "topic",
                       "search page", "words without scripts", "playground"},
    "pages.offline": {"offline page", "offline worker", "web manifest"}, "pages.previews": {"previews"},
    "pages.redirects": {"redirect", "redirects for hosts"}, "pages.report": {"report"},
    "pages.sitemap": {"sitemap"}, "pages.twins": {"markdown"},
    "search.files": PARTS, "search.index": {"engine", "manifest"},
}  # fmt: skip
# Settings that change what files say, or where they are, and add none of another kind.
ADD_NO_KIND = {
    "aliases", "also", "authors", "card_font", "clean_urls", "colors", "description", "edit_url",
    "event_queries", "events", "feed", "graph", "history_url", "home", "image", "language", "markdown",
    "max_files", "navigation", "number_prefixes", "post_url", "related", "remote_images", "report", "search",
    "slugs", "title", "verify_days", "version", "words",
}  # fmt: skip
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'


@dataclass(frozen=True)
class Made:
    """A site with all that a site can have, its files by kind, and how to build it again."""

    store: Store
    settings: Site
    site: Path
    kinds: Mapping[str, list[str]]

    def victims(self, which: int) -> list[str]:
        """One file of each kind that the record describes."""
        return [names[which % len(names)] for kind, names in self.kinds.items() if kind not in OF_THE_BUILD]

    def build(self, site: Path, nights: int, aside: Path | None = None) -> SiteResult:
        settings = self.settings.model_copy(update={"verify_days": nights})
        with self.store.open() as snapshot:
            result = build_site(snapshot, site, settings, Search(), aside=aside)
        assert fill_report(site, SHEETS)
        return result


def _kinds(site: Path) -> dict[str, list[str]]:
    names = sorted(str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    parts = _parts(site)
    kinds: dict[str, list[str]] = {}
    for name in names:
        of = (kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name))
        kinds.setdefault(parts.get(name) or next(of, f"unknown: {name}"), []).append(name)
    return kinds


def _parts(site: Path) -> dict[str, str]:
    """The parts of the search index by name, as its manifest and directories tell them."""
    index = Index({path.stem: path.read_bytes() for path in (site / "_search").glob("*.js")})
    groups = index.names.pop("excerpt_groups")
    found = {f"_search/{name}.js": key for key, names in index.names.items() for name in names}
    found |= {f"_search/{name}.js": "excerpts" for name in index.files if name[:8] in groups}
    for directory in index.all_of("token_directories", "TOKEN_DIRECTORY"):
        found |= {f"_search/{name}.js": "token_shards" for name in names_of(directory["file_names"])}
    return found


@pytest.fixture(scope="module")
def short_tiers() -> Iterator[None]:
    """Postings of words so short that a small index has files of later tiers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(postings, "TIERS", (4, 8, 16, 32, 64))
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, short_tiers: None) -> Made:
    folder = tmp_path_factory.mktemp("made")
    beside = {"drawing.md": b"# Drawing\n\n![A drawing](drawing.svg)\n", "drawing.svg": _SVG.encode()}
    settings, store = _with_all_features(folder), build_library(folder, beside)
    first = Made(store, settings, folder / "site", {})
    first.build(first.site, 7)
    return Made(store, settings, first.site, _kinds(first.site))


def _with_all_features(folder: Path) -> Site:
    """Settings with everything that adds files to a site."""
    theme = folder / "theme"
    theme.mkdir()
    for name in ("custom.css", "custom.js", "picture.svg"):
        (theme / name).write_text(f"/* an owner's {name} */")
    for name in ("logo.svg", "dark.svg", "favicon.svg"):
        (folder / name).write_text(_SVG.replace("9", str(len(name))))
    (folder / "mermaid.js").write_text("/* draws */")
    (folder / "own.woff2").write_bytes(b"wOF2" + bytes(range(60)))
    return Site(
        base_url="https://example.org/docs",
        offline=True,
        cards=True,
        templates=str(theme),
        mermaid=str(folder / "mermaid.js"),
        logo=str(folder / "logo.svg"),
        logo_dark=str(folder / "dark.svg"),
        favicon=str(folder / "favicon.svg"),
        fonts=Fonts(text=(str(folder / "own.woff2"),)),
        blogs=("fruit",),
        posts_per_page=1,
        redirects={"old/boats.html": "boats.md"},
        languages={"en": "", "de": "glossary"},
        versions=(Version(label="1", url="https://example.org/1"),),
    )


@pytest.fixture
def copy(made: Made, tmp_path: Path) -> Path:
    return _copied(made.site, tmp_path / "site")


def _copied(site: Path, to: Path) -> Path:
    shutil.copytree(site, to)
    return to


def _files(folder: Path) -> Mapping[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _flip(content: bytes, other: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def _truncate(content: bytes, other: bytes) -> bytes:
    return content[: len(content) // 2]


def _zero(content: bytes, other: bytes) -> bytes:
    return bytes(len(content))


def _swap(content: bytes, other: bytes) -> bytes:
    """Another file's bytes, as many as there were."""
    return (other * (len(content) // len(other) + 1))[: len(content)]


DAMAGES: Mapping[str, Callable[[bytes, bytes], bytes] | None] = {
    "a bit flipped": _flip,
    "truncated": _truncate,
    "zeroed": _zero,
    "swapped": _swap,
    "deleted": None,
}


def _damage(path: Path, damage: Callable[[bytes, bytes], bytes] | None, other: bytes = b"another") -> None:
    """Damage the file as a disk would, which leaves its time as it is."""
    if damage is None:
        path.unlink()
        return
    found = path.stat()
    content = path.read_bytes()
    spoilt = damage(content, other)
    assert spoilt != content
    path.write_bytes(spoilt)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_every_kind_of_file_that_a_site_writes_is_among_those_that_are_damaged(made: Made) -> None:
    assert set(made.kinds) == set().union(*WRITERS.values()) == {*KINDS, *PARTS}
    assert sum(map(len, made.kinds.values())) == len(_files(made.site))


def test_whatever_may_write_another_kind_of_file_has_to_be_named_here(made: Made) -> None:
    """A module that makes files, or a setting of the site, that is new needs its kinds among the damaged."""
    folder = Path(docsite.__file__).parent
    making = {path for path in folder.rglob("*.py") if re.search(r"\bSitePage\(", path.read_text())}
    modules = {".".join(path.relative_to(folder).with_suffix("").parts) for path in making}
    assert modules - {"outline.plan"} == set(WRITERS)
    assert set(Site.model_fields) == ADD_NO_KIND | (made.settings.model_fields_set)


def test_a_sound_site_is_said_to_be(made: Made) -> None:
    found = check_site(made.site)
    assert (found.faults, found.foreign) == (0, ())
    assert (found.files, found.bytes) == (len(_files(made.site)), sum(map(len, _files(made.site).values())))


@pytest.mark.parametrize("with_aside", [False, True], ids=["alone", "aside"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_every_kind_of_file_is_found_damaged_by_a_check_and_healed_by_a_build(
    made: Made, copy: Path, kind: str, with_aside: bool
) -> None:
    victims, intact = made.victims(0), _files(made.site)
    aside = copy.parent / "aside" if with_aside else None
    if aside is not None:  # as after a build: second names of the same files, damaged with them
        shutil.copytree(copy, aside, copy_function=os.link)
    for name in victims:
        _damage(copy / name, DAMAGES[kind], intact[made.kinds["page"][-1]])
    found = check_site(copy)
    assert sorted([*found.damaged, *found.missing]) == sorted(victims)
    assert bool(found.missing) == (kind == "deleted")
    result = made.build(copy, nights=1, aside=aside)
    assert result.healed == len(victims) <= result.written
    assert _files(copy) == intact
    assert not check_site(copy).faults


@pytest.mark.parametrize("kind", DAMAGES if ALL else ("truncated", "swapped"))
def test_a_rotation_heals_every_kind_of_file_within_its_nights(
    made: Made, copy: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights, victims, intact = 4, made.victims(1), _files(made.site)
    for name in victims:
        _damage(copy / name, DAMAGES[kind], intact[made.kinds["page"][0]])
    began, healed = time.time_ns(), []
    for night in range(1, nights + 1):
        monkeypatch.setattr(time, "time_ns", lambda now=began + night * DAY_NS: now)
        healed.append(made.build(copy, nights=nights).healed)
    assert sum(healed) == len(victims)
    assert _files(copy) == intact
    # What looks damaged is healed at once, and what does not has its turn.
    at_once = kind in ("truncated", "deleted")
    assert (healed[0] == len(victims)) == at_once


@pytest.mark.parametrize("name", [".noctule-site", ".noctule-record"])
@pytest.mark.parametrize("kind", DAMAGES if ALL else ("a bit flipped",))
def test_a_damaged_record_proves_nothing_and_every_file_is_made_anew(
    made: Made, copy: Path, name: str, kind: str
) -> None:
    _damage(copy / name, DAMAGES[kind], b'{"record": "of another site"}')
    with pytest.raises(DamagedSite) as caught:
        check_site(copy)
    assert caught.value.where.startswith(str(copy)) and "--full" in caught.value.hint
    assert made.build(copy, nights=0).written == len(_files(made.site))
    assert _files(copy) == _files(made.site)


def test_a_marker_that_names_another_snapshot_is_damaged(made: Made, copy: Path) -> None:
    marker = (copy / ".noctule-site").read_bytes()
    (copy / ".noctule-site").write_bytes(marker.replace(made.store.current().encode(), b"0" * 20))  # type: ignore[union-attr]
    with pytest.raises(DamagedSite, match="another snapshot"):
        check_site(copy)


@pytest.mark.parametrize("both", [False, True])
def test_a_record_of_another_site_is_noticed(made: Made, copy: Path, tmp_path: Path, both: bool) -> None:
    build_site(snapshot_of({"notes": {"boats.md": "# Boats\n"}}), tmp_path / "other", Site())
    shutil.copy2(tmp_path / "other" / ".noctule-record", copy)
    if both:
        shutil.copy2(tmp_path / "other" / ".noctule-site", copy)
        assert check_site(copy).faults
    else:
        with pytest.raises(DamagedSite):
            check_site(copy)
    made.build(copy, nights=1)
    assert _files(copy) == _files(made.site)


def test_a_report_of_an_earlier_site_is_noticed(made: Made, copy: Path, tmp_path: Path) -> None:
    other = _copied(made.site, tmp_path / "other")
    with made.store.open() as snapshot:
        build_site(snapshot, other, made.settings.model_copy(update={"related": 1}), Search())
    fill_report(other, SHEETS)
    shutil.copy2(other / "_report.html", copy)
    assert [*check_site(copy).damaged] == ["_report.html"]


class Watching(InterceptedDisk):
    """Looks at a served folder before and after every call: what a kill at that instant would leave in it."""

    def __init__(self, served: Path) -> None:
        self.served, self.seen, self.calls = served, set[frozenset[str]](), list[str]()

    def _call(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self.calls.append(name)
        self.seen.add(_names(self.served))
        try:
            return None if name == "sync_file_system" else method(*arguments)
        finally:
            self.seen.add(_names(self.served))


def _names(folder: Path) -> frozenset[str]:
    return frozenset(str(path.relative_to(folder)) for path in folder.rglob("*"))


def _watch(monkeypatch: pytest.MonkeyPatch, served: Path, work: Callable[[], object]) -> Watching:
    with monkeypatch.context() as patched:
        watching = Watching(served)
        patched.setattr(durable, "disk", watching)
        work()
    return watching


@pytest.mark.parametrize("with_aside", [False, True], ids=["alone", "aside"])
def test_at_every_instant_a_site_has_the_files_of_the_old_or_of_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_aside: bool
) -> None:
    site, aside = tmp_path / "www" / "site", tmp_path / "aside" if with_aside else None
    for text in ("# A\n", "# A\n\nMore. #tag\n"):
        build_site(snapshot_of({"n": {"a.md": text, "b.md": "# B\n"}}), site, Site(), aside=aside)
    before = _names(site)
    later = snapshot_of({"n": {"a.md": "# A\n\n[[c]]\n", "c.md": "# C\n"}})

    def night() -> None:
        build_site(later, site, Site(), aside=aside)
        fill_report(site, SHEETS)

    watching = _watch(monkeypatch, site, night)
    assert watching.seen == {before, _names(site)}
    assert {"exchange", "rename", "write"} <= set(watching.calls)
    assert {path.name for path in site.parent.iterdir()} == {"site"}


def test_at_every_instant_a_folder_of_html_has_nothing_but_its_pages_and_its_search(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = tmp_path / "www" / "html"
    with made.store.open() as snapshot:
        for row in snapshot.table("documents", ["path"])["path"].to_pylist():
            (served / row).parent.mkdir(parents=True, exist_ok=True)
            (served / row).with_suffix(".html").write_text("<body>A page.</body>")
            (served / row).write_text("its source")
        before = _names(served)
        build = lambda: build_search(snapshot, served, made.settings, Search(), insert=True)  # noqa: E731
        seen = _watch(monkeypatch, served, build).seen
        assert seen == {before, _names(served)} and (served / "_noctule").is_dir()
        assert {path.name for path in served.parent.iterdir()} == {"html"}
        part = next(path for path in (served / "_noctule").iterdir() if len(path.stem) == 8)
        _damage(part, _flip)
        assert check_site(served).damaged.keys() == {part.name}
        build()
        assert not check_site(served).faults


def test_a_kill_before_a_report_has_its_name_leaves_nothing_that_is_served(
    made: Made, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _files(copy)
    child = os.fork()
    if not child:
        monkeypatch.setattr(
            durable.disk, "rename",
            lambda source, target: os.kill(os.getpid(), signal.SIGKILL) if source.exists() else _absent(),
        )  # fmt: skip
        fill_report(copy, [ReportSheet("Another", "Another night.")])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert _files(copy) == before
    left = [path for path in copy.parent.iterdir() if path != copy]
    assert [path.name for path in left] == [f".site-staging-{child}-{left[0].name.rpartition('-')[2]}"]
    assert [path.name for path in left[0].iterdir()] == ["file"]
    fill_report(copy, [ReportSheet("Another", "Another night.")])
    assert [path.name for path in copy.parent.iterdir()] == ["site"]
    assert not check_site(copy).faults


def _absent() -> None:
    raise FileNotFoundError(2, "No such file or directory")


def test_damage_is_never_copied_into_a_new_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's surroundings change, so that its content would be taken from the damaged one."""
    texts = {
        "index.md": "# Home\n\nSee [bats](bats/index.md) and [[owl]].\n",
        "bats/index.md": "# Bats\n\nTwo.\n",
        "owl.md": "# Owl\n\nHoot. #night\n",
        "moth.md": "# Moth\n\nAlone.\n",
        "reader.md": "# Reader\n\n[Two](bats/index.md)\n\n![[owl]]\n",
        "untitled.md": "Words without a heading.\n",
    }
    rendered, render = [], Renderer.render
    monkeypatch.setattr(
        Renderer, "render", lambda self, entry: rendered.append(entry.page) or render(self, entry)
    )
    site, settings = tmp_path / "site", Site(verify_days=0)
    build_site(snapshot_of({"notes": texts}), site, settings)
    rendered.clear()
    _damage(site / "owl.html", lambda content, other: content.replace(b"Hoot", b"Boot"))
    more = snapshot_of({"notes": texts | {"new.md": "# New\n\nTo [[owl]] and [[moth]].\n"}})
    build_site(more, site, settings)
    assert sorted(rendered) == ["new.html", "owl.html"], "the moth's content is taken over"
    build_site(more, tmp_path / "fresh", settings)
    assert _files(site) == _files(tmp_path / "fresh")


def test_what_was_healed_is_in_the_report_of_the_night(library: Store, tmp_path: Path) -> None:
    store = Store(_copied(library.root, tmp_path / "store"))
    settings = Settings(site=Site(verify_days=1))
    for damaged in ((), ("boats.html", "404.html"), ("boats.md",)):
        for name in damaged:
            _damage(tmp_path / "site" / name, _flip)
        result = build_from_store(tmp_path / "site", store=store.root, settings=settings)
        assert result.healed == len(damaged)
    assert "3 damaged files were rebuilt" in (tmp_path / "site" / "_report.html").read_text()
    assert not check_site(tmp_path / "site").faults


def test_what_one_process_found_damaged_another_does_not_keep(made: Made, copy: Path) -> None:
    for name in made.victims(0):
        with previous_site(copy) as before:
            known = before.by_path[name]
            assert name == "_report.html" or before.is_sound(known)
        with previous_site(copy, frozenset([name])) as before:
            assert not before.is_sound(known) and not before.has(name, known.fingerprint or "x")
