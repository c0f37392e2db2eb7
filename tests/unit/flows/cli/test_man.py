"""The man page: made of the help, as it is installed, and sound roff."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from noctule.flows.cli.main import app
from noctule.flows.cli.man import man_page

PAGE = Path(__file__).resolve().parents[4] / "configs" / "noctule.1"


def test_the_page_that_is_installed_says_what_the_help_says() -> None:
    assert PAGE.read_text("utf-8") == man_page(app), "run: make man"


def test_every_command_and_flag_is_on_it_once() -> None:
    text = man_page(app)
    assert text.count(".SS serve\n") == 1 and text.count(r"\fB\-\-json\fP") == 1
    serve = text.partition(".SS serve\n")[2].partition(".SS ")[0]
    assert "\\fB\\-\\-port\\fP \\fIN\\fP\nThe port; 0 takes a free one. Default: 8000.\n" in serve
    assert re.search(r"^\.B 130\ninterrupted$", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_a_formatter_has_nothing_to_say_of_it() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", str(PAGE)]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""


def test_what_the_skill_for_agents_names_is_there() -> None:
    skill = (PAGE.parent / "SKILL.md").read_text("utf-8")
    text = man_page(app).replace("\\-", "-")
    named = re.findall(r"noctule ([a-z]+)", skill)
    assert {"search", "similar", "related", "trace"} <= set(named)
    for command in set(re.findall(r"`?noctule ([a-z]+) [-A-Z]", skill)):
        assert f".SS {command}\n" in text, command
    for flag in set(re.findall(r"--[a-z][a-z-]+", skill)):
        assert f"\\fB{flag}\\fP" in text, flag
