"""What ``noctule schedule`` prints and installs without a Prefect server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from flows import install, units
from flows.cron import parse_cron
from flows.units import Job
from pipeline.errors import SettingsError
from tests.command_line import CommandLine


def _job(**changes: object) -> Job:
    given: dict[str, object] = {
        "name": "docs",
        "command": ("/usr/bin/true", "nightly", "--out", "/srv/my docs/100%/$HOME"),
        "folder": Path("/srv"),
        "cron": parse_cron("0 2 * * *"),
    }
    return Job(**(given | changes))  # type: ignore[arg-type]


def test_the_service_leaves_nothing_behind_and_has_an_end() -> None:
    lines = units.service(_job(max_hours=2.5)).split("\n")
    assert {"Type=exec", "KillMode=mixed", "RuntimeMaxSec=9000", "SuccessExitStatus=4"} <= set(lines)
    assert 'ExecStart=/usr/bin/true nightly --out "/srv/my docs/100%%/$$HOME"' in lines


def test_the_timer_makes_up_for_missed_nights() -> None:
    lines = units.timer(_job(zone="Europe/Berlin")).split("\n")
    assert {"OnCalendar=*-*-* 02:00:00 Europe/Berlin", "Persistent=true"} <= set(lines)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
def test_systemd_accepts_both_files(tmp_path: Path) -> None:
    job = _job(command=("/usr/bin/true", "a b", '"', "%"), cron=parse_cron("*/20 2 1 * mon"))
    install.install_units(job, tmp_path) if not install.has_systemd() else None
    for name, text in (("docs.service", units.service(job)), ("docs.timer", units.timer(job))):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "docs.timer"), str(tmp_path / "docs.service")],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    ours = [line for line in done.stderr.split("\n") if "docs." in line]
    assert ours == [], done.stderr


def test_a_crontab_line_keeps_quotes_and_percent_signs() -> None:
    comment, entry = units.crontab_lines(_job())
    assert comment == "# noctule schedule: docs"
    assert entry == "0 2 * * * cd /srv && /usr/bin/true nightly --out '/srv/my docs/100\\%/$HOME'"


def test_a_crontab_cannot_say_a_time_zone() -> None:
    with pytest.raises(SettingsError, match="time zones"):
        units.crontab_lines(_job(zone="Europe/Berlin"))


def test_a_job_takes_the_place_of_its_earlier_line_and_of_no_other() -> None:
    mine = "\n".join(units.crontab_lines(_job(cron=parse_cron("0 1 * * *"))))
    existing = f"MAILTO=me\n{mine}\n5 5 * * * backup\n"
    merged = units.merged_crontab(existing, _job())
    assert merged.startswith("MAILTO=me\n5 5 * * * backup\n# noctule schedule: docs\n0 2 * * * cd /srv")
    assert units.merged_crontab(merged, _job()) == merged


def test_a_line_break_in_a_path_is_refused() -> None:
    with pytest.raises(SettingsError, match="line break"):
        units.service(_job(folder=Path("/srv/a\nb")))


_CRONTAB = """#!/bin/sh
if [ "$1" = -l ]; then cat "$CRONTAB_FILE" 2>/dev/null || exit 1; else cat > "$CRONTAB_FILE"; fi
"""


def test_install_writes_the_users_crontab_once(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "crontab").write_text(_CRONTAB)
    (tmp_path / "bin" / "crontab").chmod(0o755)
    table = tmp_path / "table"
    table.write_text("5 5 * * * backup\n")
    extra = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "CRONTAB_FILE": str(table)}
    command = CommandLine(tmp_path, tmp_path / "store", extra)
    for cron in ("0 1 * * *", "0 2 * * *"):
        done = command.run("schedule", "--cron", cron, "--as", "crontab", "--install")
        assert done.code == 0, done.err
    lines = table.read_text().split("\n")
    assert lines[:2] == ["5 5 * * * backup", "# noctule schedule: noctule"]
    assert lines[2].startswith("0 2 * * * cd ")
    assert " nightly " in lines[2]
    assert len(lines) == 4


def test_the_command_prints_units_and_refuses_what_is_wrong(tmp_path: Path) -> None:
    command = CommandLine(tmp_path, tmp_path / "store")
    printed = command.run("schedule", "--cron", "15 2 * * *", "--as", "systemd", "--json").json
    assert sorted(printed["units"]) == ["noctule.service", "noctule.timer"]
    assert printed["on_calendar"] == ["*-*-* 02:15:00"]
    for wrong in (
        ["--cron", "0 2 * *"],
        ["--timezone", "Mars/Olympus"],
        ["--name", "A b"],
        ["--as", "prefect"],
    ):
        refused = command.run("schedule", *wrong, "--json")
        assert (refused.code, refused.error["kind"]) == (2, "SettingsError")
