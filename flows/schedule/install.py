"""Puts a schedule where the machine looks for it: systemd's folder of units, or the user's crontab."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...artifacts.disk import durable
from ...pipeline.errors import SettingsError
from . import units
from .units import Job

_SYSTEM_UNITS = Path("/etc/systemd/system")
_BOOTED = Path("/run/systemd/system")
_LIMIT_S = 60
# As cron of every kind says that a user has none.
_NO_CRONTAB = re.compile(r"no crontab|no such file", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Installed:
    """What was written, and what the user may still have to do."""

    files: tuple[str, ...]
    notes: tuple[str, ...]


def has_systemd() -> bool:
    """Return whether this machine was started by systemd and has its command."""
    return _BOOTED.is_dir() and shutil.which("systemctl") is not None


def install_units(job: Job, folder: Path | None = None) -> Installed:
    """Write the service and the timer into systemd's folder (or ``folder``) and enable them.

    For root it is the machine's folder; for others the user's own, whose units run only while the user is
    logged in or lingers. Raises ``SettingsError``.
    """
    is_root = os.geteuid() == 0
    target = folder or (_SYSTEM_UNITS if is_root else Path.home() / ".config" / "systemd" / "user")
    durable.make_directory(target)
    paths = [target / f"{job.name}.service", target / f"{job.name}.timer"]
    for path in paths:
        _require_ours(path)
    for path, text in zip(paths, (units.service(job), units.timer(job)), strict=True):
        durable.replace_file(path, text.encode())
    scope = () if is_root else ("--user",)
    notes = () if is_root else ("To run while you are logged out: loginctl enable-linger",)
    files = tuple(map(str, paths))
    if not has_systemd():
        note = f"systemd does not run here: enable it where it does, systemctl enable --now {job.name}.timer"
        return Installed(files, (note,))
    for arguments in (("daemon-reload",), ("enable", "--now", f"{job.name}.timer")):
        _run(("systemctl", *scope, *arguments))
    return Installed(files, notes)


def install_crontab(job: Job) -> Installed:
    """Write the job's line into the user's crontab in place of its earlier one; raises ``SettingsError``."""
    if shutil.which("crontab") is None:
        raise SettingsError(
            "there is no crontab command on this machine",
            where="--install",
            hint="Without --install the lines are printed, to be put where your scheduler looks for them.",
        )
    listed = _done(("crontab", "-l"))
    # Without a crontab it fails, and says so; after any other failure its lines would be lost.
    if listed.returncode and not _NO_CRONTAB.search(listed.stderr):
        raise SettingsError(
            f"the existing crontab cannot be read: {listed.stderr.strip()[:300] or listed.returncode}",
            where="crontab -l",
            hint="Nothing was changed. Without --install the lines are printed.",
        )
    existing = listed.stdout if listed.returncode == 0 else ""
    _run(("crontab", "-"), units.merged_crontab(existing, job))
    note = "A night in which the machine was off is not made up for: the next night does its work."
    return Installed(("crontab",), (note,))


def _require_ours(path: Path) -> None:
    """Raise ``SettingsError`` if the path holds anything that no earlier ``noctule schedule`` wrote."""
    try:
        there = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return
    if units.MADE not in there:
        raise SettingsError(
            "a unit of this name exists that noctule schedule did not write",
            where=str(path),
            hint="Choose another --name, or move that file away.",
        )


def _run(command: Sequence[str], given: str | None = None) -> None:
    done = _done(command, given)
    if done.returncode:
        raise SettingsError(
            f"{command[0]} refused: {done.stderr.strip()[:300] or done.returncode}",
            where=" ".join(command),
            hint="The files are written. Once that is fixed, run the command by hand.",
        )


def _done(command: Sequence[str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SettingsError(
            f"{command[0]} does not work: {error}", where=" ".join(command), hint="Run it by hand."
        ) from error
