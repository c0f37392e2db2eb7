"""A power cut at any point of a site's build leaves the old site or the new one; the next night is whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.docsite.pages.report import ReportSheet, fill_report
from noctule.docsite.verify import check_site, require_sound
from noctule.pipeline.errors import DamagedSite, SourceError
from noctule.pipeline.settings.site import Site
from tests.crash.power_cut import FEW, Flush, Killed, KilledOnce, RecordingDisk, materialise, using
from tests.repetitions import POWER_CUTS
from tests.site_builder import TablesInMemory, snapshot_of

PAGES = {"index.md": "# Home\n\n[[boats]]\n", "boats.md": "# Boats\n\nOars. #wood\n", "a/owl.md": "# Owl\n"}
FIRST = snapshot_of({"n": PAGES})
SECOND = snapshot_of({"n": PAGES | {"boats.md": "# Boats\n\nSails. See [[owl]].\n", "new.md": "# New\n"}})
THIRD = snapshot_of({"n": PAGES | {"a/owl.md": "# Owl\n\nHoots.\n"}})
Files = Mapping[str, bytes]


class NoExchange(RecordingDisk):
    """Of a system that cannot exchange two names."""

    def exchange(self, first: Path, second: Path) -> None:
        raise OSError(38, "Function not implemented")


class Night:
    """A folder with a site, and its builds."""

    def __init__(self, base: Path, with_aside: bool = True) -> None:
        self.base, self.site = base, base / "www" / "site"
        self.aside = base / "store" / "aside" if with_aside else None

    def build(self, snapshot: TablesInMemory, nights: int = 7) -> Night:
        build_site(snapshot, self.site, Site(verify_days=nights), aside=self.aside)
        fill_report(self.site, [ReportSheet("Night", snapshot.id)])
        return self

    def files(self) -> Files:
        return {str(p.relative_to(self.site)): p.read_bytes() for p in self.site.rglob("*") if p.is_file()}


def _is_served(path: str) -> bool:
    return path.startswith("www/site/")


def _served(tree: Mapping[str, bytes | None]) -> Files:
    return {p.removeprefix("www/site/"): content for p, content in tree.items() if content is not None}


def _recorded(
    night: Night,
    snapshot: TablesInMemory,
    forget: Callable[[Flush], bool] = lambda _: False,
    keep: int = 0,
    kind: type[RecordingDisk] = RecordingDisk,
    samples: int = POWER_CUTS,
) -> RecordingDisk:
    night.base.mkdir(exist_ok=True)
    recording = kind(night.base, forget, _is_served, keep, samples)
    with using(recording):
        night.build(snapshot)
    recording.cut()
    return recording


def _whole(tmp_path: Path, snapshot: TablesInMemory) -> list[Files]:
    """A site of the snapshot, without and with the night's report."""
    shutil.rmtree(tmp_path / f"whole-{snapshot.id}", ignore_errors=True)
    night = Night(tmp_path / f"whole-{snapshot.id}", with_aside=False)
    build_site(snapshot, night.site, Site())
    return [night.files(), night.build(snapshot).files()]


def _mixtures(recording: RecordingDisk, wholes: list[Files]) -> list[Files]:
    """What would be served that is neither the old site nor the new one."""
    return [files for files in map(_served, recording.trees()) if files and files not in wholes]


def _said(name: str, recording: RecordingDisk) -> None:
    print(
        f"{name}: {len(recording.flushes)} flushes, {recording.made:,} trees, {len(recording.seen):,} sites"
    )


def test_a_power_cut_in_a_first_build_leaves_no_site_or_a_whole_one(tmp_path: Path) -> None:
    recording = _recorded(Night(tmp_path / "base"), FIRST)
    assert not _mixtures(recording, _whole(tmp_path, FIRST))
    assert {} in map(_served, recording.trees())
    _said("a first build", recording)


@pytest.mark.parametrize("with_aside", [False, True], ids=["alone", "aside"])
def test_a_power_cut_in_a_nights_build_leaves_the_old_site_or_the_new_one(
    tmp_path: Path, with_aside: bool
) -> None:
    night = Night(tmp_path / "base", with_aside).build(THIRD).build(FIRST)
    recording = _recorded(night, SECOND)
    sites = list(map(_served, recording.trees()))
    wholes = [*_whole(tmp_path, FIRST), *_whole(tmp_path, SECOND)]
    assert not _mixtures(recording, wholes) and {} not in sites
    assert all(whole in sites for whole in wholes[1:])
    assert recording.calls["exchange"] == 1 and recording.made > 100
    _said("a night's build", recording)


def test_without_an_exchange_a_power_cut_leaves_a_whole_site_or_none(tmp_path: Path) -> None:
    night = Night(tmp_path / "base").build(FIRST)
    recording = _recorded(night, SECOND, kind=NoExchange, keep=POWER_CUTS)
    assert not _mixtures(recording, [*_whole(tmp_path, FIRST), *_whole(tmp_path, SECOND)])
    for number, tree in enumerate(recording.kept):
        if not any(map(_is_served, tree)):  # then the old one is beside its place
            assert any(path.startswith("www/.site-old-") for path in tree), number


FLUSHES: dict[str, Callable[[Path], bool]] = {
    "of the new site's files": lambda path: path.name.startswith(".site-staging-"),
    "of the exchange": lambda path: path.name == "www",
    "of the report's page": lambda path: path.name == "file",
}


@pytest.mark.parametrize("dropped", FLUSHES)
def test_without_a_flush_some_power_cut_leaves_a_mixture_which_a_check_finds_and_a_night_heals(
    dropped: str, tmp_path: Path
) -> None:
    night = Night(tmp_path / "base", with_aside=False).build(FIRST)
    recording = _recorded(night, SECOND, lambda flush: FLUSHES[dropped](flush.path), samples=FEW)
    mixtures = _mixtures(recording, [*_whole(tmp_path, FIRST), *_whole(tmp_path, SECOND)])
    assert mixtures, "the model is blind to this flush"
    (healed,) = _whole(tmp_path, SECOND)[1:]
    for number, files in enumerate(mixtures[:: max(1, len(mixtures) // 3)]):
        cut = Night(tmp_path / f"cut{number}", with_aside=False)
        _write(cut.site, files)
        with pytest.raises((DamagedSite, SourceError)):
            require_sound(check_site(cut.site))
        if {".noctule-site", ".noctule-record"} & files.keys():  # else it is nobody's folder, and is refused
            assert cut.build(SECOND, nights=1).files() == healed


@pytest.mark.parametrize("dropped", ["nothing", "site"])
def test_a_night_that_has_ended_is_there_after_a_power_cut(dropped: str, tmp_path: Path) -> None:
    night = Night(tmp_path / "base").build(FIRST)
    recording = _recorded(night, SECOND, lambda flush: flush.path.name == dropped, samples=FEW)
    recording.cut_at_the_end()
    assert ([*map(_served, recording.trees())] == [night.files()]) == (dropped == "nothing")


def _write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_after_every_power_cut_the_next_night_is_whole_and_leaves_no_litter(tmp_path: Path) -> None:
    night = Night(tmp_path / "base").build(THIRD).build(FIRST)
    recording = _recorded(night, SECOND, keep=max(6, POWER_CUTS // 10))
    (whole,) = _whole(tmp_path, THIRD)[1:]
    for number, tree in enumerate(recording.kept):
        materialise(tree, tmp_path / f"cut{number}")
        after = Night(tmp_path / f"cut{number}").build(THIRD)
        assert after.files() == whole
        assert not check_site(after.site).faults
        assert [path.name for path in after.site.parent.iterdir()] == ["site"]


@pytest.mark.parametrize("later", [SECOND, THIRD], ids=["the same", "another"])
def test_a_power_cut_after_the_build_that_follows_a_kill_loses_nothing(
    later: TablesInMemory, tmp_path: Path
) -> None:
    """What the killed build did not flush, the next one must, before it removes what that has replaced."""
    counted = _recorded(Night(tmp_path / "counted", with_aside=False).build(FIRST), SECOND, samples=FEW)
    exchanged = counted.order.index("exchange") + 1
    wholes = [files for snapshot in (FIRST, SECOND, later) for files in _whole(tmp_path, snapshot)]
    for after in range(1, 4):
        night = Night(tmp_path / f"base{after}", with_aside=False).build(FIRST)
        recording = KilledOnce(night.base, exchanged + after, _is_served)
        with using(recording):
            with pytest.raises(Killed):
                night.build(SECOND)
            recording.revive()
            recording.seen.clear()
            night.build(later)
        assert not _mixtures(recording, wholes), after
        recording.cut_at_the_end()
        assert list(map(_served, recording.trees())) == [night.files()]
