"""What ``noctule schedule`` prints and installs without a Prefect server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from noctule.flows.schedule import install, units
from noctule.flows.schedule.cron import parse_cron
from noctule.flows.schedule.units import Job
from noctule.pipeline.errors import SettingsError
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


def test_other_machines_are_reached_where_a_night_needs_them_and_nowhere_else() -> None:
    assert "IPAddressDeny=any" in units.service(_job())
    assert "IPAddress" not in units.service(_job(leaves_machine=True))


def test_a_dollar_in_the_programs_path_stays_as_it_is() -> None:
    lines = units.service(_job(command=("/opt/a$b/noctule", "$HOME"))).split("\n")
    assert "ExecStart=/opt/a$b/noctule $$HOME" in lines


@pytest.mark.parametrize("folder", ["/srv/a\nb", "/srv/a\\"])
def test_a_path_that_a_unit_file_cannot_say_is_refused(folder: str) -> None:
    with pytest.raises(SettingsError, match="line break or ends in a backslash"):
        units.service(_job(folder=Path(folder)))


def test_a_unit_of_somebody_elses_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "docs.service").write_text("[Service]\nExecStart=/usr/bin/backup\n")
    with pytest.raises(SettingsError, match="that noctule schedule did not write"):
        install.install_units(_job(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs.service"]


@pytest.mark.skipif(install.has_systemd(), reason="it would be switched on")
def test_units_of_our_own_are_replaced(tmp_path: Path) -> None:
    for hour in (2, 3):
        install.install_units(_job(cron=parse_cron(f"0 {hour} * * *")), tmp_path)
    assert "03:00:00" in (tmp_path / "docs.timer").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
def test_systemd_accepts_both_files(tmp_path: Path) -> None:
    job = _job(command=("/usr/bin/true", "a b", '"', "%"), cron=parse_cron("*/20 2 1 * mon"))
    install.install_units(job, tmp_path) if not install.has_systemd() else None
    for name, text in (("docs.service", units.service(job)), ("docs.timer", units.timer(job))):
        (tmp_path / name).write_text(text)
    files = (str(tmp_path / "docs.timer"), str(tmp_path / "docs.service"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files],
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


_CRONTAB = """#!/bin/sh
if [ "$1" != -l ]; then cat > "$CRONTAB_FILE"
elif [ -n "$CRONTAB_SAYS" ]; then echo "$CRONTAB_SAYS" >&2; exit 1
else cat "$CRONTAB_FILE"; fi
"""


def _with_crontab(folder: Path, says: str = "") -> tuple[CommandLine, Path]:
    """The command line beside a cron with a line of its own; ``says`` is what it refuses to list with."""
    (folder / "bin").mkdir()
    (folder / "bin" / "crontab").write_text(_CRONTAB)
    (folder / "bin" / "crontab").chmod(0o755)
    (folder / "noctule.toml").write_text('[collections.docs]\nroot = "docs"\n')
    table = folder / "table"
    table.write_text("5 5 * * * backup\n")
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    extra = {"PATH": path, "CRONTAB_FILE": str(table), "CRONTAB_SAYS": says}
    return CommandLine(folder, folder / "store", extra), table


def test_a_crontab_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    command, table = _with_crontab(tmp_path, "crontab: /var/spool/cron: Input/output error")
    refused = command.run("schedule", "--as", "crontab", "--install", "--json")
    assert (refused.code, refused.error["kind"]) == (2, "SettingsError")
    assert "Input/output error" in refused.error["what"]
    assert table.read_text() == "5 5 * * * backup\n"


def test_a_user_without_a_crontab_gets_one(tmp_path: Path) -> None:
    command, table = _with_crontab(tmp_path, "no crontab for owl")
    assert command.run("schedule", "--as", "crontab", "--install").code == 0
    assert table.read_text().startswith("# noctule schedule: noctule\n")


def test_install_writes_the_users_crontab_once(tmp_path: Path) -> None:
    command, table = _with_crontab(tmp_path)
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
    nothing = command.run("schedule", "--as", "systemd", "--json")
    assert (nothing.code, nothing.error["what"]) == (2, "no folder of documents is named")
    (tmp_path / "noctule.toml").write_text('[collections.docs]\nroot = "docs"\n')
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


@pytest.mark.parametrize(
    "given",
    [
        '[collections.docs]\nroot = "docs"\n[publish]\ntargets = ["s3://bucket/docs"]\n',
        '[collections.docs]\nroot = "s3://bucket/docs"\n',
    ],
)
def test_a_night_that_publishes_or_reads_elsewhere_may_reach_it(tmp_path: Path, given: str) -> None:
    (tmp_path / "noctule.toml").write_text(given)
    printed = CommandLine(tmp_path, tmp_path / "store").run("schedule", "--as", "systemd", "--json").json
    assert "IPAddress" not in printed["units"]["noctule.service"]


def test_a_store_elsewhere_cannot_be_built_in_every_night(tmp_path: Path) -> None:
    (tmp_path / "noctule.toml").write_text('[collections.docs]\nroot = "docs"\n')
    refused = CommandLine(tmp_path, tmp_path / "store").run(
        "schedule", "--as", "systemd", "--store", "s3://bucket/docs", "--json"
    )
    assert refused.code == 2, refused.err
