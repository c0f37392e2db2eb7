"""Adding a synonym to the glossary, and the glossary to the settings if they name none yet."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....artifacts.disk import durable
from ....artifacts.query.index.vocabulary import folded_words
from ....artifacts.query.understanding.synonyms import read_glossary
from ....pipeline.errors import SettingsError
from ....pipeline.settings import reading
from ....pipeline.settings.settings import Settings

NEW_GLOSSARY = "glossary.toml"
_STEP = "synonyms"
_EXAMPLE = '--add-synonym "undo=revert"'


@dataclass(frozen=True, slots=True)
class AddedSynonym:
    """A synonym, the glossary that it is in now, and the settings file if that was changed for it."""

    term: str
    synonym: str
    glossary: Path
    settings: Path | None


def parse_synonym(given: str) -> tuple[str, str]:
    """Return the term and the synonym of ``term=synonym``; raise ``SettingsError`` if they are none."""
    term, equals, synonym = (part.strip() for part in given.partition("="))
    if not (equals and folded_words(term) and folded_words(synonym)) or not given.isprintable():
        what = "a synonym is written as term=synonym, words on both sides"
        raise SettingsError(what, where=f"--add-synonym {given!r:.200}", hint=f"For example: {_EXAMPLE}")
    return term, synonym


def add_synonym(given: str, settings_file: Path) -> AddedSynonym:
    """Add ``term=synonym`` to the glossary that a settings file names, or to a new one that it names then.

    Raises ``SettingsError`` if a file cannot be read, or is written in a way that this does not change.
    """
    term, synonym = parse_synonym(given)
    settings = reading.load(settings_file) if settings_file.exists() else Settings()
    named = settings.search.synonyms.file
    glossary = Path(named).expanduser() if named else settings_file.absolute().parent / NEW_GLOSSARY
    before = glossary.read_text("utf-8") if glossary.exists() and read_glossary(glossary) is not None else ""
    after = _with_synonym(before, term, synonym, glossary)
    changed = _with_glossary(settings_file, settings)
    if after != before:
        durable.replace_file(glossary.absolute(), after.encode())
    if changed is not None:
        durable.replace_file(settings_file.absolute(), changed.encode())
    return AddedSynonym(term, synonym, glossary, settings_file if changed is not None else None)


def _with_synonym(content: str, term: str, synonym: str, glossary: Path) -> str:
    """Return a glossary's text with the synonym; the rest of it stays as its author wrote it."""
    known = tomllib.loads(content)
    key = next((each for each in known if folded_words(each) == folded_words(term)), None)
    if key is None:
        separated = content if not content or content.endswith("\n") else f"{content}\n"
        return f"{separated}{_quoted(term)} = [{_quoted(synonym)}]\n"
    if any(folded_words(each) == folded_words(synonym) for each in known[key]):
        return content
    names = "|".join(re.escape(each) for each in (_quoted(key), f"'{key}'", key))
    changed = _with_element(content, names, synonym)
    if _parsed(changed) != known | {key: [*known[key], synonym]}:
        what, hint = (
            "the glossary is written in a way that noctule cannot edit",
            "Add it to the list by hand.",
        )
        raise SettingsError(what, where=f"{glossary}, {key}", hint=hint)
    return changed


def _with_element(content: str, names: str, element: str) -> str:
    """Return TOML with one more string in the list of a key, and its comments; unchanged if it has none."""
    pattern = re.compile(rf"(?ms)^(\s*(?:{names})\s*=\s*\[)([^\]]*)\]")

    def longer(found: re.Match[str]) -> str:
        values = re.sub("#[^\n]*", "", found[2]).rstrip()
        comma = "" if not values or values.endswith(",") else ", "
        return f"{found[1]}{found[2]}{comma}{_quoted(element)}]"

    return pattern.sub(longer, content, count=1)


def _parsed(content: str) -> dict[str, Any] | None:
    """Return what TOML says; ``None`` if it is none."""
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError:
        return None


def _with_glossary(file: Path, settings: Settings) -> str | None:
    """Return the settings' text with a glossary that is used; ``None`` if they have that already.

    What is made is read again, and must be these settings but for the glossary.
    """
    search = settings.search
    content = file.read_text("utf-8") if file.exists() else ""
    changed, expected = content, tomllib.loads(content)
    if _STEP not in search.understand:
        steps = [*search.understand, _STEP]
        changed = _with_understand(changed, steps)
        expected.setdefault("search", {})["understand"] = steps
    if not search.synonyms.file:
        changed = _with_value(changed, "search.synonyms", f'file = "{NEW_GLOSSARY}"')
        expected.setdefault("search", {}).setdefault("synonyms", {})["file"] = NEW_GLOSSARY
    if changed == content:
        return None
    if _parsed(changed) == expected:
        return changed
    hint = (
        f"Write into it yourself: {_STEP!r} in the list understand of [search], "
        f'and file = "{NEW_GLOSSARY}" in [search.synonyms].'
    )
    what = "the settings are written in a way that noctule cannot edit"
    raise SettingsError(what, where=str(file), hint=hint)


def _with_understand(content: str, steps: list[str]) -> str:
    """Return the settings with the last of the steps, in the list that is there or in one of all."""
    table = re.search(r"(?m)^\[search\][^\n]*\n", content)
    if table is None:
        return _with_value(content, "search", f"understand = {json.dumps(steps)}")
    end = re.search(r"(?m)^\[", content[table.end() :])
    until = table.end() + end.start() if end else len(content)
    own = content[table.end() : until]
    changed = _with_element(own, "understand", steps[-1])
    if changed == own:
        changed = f"understand = {json.dumps(steps)}\n{own}"
    return content[: table.end()] + changed + content[until:]


def _with_value(content: str, table: str, line: str) -> str:
    """Return the settings' text with a line in a table, which is added where there is none."""
    header = re.search(rf"(?m)^\[{re.escape(table)}\][^\n]*(\n|\Z)", content)
    if header is None:
        separated = f"{content.rstrip()}\n\n" if content.strip() else ""
        return f"{separated}[{table}]\n{line}\n"
    own = content[header.end() :]
    emptied = re.sub(r'\A((?:(?!\[)[^\n]*\n)*?)\s*file\s*=\s*""[^\n]*\n', r"\1", own, count=1)
    return f"{content[: header.end()].rstrip()}\n{line}\n{emptied}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
