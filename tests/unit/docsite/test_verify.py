"""Whose turn it is to be read, and what a check says of files that noctule did not write."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.docsite.incremental import previous as record
from noctule.docsite.incremental.previous import PreviousSite, previous_site
from noctule.docsite.urls import MARKER, RECORD
from noctule.docsite.verify import check_site, require_sound, verified
from noctule.pipeline.errors import DamagedSite, SourceError, UnsupportedFormat
from noctule.pipeline.settings.site import Site
from tests.command_line import CommandLine
from tests.site_builder import snapshot_of

DAY_NS = 86_400 * 10**9
NOTES = {f"note-{number}.md": f"# Note {number}\n" for number in range(40)}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    build_site(snapshot_of({"notes": NOTES}), tmp_path / "site", Site())
    return tmp_path / "site"


def _spoil(path: Path) -> None:
    """Change a byte, and neither size nor time."""
    found, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _spoil_all(site: Path) -> set[str]:
    names = {name.replace(".md", ".html") for name in NOTES}
    for name in names:
        _spoil(site / name)
    return names


def _read(site: Path, monkeypatch: pytest.MonkeyPatch, nights: int, now_ns: int) -> set[str]:
    """The files that are read, if the last time was when the marker says."""
    read = set[str]()
    with monkeypatch.context() as patched, previous_site(site) as found:
        proves = PreviousSite.proves
        patched.setattr(
            PreviousSite, "proves", lambda self, known: read.add(known.path) or proves(self, known)
        )
        assert not verified(found, nights, now_ns).damaged
    return read


def _today(site: Path, days: int) -> int:
    """So many days after the last reading."""
    return (site / MARKER).stat().st_mtime_ns + days * DAY_NS


def test_every_file_has_its_turn_once_in_so_many_nights(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {path for path in _names(site) if path not in (MARKER, RECORD, "_report.html")}
    shares = []
    for night in range(1, 8):
        now = _today(site, 1)
        shares.append(_read(site, monkeypatch, 7, now))
        os.utime(site / MARKER, ns=(now, now))
        assert night < 2 or not shares[-1] & shares[-2]
    assert set.union(*shares) == files
    assert sum(map(len, shares)) == len(files)


def _names(site: Path) -> set[str]:
    return {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}


def test_nights_without_a_build_are_made_up_for_and_no_night_is_free(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = _read(site, monkeypatch, 1, _today(site, 0))
    assert (
        _read(site, monkeypatch, 7, _today(site, 7)) == every == _read(site, monkeypatch, 7, _today(site, 99))
    )
    two = _read(site, monkeypatch, 7, _today(site, 2))
    assert _read(site, monkeypatch, 7, _today(site, 1)) < two < every
    # A second build of the day, or a clock that was set back.
    assert 0 < len(_read(site, monkeypatch, 7, _today(site, 0))) < len(every)
    assert 0 < len(_read(site, monkeypatch, 7, _today(site, -30))) < len(every)
    assert not _read(site, monkeypatch, 0, _today(site, 99))


@pytest.mark.parametrize("text", ["", "More.\n"])
def test_a_build_says_when_it_read_and_what_it_healed(
    site: Path, monkeypatch: pytest.MonkeyPatch, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    names, later = _spoil_all(site), time.time_ns() + 5 * DAY_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    snapshot = snapshot_of({"notes": NOTES | {"note-1.md": NOTES["note-1.md"] + text}})
    result = build_site(snapshot, site, Site(verify_days=5))
    # A page that has another text tonight was damaged all the same.
    assert result.healed == len(names)
    assert f"{len(names)} damaged files of the site were rebuilt" in caplog.text
    assert (site / MARKER).stat().st_mtime_ns == later
    assert build_site(snapshot, site, Site(verify_days=1)).healed == 0


def test_a_night_without_a_change_reads_too_and_says_so(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time_ns() + DAY_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    snapshot, before = snapshot_of({"notes": NOTES}), site.stat().st_ino
    assert build_site(snapshot, site, Site()).written == 0 and site.stat().st_ino == before
    assert (site / MARKER).stat().st_mtime_ns == later


def test_how_often_files_are_read_shapes_no_file(site: Path) -> None:
    result = build_site(snapshot_of({"notes": NOTES}), site, Site(verify_days=3))
    assert result.written == 0


def test_files_of_an_owner_are_listed_and_no_fault(site: Path) -> None:
    for name in ("CNAME", ".nojekyll", "pictures/owl.png"):
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text("mine")
    (site / "more").symlink_to(site.parent)
    found = check_site(site)
    assert found.foreign == (".nojekyll", "CNAME", "more", "pictures/owl.png") and not found.faults
    assert found.as_dict()["sound"] and found.bytes == sum(
        (site / name).stat().st_size for name in _names(site) if name not in found.foreign
    )
    require_sound(found)


@pytest.mark.parametrize("name", ["_assets/more.js", "_tags/evil.html", "_communities/x/y.html"])
def test_a_file_where_only_noctule_writes_is_a_fault(site: Path, name: str) -> None:
    (site / name).parent.mkdir(parents=True, exist_ok=True)
    (site / name).write_text("strange")
    found = check_site(site)
    assert found.strange == (name,)
    with pytest.raises(DamagedSite, match="1 not the site's"):
        require_sound(found)


def test_a_name_that_is_no_text_is_shown_escaped(site: Path) -> None:
    (site / os.fsdecode(b"caf\xe9.html")).write_text("mine")
    assert check_site(site).foreign == ("caf\\xe9.html",)


def test_a_link_pipe_or_folder_in_a_files_place_is_damage(site: Path) -> None:
    first, second, third = (site / f"note-{number}.html" for number in (1, 2, 3))
    for path in (first, second, third):
        path.unlink()
    first.symlink_to(site / "note-4.html")
    os.mkfifo(second)
    third.mkdir()
    found = check_site(site)
    assert (set(found.damaged), found.missing) == ({first.name, second.name}, (third.name,))
    assert set(found.damaged.values()) == {"not a plain file"}


def test_a_file_with_another_time_is_sound(site: Path) -> None:
    for path in site.rglob("*.html"):
        os.utime(path)
    assert not check_site(site).faults


def test_a_folder_without_a_site_is_refused_and_so_is_an_older_record(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere", site / "index.html"):
        with pytest.raises(SourceError):
            check_site(folder)
    monkeypatch.setattr(record, "FORMAT", record.FORMAT + 1)
    record._unpacked.cache_clear()
    with pytest.raises(UnsupportedFormat) as caught:
        check_site(site)
    assert caught.value.hint == f"Rebuild every file: noctule site --full --out {site}"


def test_a_site_that_is_replaced_while_it_is_read_is_read_again(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def replaced(files: int) -> None:
        begun.append(files)
        if len(begun) == 1:
            build_site(snapshot_of({"notes": {"other.md": "# Other\n"}}), site, Site())

    found = check_site(site, replaced)
    assert len(begun) == 2 and not found.faults and found.files == begun[1] + 2


def test_the_command_says_what_is_wrong_and_what_to_do(site: Path, tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "no store")
    sound = command.run("check", "--site", str(site), "--json")
    assert (sound.code, sound.json["sound"], sound.json["damaged"]) == (0, True, {})
    _spoil(site / "note-1.html")
    (site / "note-2.html").unlink()
    (site / "CNAME").write_text("docs.example.org")
    told = command.run("check", "--site", str(site), "--json")
    assert (told.code, told.error["kind"], told.error["where"]) == (3, "DamagedSite", str(site))
    assert told.error["hint"].endswith(f"noctule site --full --out {site}")
    assert (list(told.json["damaged"]), told.json["missing"]) == (["note-1.html"], ["note-2.html"])
    assert told.json["foreign"] == ["CNAME"] and not told.json["sound"]
    text = command.run("check", "--site", str(site))
    assert "damaged: note-1.html: expected SHA-256" in text.out and "missing: note-2.html" in text.out
    assert "1 damaged, 1 missing" in text.err
    both = command.run("check", "--site", str(site), "--deep", "--json")
    assert (both.code, both.error["kind"]) == (2, "SettingsError")


def test_the_marker_is_json_that_others_may_read(site: Path) -> None:
    assert set(json.loads((site / MARKER).read_bytes())) == {"record", "snapshot"}
