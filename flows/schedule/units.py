"""The nightly run as a systemd service and timer, or as a line of a crontab."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from ...pipeline.errors import SettingsError
from .cron import Cron

# What tells our files from others of the same name.
MADE = "Made by noctule schedule"
_STOP_SECONDS = 180
_LOOPBACK_ONLY = "# Nothing but loopback is needed.\nIPAddressDeny=any\nIPAddressAllow=localhost\n"


@dataclass(frozen=True, slots=True)
class Job:
    """What is to run when: a command in a folder, at the times of a cron expression.

    ``leaves_machine``: it publishes to an address, say, so other machines must be reachable.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    cron: Cron
    zone: str = ""
    max_hours: float = 6.0
    leaves_machine: bool = False


def service(job: Job) -> str:
    """Return the service's unit file: ``exec``, for a ``oneshot`` service has no ``RuntimeMaxSec``."""
    return f"""# {job.name}.service: one nightly run of noctule. {MADE}; what it did: journalctl -u {job.name}

[Unit]
Description=noctule: index the documents and build the site ({job.name})

[Service]
Type=exec
WorkingDirectory={_escaped(str(job.folder))}
ExecStart={_command(job.command)}
# Another run holds the lock: that run does the work.
SuccessExitStatus=4
# The stop signal goes to the main process, which ends its own helpers; \
what is left after {_STOP_SECONDS} s is killed.
KillMode=mixed
TimeoutStopSec={_STOP_SECONDS}
RuntimeMaxSec={round(job.max_hours * 3600)}
Nice=10
{"" if job.leaves_machine else _LOOPBACK_ONLY}NoNewPrivileges=true
"""


def timer(job: Job) -> str:
    """Return the timer's unit file: missed times, however many, are made up for by one run."""
    times = "\n".join(f"OnCalendar={time}" for time in job.cron.on_calendar(job.zone))
    return f"""# {job.name}.timer: when {job.name}.service runs. {MADE}; cron: {job.cron.text}

[Unit]
Description=noctule every night ({job.name})

[Timer]
{times}
Persistent=true
AccuracySec=1min

[Install]
WantedBy=timers.target
"""


def mark(job: Job) -> str:
    """Return the comment that tells our line of a crontab from others."""
    return f"# noctule schedule: {job.name}"


def crontab_lines(job: Job) -> tuple[str, str]:
    """Return a comment and the entry; raises ``SettingsError`` for what a crontab cannot say."""
    if job.zone:
        raise SettingsError(
            "a crontab has no time zones: it uses the machine's",
            where=f"--timezone {job.zone}",
            hint="Leave it out, or use a systemd timer: --as systemd",
        )
    command = f"cd {shlex.quote(str(job.folder))} && {shlex.join(job.command)}"
    if "\n" in command:
        raise SettingsError(
            "a path contains a line break, which is not possible in a crontab",
            where=command,
            hint="Rename it.",
        )
    # A percent sign ends the command in a crontab, quotes or not.
    return mark(job), f"{job.cron.text} {command}".replace("%", "\\%")


def merged_crontab(existing: str, job: Job) -> str:
    """Return the crontab with this job's lines in place of its earlier ones."""
    comment, entry = crontab_lines(job)
    lines = existing.splitlines()
    kept = [
        line for at, line in enumerate(lines) if line != comment and (at == 0 or lines[at - 1] != comment)
    ]
    return "\n".join([*kept, comment, entry]) + "\n"


def _command(parts: tuple[str, ...]) -> str:
    """Return a command as ExecStart reads it: $ begins a variable in its arguments, not in its program."""
    program, *arguments = parts
    return " ".join([_quoted(program), *(_quoted(part).replace("$", "$$") for part in arguments)])


def _quoted(part: str) -> str:
    escaped = _escaped(part).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if not escaped or set(escaped) & set(" \t'\";\\") else escaped


def _escaped(path: str) -> str:
    if "\n" in path or path.endswith("\\"):
        raise SettingsError(
            "a path contains a line break or ends in a backslash, which is not possible in a unit file",
            where=path,
            hint="Rename it.",
        )
    return path.replace("%", "%%")
