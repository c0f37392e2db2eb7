"""What pages tell a reader to type is accepted: commands, settings, paths, and the kinds of errors."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import tomllib
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer.main
from pydantic import BaseModel
from rich.text import Text

from noctule.flows.cli.main import app
from noctule.pipeline import errors
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
GROUP = typer.main.get_command(app)
COMMANDS: dict[str, click.Command] = vars(GROUP)["commands"]
_FENCE = re.compile(
    r"^(?P<indent>(?:> ?)? *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.S | re.M
)
_FILE_ENDINGS = {"css", "csv", "faiss", "html", "js", "json", "md", "parquet", "py", "toml", "yml"}
_PACKAGES = ("pipeline", "artifacts", "site/docsite", "server", "flows")
_TABLES = set(Settings.model_fields)
# The example of the walk, which the reader makes.
_MADE = {"pipeline/parse/subtitles/parser.py", "tests/unit/pipeline/parse/test_subtitles.py"}
# A program's own, not of the module that lists the others.
_PROGRAM = {"Bug", "OutOfMemory", "Stopped"}


@cache
def _pages() -> dict[str, str]:
    """The pages that say how things are; decisions say how they were."""
    paths = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in paths
        if path.parent.name != "decisions"
    }


def _blocks(*languages: str) -> Iterator[tuple[str, str]]:
    for page, text in _pages().items():
        for found in _FENCE.finditer(text):
            if found["language"] in languages:
                yield page, re.sub(rf"(?m)^{re.escape(found['indent'])}", "", found["code"])


def _command_lines() -> Iterator[tuple[str, str]]:
    for page, code in _blocks("bash", "console"):
        for line in code.replace("\\\n", " ").splitlines():
            if found := re.match(r"(?:\$ )?(noctule [a-z].*)", line):
                yield page, found[1]


def _arguments(line: str) -> list[str]:
    """The words of a command up to what the shell takes: a pipe, another command, a file for the output."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    words.whitespace_split, words.commenters = True, "#"
    return list(iter(words.get_token, None))[1:]


def _fault(arguments: list[str]) -> str:
    end = next((at for at, word in enumerate(arguments) if set(word) <= set("|&;<>")), len(arguments))
    name, *given = arguments[:end]
    if name not in COMMANDS:
        return "no such command"
    try:
        COMMANDS[name].make_context(name, [*given])
    except Exception as error:  # those of typer have no base in common with click's
        return "" if type(error).__name__ == "Exit" else str(error)  # after --help
    return ""


def test_every_command_line_of_the_pages_is_accepted() -> None:
    lines = list(_command_lines())
    assert len(lines) > 150
    faults = [(page, line, _fault(_arguments(line))) for page, line in lines]
    assert [each for each in faults if each[2]] == []


def test_every_settings_file_of_the_pages_is_accepted() -> None:
    read = 0
    for page, code in _blocks("toml"):
        given = tomllib.loads(code)
        if set(given) <= _TABLES:
            for collection in given.get("collections", {}).values():
                collection.setdefault("root", ".")
            reading.parse(given, where=page)
            read += 1
    assert read > 50


def _is_setting(key: str) -> bool:
    """Whether there is a setting of this name, where an owner may name collections and the like."""
    model: type[BaseModel] | None = Settings
    for name in key.split("."):
        if model is None:
            return False
        if name in model.model_fields:
            model = _model_in(model.model_fields[name].annotation)
        elif model is not Collection:
            return False
    return True


def _model_in(annotation: object) -> type[BaseModel] | None:
    parts = (annotation, *typing.get_args(annotation))
    return next((each for each in parts if inspect.isclass(each) and issubclass(each, BaseModel)), None)


def test_every_setting_that_pages_name_exists() -> None:
    named = {
        (page, key)
        for page, text in _pages().items()
        for key in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", _FENCE.sub("", text))
        if key.partition(".")[0] in _TABLES and key.rpartition(".")[2] not in _FILE_ENDINGS
    }
    assert len(named) > 50
    assert sorted((page, key) for page, key in named if not _is_setting(key)) == []


def test_every_path_that_the_walks_name_exists() -> None:
    text = _FENCE.sub("", _pages()["CONTRIBUTING.md"])
    named = set(re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?)`", text))
    assert len(named) > 40
    roots = (ROOT, ROOT / "site/docsite", ROOT / "pipeline/parse")
    assert sorted(path for path in named - _MADE if not any((root / path).exists() for root in roots)) == []
    examples = re.findall(r"`(tests/[\w/]+/)(?:\w+\.py)?`(?:(?!\n\d\.).)*?as\s+`(test_\w+\.py)`", text, re.S)
    assert len(examples) == 2
    assert [each for each in examples if not (ROOT / "".join(each)).exists()] == []


def test_every_kind_of_error_is_documented_with_its_code() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+)", _pages()["docs/reference/exit-codes-and-errors.md"])
    documented = {name: int(code) for name, code in rows if name not in _PROGRAM}
    kinds = {
        name: kind.exit_code
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, errors.NoctuleError)
        and kind is not errors.NoctuleError
    }
    assert documented == kinds


@cache
def _messages() -> tuple[tuple[str, ...], ...]:
    """The texts of the program, each as the pieces between its values."""
    found: list[tuple[str, ...]] = []
    for path in (each for name in _PACKAGES for each in (ROOT / name).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Constant(str(text)):
                    found.append((text,))
                case ast.JoinedStr(values):
                    parts = [str(each.value) if isinstance(each, ast.Constant) else "\0" for each in values]
                    found.append(tuple("".join(parts).split("\0")))
    return tuple(each for each in found if len("".join(each)) >= 8)


def test_every_error_that_pages_show_is_one_of_the_program() -> None:
    shape = re.compile(r"^error: (.*?)\n  where: [^\n]*\n(?:  next:  ([^\n]*)\n)?", re.S | re.M)
    blocks = [(page, each) for page, code in _blocks("text") for each in shape.findall(code)]
    shown = {(page, text.replace("\n", " ")) for page, texts in blocks for text in texts if text}
    assert len(shown) > 8
    patterns = [re.compile(".*".join(map(re.escape, pieces))) for pieces in _messages()]
    assert sorted(each for each in shown if not any(one.fullmatch(each[1]) for one in patterns)) == []


def test_every_message_that_is_a_heading_is_one_of_the_program() -> None:
    """Such a heading quotes a part, with dots for what is left out."""
    quoted = re.findall(r'(?m)^## "(.+)"', _pages()["docs/guide/troubleshooting.md"])
    assert len(quoted) > 5
    messages = ["\0".join(pieces) for pieces in _messages()]
    parts = {each: [part.strip() for part in each.split("…")] for each in quoted}
    assert [each for each in quoted if not any(all(map(text.count, parts[each])) for text in messages)] == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_is_shown_as_it_is_written(name: str) -> None:
    """Words in square brackets would be taken for a style."""
    command = COMMANDS[name]
    texts = [command.help or "", *(vars(each).get("help") or "" for each in command.params)]
    assert [text for text in texts if Text.from_markup(text).plain != text] == []
