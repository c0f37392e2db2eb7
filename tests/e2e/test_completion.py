"""Completion in the shell: the scripts are printed, and they complete what the command line has."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_COMMAND = [sys.executable, "-m", "noctule.flows.cli.main"]


def _run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [*_COMMAND, *arguments], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    script = _run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert f"_NOCTULE_COMPLETE=complete_{shell}" in script


def test_the_name_of_a_command_is_completed() -> None:
    found = _run(_NOCTULE_COMPLETE="complete_bash", COMP_WORDS="noctule ser", COMP_CWORD="1")
    assert found.split() == ["serve"]
