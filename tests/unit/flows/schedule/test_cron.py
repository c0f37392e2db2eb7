"""Cron expressions are said in systemd's words or refused, and never guessed."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.flows.schedule.cron import Cron, parse_cron
from noctule.pipeline.errors import SettingsError


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 2 * * *", ("*-*-* 02:00:00",)),
        ("*/15 * * * *", ("*-*-* *:00,15,30,45:00",)),
        ("30 1 * * mon-fri", ("Mon,Tue,Wed,Thu,Fri *-*-* 01:30:00",)),
        ("0 0 1 1,7 *", ("*-01,07-01 00:00:00",)),
        ("0 4 * * 7", ("Sun *-*-* 04:00:00",)),
        ("5-20/5 3 * * *", ("*-*-* 03:05,10,15,20:00",)),
        ("@daily", ("*-*-* 00:00:00",)),
        ("0 2 1 * mon", ("Mon *-*-* 02:00:00", "*-*-01 02:00:00")),
    ],
)
def test_the_same_times_in_the_words_of_systemd(expression: str, expected: tuple[str, ...]) -> None:
    assert parse_cron(expression).on_calendar() == expected


@pytest.mark.parametrize("expression", ["0 2 *,5 * 1", "0 2 1 * */2"])
def test_a_star_with_more_beside_another_day_is_refused(expression: str) -> None:
    with pytest.raises(SettingsError, match="some crons run on either, some on both"):
        parse_cron(expression)


def test_a_time_zone_is_said_with_each_time() -> None:
    assert parse_cron("0 2 * * *").on_calendar("Europe/Berlin") == ("*-*-* 02:00:00 Europe/Berlin",)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "5 fields"),
        ("0 2 * *", "has 4"),
        ("0 0 2 * * *", "has 6"),
        ("60 2 * * *", "minute is 60"),
        ("0 24 * * *", "hour is 24"),
        ("0 2 0 * *", "day of month is 0"),
        ("0 2 * 13 *", "month is 13"),
        ("0 2 * * 8", "day of week is 8"),
        ("0 2 * * tuesday", "tuesday"),
        ("0 22-2 * * *", "backwards"),
        ("0/5 2 * * *", "a step and no range"),
        ("*/0 2 * * *", "step of 0"),
        ("0 2 L * *", "not a number"),
        ("0 2 * * mon#1", "not a number"),
        ("0 2 31 2 *", "would never run"),
        ("0 2 31 4,6 *", "would never run"),
        ("0 2 */2 * mon", "some crons run on either"),
        ("@reboot", "not a time of day"),
    ],
)
def test_what_is_wrong_or_read_differently_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason.replace("*", r"\*")) as caught:
        parse_cron(expression)
    assert caught.value.hint


def _runs(cron: Cron, at: datetime) -> bool:
    """Whether cron runs in this minute, by its manual: on either day where both are given."""
    days = [
        (cron.day.free, at.day in cron.day.values),
        (cron.weekday.free, at.isoweekday() % 7 in cron.weekday.values),
    ]
    given_days = [matches for free, matches in days if not free]
    in_time = (
        at.minute in cron.minute.values and at.hour in cron.hour.values and at.month in cron.month.values
    )
    return in_time and (any(given_days) if given_days else True)


def _next(cron: Cron, after: datetime) -> datetime:
    at = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while not _runs(cron, at):
        at += timedelta(minutes=1)
    return at


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
@settings(max_examples=15)
@given(
    st.builds(
        " ".join,
        st.tuples(
            st.sampled_from(["0", "*/20", "5,50", "10-12"]),
            st.sampled_from(["2", "*", "0-6/3", "23"]),
            st.sampled_from(["*", "1", "10-14", "28,30"]),
            st.sampled_from(["*", "jan", "2,11,12"]),
            st.sampled_from(["*", "mon", "5-7", "0"]),
        ),
    )
)
def test_systemd_itself_runs_next_when_cron_would(expression: str) -> None:
    cron, base = parse_cron(expression), datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    nexts = []
    for line in cron.on_calendar("UTC"):
        done = subprocess.run(
            ["systemd-analyze", "calendar", f"--base-time={base:%Y-%m-%d %H:%M:%S} UTC", line],
            capture_output=True, text=True, check=True,
            env={"TZ": "UTC", "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )  # fmt: skip
        (said,) = [each for each in done.stdout.split("\n") if "Next elapse:" in each]
        nexts.append(datetime.strptime(said.split(": ", 1)[1].strip(), "%a %Y-%m-%d %H:%M:%S UTC"))
    assert min(nexts).replace(tzinfo=UTC) == _next(cron, base)
