"""The man page, made of the help of all commands: ``make man`` writes it to ``configs/noctule.1``."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import typer

_SAFE = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})
_EXIT_CODE = re.compile(r"(\d+) ([^,]+)")


def man_page(app: typer.Typer) -> str:
    """Return the man page of a program, as roff."""
    program: Any = typer.main.get_command(app)
    begin, _, codes = (program.epilog or "").partition("Exit codes: ")
    commands = list(program.commands.values())
    shared = _shared(commands)
    lines = [
        f'.TH {program.name.upper()} 1 "" "" "User commands"',
        *_section("NAME", f"{program.name} \\- {_text(program.help.rstrip('.'))}"),
        *_section("SYNOPSIS", f".B {program.name}", r"\fICOMMAND\fP [\fIOPTION\fP]... [\fIARGUMENT\fP]..."),
        *_section("DESCRIPTION", _text(" ".join(begin.split()))),
        *_section("OPTIONS", *_options(program.params)),
        *_section("OPTIONS OF EVERY COMMAND", *_options(shared.values())),
        ".SH COMMANDS",
        *(line for command in commands for line in _command(command, shared)),
        ".SH EXIT STATUS",
    ]
    for number, meaning in _EXIT_CODE.findall(" ".join(codes.split())):
        lines += [".TP", f".B {number}", _text(meaning.rstrip("."))]
    return "\n".join(lines) + "\n"


def _section(title: str, *lines: str) -> list[str]:
    return [f".SH {title}", *lines]


def _shared(commands: Sequence[Any]) -> dict[str, Any]:
    """Return the options that all commands have, by their text on the page."""
    found = [{"\n".join(_options([each])): each for each in command.params} for command in commands]
    return {text: each for text, each in found[0].items() if text and all(text in other for other in found)}


def _command(command: Any, shared: Container[str]) -> Iterator[str]:
    """Yield a command's part: how it is called, what it does, its examples, and its own options."""
    given = [each for each in command.params if each.param_type_name == "argument"]
    names = " ".join(rf"[\fI{_text(each.metavar or each.name.upper())}\fP]" for each in given)
    yield f".SS {command.name}"
    yield rf"\fBnoctule {_text(command.name)}\fP [\fIOPTION\fP]... {names}".rstrip()
    for paragraph in (command.help or "").split("\n\n"):
        yield ".PP"
        yield _text(" ".join(paragraph.split()))
    yield from _options(each for each in command.params if "\n".join(_options([each])) not in shared)


def _options(parameters: Iterable[Any]) -> Iterator[str]:
    for each in parameters:
        if each.hidden or not each.help:
            continue
        yield ".TP"
        yield _names(each)
        default = f" Default: {each.show_default}." if isinstance(each.show_default, str) else ""
        yield _text(" ".join(each.help.split()) + default)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return rf"\fI{_text(parameter.metavar or parameter.name.upper())}\fP"
    value = "" if parameter.is_flag else rf" \fI{_text(parameter.metavar or parameter.name.upper())}\fP"
    names = (*parameter.opts, *parameter.secondary_opts)
    return ", ".join(rf"\fB{_text(name)}\fP" for name in names) + value


def _text(text: str) -> str:
    """Return a text that roff prints as it is."""
    safe = text.translate(_SAFE)
    return rf"\&{safe}" if safe.startswith(".") else safe


if __name__ == "__main__":
    from .main import app

    print(man_page(app), end="")
