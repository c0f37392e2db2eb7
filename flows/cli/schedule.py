"""The command ``schedule``: the nightly run at times that a cron expression gives."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ...pipeline.errors import SettingsError
from . import output
from .flags import Flags
from .runs import Out, path_text, request_of

if TYPE_CHECKING:
    from ...pipeline.settings.settings import Settings
    from ..schedule.units import Job

Form = Literal["auto", "prefect", "systemd", "crontab"]


@dataclass(frozen=True, slots=True)
class ScheduleFlags:
    """When the nightly run begins, under which name, and when it is stopped."""

    cron: Annotated[
        str, typer.Option("--cron", metavar="EXPRESSION", help="When to run: minute hour day month weekday.")
    ] = "0 2 * * *"
    name: Annotated[str, typer.Option("--name", help="A name, to distinguish several schedules.")] = "noctule"
    out: Out = Path("public")
    timezone: Annotated[
        str,
        typer.Option(
            "--timezone", metavar="ZONE", help="Such as Europe/Berlin. By default the machine's own."
        ),
    ] = ""
    max_hours: Annotated[
        float, typer.Option("--max-hours", min=0.1, help="Stop a run that takes longer (systemd).")
    ] = 6.0


def schedule(
    flags: Flags,
    given: ScheduleFlags,
    form: Annotated[
        Form,
        typer.Option(
            "--as", help="auto: prefect if PREFECT_API_URL names a server, else what the machine has."
        ),
    ] = "auto",
    install: Annotated[
        bool, typer.Option("--install", help="Install and enable it, in systemd or cron.")
    ] = False,
) -> None:
    """Schedule nightly runs: serve to a Prefect server, or print or install a systemd timer or crontab line.

    Examples: noctule schedule --cron "0 2 * * *" ; noctule schedule --cron "30 1 * * mon-fri" --install
    """
    job = _job(flags, given)
    chosen = _chosen(form)
    if chosen == "prefect":
        _serve(job, flags, given.out, install=install)
    elif install:
        _install(job, chosen, flags)
    else:
        _print(job, chosen, flags)


def _job(flags: Flags, given: ScheduleFlags) -> Job:
    from ..schedule.cron import parse_cron
    from ..schedule.units import Job

    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", given.name):
        what = "a schedule's name is lower-case letters, digits, - and _"
        raise SettingsError(what, where=f"--name {given.name}", hint="For instance: docs")
    _require_zone(given.timezone)
    settings = request_of(flags).settings()  # what is wrong with them is said now, not in the night
    flags.open_store().require_own()
    return Job(
        given.name,
        _nightly(flags, given.out),
        Path.cwd(),
        parse_cron(given.cron),
        given.timezone,
        given.max_hours,
        leaves_machine=_leaves_machine(settings),
    )


def _nightly(flags: Flags, out: Path) -> tuple[str, ...]:
    """Return the command that the schedule runs."""
    request = request_of(flags)
    config = ("--config", str(request.config)) if request.config else ()
    places = ("--store", str(request.store), "--out", str(out.absolute()))
    return (*_program(), "nightly", *config, *places, "--quiet")


def _leaves_machine(settings: Settings) -> bool:
    """Return whether a nightly run has to reach other machines."""
    from ...pipeline.filesystems.opening import is_address

    return bool(
        settings.engine.address
        or settings.embed.allow_download
        or any(is_address(target) for target in settings.publish.targets)
        or any(is_address(collection.root) for collection in settings.collections.values())
    )


def _program() -> tuple[str, ...]:
    """Return how this very noctule is started: by the script beside its Python, else as a module."""
    script = Path(sys.executable).with_name("noctule")
    if script.is_file():
        return (str(script),)
    found_by = os.environ.get("PYTHONPATH", "")
    way = ("/usr/bin/env", f"PYTHONPATH={found_by}") if found_by else ()
    return (*way, sys.executable, "-m", "noctule.flows.cli.main")


def _require_zone(zone: str) -> None:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(zone or "UTC")
    except (OSError, ValueError, KeyError):
        what, hint = "there is no such time zone", "For instance: Europe/Berlin, or UTC"
        raise SettingsError(what, where=f"--timezone {zone}", hint=hint) from None


def _chosen(form: Form) -> Form:
    if form != "auto":
        return form
    if os.environ.get("PREFECT_API_URL"):
        return "prefect"
    return "systemd" if shutil.which("systemctl") or not shutil.which("crontab") else "crontab"


def _serve(job: Job, flags: Flags, out: Path, *, install: bool) -> None:
    if install or not os.environ.get("PREFECT_API_URL"):
        raise SettingsError(
            "a Prefect schedule is served by a process that keeps running; there is nothing to install"
            if install
            else "there is no Prefect server to serve to",
            where="--install" if install else "PREFECT_API_URL",
            hint="Without a server: noctule schedule --as systemd. "
            "With one, run this under your service manager.",
        )
    from ..prefect_server.private import prefect_api

    request = request_of(flags)
    parameters: dict[str, object] = {"config": path_text(request.config), "store": str(request.store)}
    parameters["out"] = str(out.absolute())
    with prefect_api(flags.store) as url:
        from ..schedule.serve import NightlyDeployment, serve

        told = {"served": f"nightly/{job.name}", "cron": job.cron.text, "timezone": job.zone, "server": url}
        serving = f"Serving nightly/{job.name} to {url}: {job.cron.text}. Ctrl-C ends it; the schedule stays."
        if flags.as_json:
            output.emit(told)
        else:
            output.say(serving)
        sys.stdout.flush()
        serve(NightlyDeployment(job.name, job.cron.text, job.zone, parameters))


def _print(job: Job, form: Form, flags: Flags) -> None:
    from ..schedule import units

    if form == "crontab":
        lines = "\n".join(units.crontab_lines(job))
        if flags.as_json:
            output.emit({"crontab": lines})
        else:
            output.say(lines)
        return
    files = {f"{job.name}.service": units.service(job), f"{job.name}.timer": units.timer(job)}
    if flags.as_json:
        output.emit({"units": files, "on_calendar": list(job.cron.on_calendar(job.zone))})
        return
    for text in files.values():
        output.say(text)
    output.say("# To install the units and start the timer: noctule schedule … --install")


def _install(job: Job, form: Form, flags: Flags) -> None:
    from ..schedule.install import install_crontab, install_units

    done = install_crontab(job) if form == "crontab" else install_units(job)
    if flags.as_json:
        output.emit({"files": list(done.files), "notes": list(done.notes)})
        return
    for line in (*(f"wrote {file}" for file in done.files), *done.notes):
        output.say(line)
