"""The directives of MkDocs and its extensions: ``--8<--``, ``{!file!}``, and code that is run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..fences import Fences, fences_of, indent_before, is_quoted
from ..parts import Directive, Literal, Part, between, lines, whole

MARKS = ("8<-", "{!", "[TOC]", " exec=", "::: mkdocs-")


def directives(text: str) -> Iterator[Directive | Literal]:
    """Yield the directives of a markdown text; they may overlap."""
    yield from _snippets(text)
    yield from _snippet_blocks(text)
    yield from _bang_includes(text)
    yield from _generated(text, fences_of(text))
    yield from _run(text, fences_of(text))
    yield from _commands(text, fences_of(text))


# MkDocs: --8<-- "file.md:section", on a line of its own or as a block

_SNIPPET = re.compile(
    r"^(?P<indent>[ \t]*)(?P<escape>;?)-+8<-+[ \t]+(?P<quote>[\"'])(?P<target>[^\"'\n]+)(?P=quote)[ \t]*$",
    re.MULTILINE,
)
_SNIPPET_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)-+8<-+[ \t]*\n(?P<names>(?:(?![ \t]*-+8<-+)[^\n]*\n){1,100}?)[ \t]*-+8<-+[ \t]*$",
    re.MULTILINE,
)
_SECTION_MARK = r"-+8<-+[ \t]+\[[ \t]*(?:start|end)[ \t]*:"


def _snippets(text: str) -> Iterator[Directive | Literal]:
    for found in _SNIPPET.finditer(text):
        if found["escape"]:
            yield Literal(found.start("escape"), found.end("escape"), "")
        else:
            yield _snippet(found["target"], found.start(), found.end(), found["indent"])


def _snippet_blocks(text: str) -> Iterator[Directive | Literal]:
    for found in _SNIPPET_BLOCK.finditer(text):
        names, at = list[tuple[str, int]](), found.start("names")
        for line in found["names"].splitlines(keepends=True):
            at += len(line)
            if line.strip() and not line.strip().startswith(";"):
                names.append((line.strip(), at - 1))
        if not names:
            yield Literal(*found.span(), "")
        # The marks and the lines that are left out go with the names; a line end stays between two.
        ends = [*(end for _, end in names[:-1]), found.end()]
        starts = [found.start(), *(end + 1 for end in ends[:-1])]
        for (name, _), start, end in zip(names, starts, ends, strict=False):
            yield _snippet(name, start, end, found["indent"])


def _snippet(spec: str, start: int, end: int, indent: str) -> Directive:
    target, _, part = spec.strip().partition(":") if "://" not in spec else (spec, "", "")
    chosen: Part = whole
    if part and re.match(r"[\d:]", part):
        chosen = lines(part, alone_to_end=True)
    elif part:
        begins, ends = (rf"-+8<-+[ \t]+\[[ \t]*{edge}[ \t]*:[ \t]*" for edge in ("start", "end"))
        chosen = between(part, begins, ends, _SECTION_MARK)
    return Directive(start, end, target, chosen, indent=indent, is_nested=True)


# MkDocs with another extension: {!file!}

_BANG = re.compile(
    r"\{!>?[ \t]*(?P<target>[^!{}\n]+?)[ \t]*!(?:\s*lines=(?P<lines>[\d -]+))?(?P<escape>\\?)\}"
)


def _bang_includes(text: str) -> Iterator[Directive | Literal]:
    for found in _BANG.finditer(text):
        start, end = found.span()
        if found["escape"]:
            yield Literal(start, end, found[0].replace("\\}", "}"))
        elif not is_quoted(text, start, end):
            part: Part = lines(",".join(found["lines"].split()), "-") if found["lines"] else whole
            indent = indent_before(text, start)
            yield Directive(start - len(indent), end, found["target"], part, indent=indent, is_nested=True)


# What MkDocs makes itself, and a page shows beside the text

_CONTENTS = re.compile(r"^[ \t]*\[TOC\][ \t]*$", re.MULTILINE)


def _generated(text: str, fences: Fences) -> Iterator[Literal]:
    yield from (
        Literal(*found.span(), "") for found in _CONTENTS.finditer(text) if not fences.hold(found.start())
    )


# markdown-exec: a page shows what the code prints, and the code itself if it asks for it

_EXECUTED = re.compile(r"\sexec=[\"']?(?:1|on|true|yes)\b", re.IGNORECASE)
_NOT_RUN = "what this code prints is left out: nothing is run"


def _run(text: str, fences: Fences) -> Iterator[Literal]:
    for start, end, info in fences.spans:
        if _EXECUTED.search(info) and "source=" not in info:
            opening = text.rfind("\n", 0, max(start - 1, 0)) + 1
            closing = text.find("\n", end)
            yield Literal(opening, len(text) if closing < 0 else closing, "", _NOT_RUN)


# mkdocs-click, mkdocs-typer: ::: mkdocs-click, with options below it

_COMMANDS = re.compile(
    r"^(?P<indent>[ \t]*):::[ \t]+(?P<tool>mkdocs-[\w-]+)[ \t]*(?:\n|\Z)"
    r"(?P<options>(?:(?P=indent)[ \t]+:[\w-]+:[^\n]*(?:\n|\Z))*)",
    re.MULTILINE,
)


_COMMAND_NAME = re.compile(r":prog_name:[ \t]*([\w -]{1,80})|:command:[ \t]*([\w-]{1,80})")


def _command_heading(found: re.Match[str]) -> str:
    """Return the heading that the tool writes above its help, empty where no command is named."""
    named = _COMMAND_NAME.findall(found["options"])
    names = [given.strip() for given, _ in named if given] + [command for _, command in named if command]
    depth = re.search(r":depth:[ \t]*([0-5])[ \t]*$", found["options"], re.MULTILINE)
    marks = "#" * (int(depth[1]) + 1 if depth else 1)
    return f"{found['indent']}{marks} {names[0]}\n" if names else ""


def _commands(text: str, fences: Fences) -> Iterator[Literal]:
    """Yield the places of help on commands, which only the programs themselves could write."""
    for found in _COMMANDS.finditer(text):
        if not fences.hold(found.start()):
            program = re.search(r":module:[ \t]*(\S{1,80})", found["options"])
            of = f" of {program[1]}" if program else ""
            yield Literal(
                *found.span(),
                _command_heading(found),
                f"the commands{of} are not described: {found['tool']} would run it",
            )
