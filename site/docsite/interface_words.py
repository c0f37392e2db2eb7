"""The texts of the interface: one table, any entry of which an owner may replace."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Literal

from ..pipeline.errors import SettingsError
from ..pipeline.untrusted import NotRead, read_regular, read_toml
from .theme_folder import THEME

TABLE, TRANSLATIONS, ENGLISH = "words.toml", THEME / "words", "en"
# Chinese that is written in other characters than ours.
_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")
PLURAL_FORMS = ("one", "two", "few", "many", "zero")
MAX_BYTES = 1_000_000

Part = Literal["text", "page", "dialog"]


@dataclass(frozen=True, slots=True)
class Words:
    """The interface texts by part (``text`` is for templates, the others are for scripts) and key."""

    parts: Mapping[str, Mapping[str, str]]

    def say(self, key: str, **values: object) -> str:
        """Return a template's text with its values filled in; ``count`` selects singular or plural."""
        table = self.parts["text"]
        if values.get("count") == 1 and f"{key}_one" in table:
            key = f"{key}_one"
        text = table[key]
        return text.format(**values) if values else text

    def script(self, part: Part) -> str:
        """Return the texts used by a script, as a script."""
        table = json.dumps(dict(sorted(self.parts[part].items())), ensure_ascii=False, separators=(",", ":"))
        # A line separator ends a line in older script engines.
        safe = table.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        # Those of the page's own language came before.
        return f'window.noctuleWords = Object.assign({{"{part}": {safe}}}, window.noctuleWords);\n'


def load_words(file: str = "", language: str = ENGLISH) -> Words:
    """Load the theme's texts in a language, or in English, overridden by the owner's file.

    Raises ``SettingsError`` for mistakes in that file.
    """
    ours = {name: dict(table) for name, table in tomllib.loads((THEME / TABLE).read_text("utf-8")).items()}
    if (translated := _translation(language)) is not None:
        for name, table in tomllib.loads(translated.read_text("utf-8")).items():
            ours[name].update(table)
    if file:
        for name, table in _given(Path(file)).items():
            _check(ours, name, table, file)
            ours[name].update(table)
    return Words(ours)


def is_translated(language: str) -> bool:
    """Return whether the theme's texts are there in this language."""
    return language.lower().split("-")[0] == ENGLISH or _translation(language) is not None


def _translation(language: str) -> Path | None:
    """Return the file of the texts in a language, or in one that its readers understand."""
    lowered = language.lower()
    names = (lowered,) if lowered.startswith(_TRADITIONAL) else (lowered, lowered.split("-")[0])
    found = (TRANSLATIONS / f"{name}.toml" for name in names if name.replace("-", "").isalnum())
    return next((path for path in found if path.is_file()), None)


def _given(path: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        return read_toml(read_regular(path, MAX_BYTES).decode("utf-8"))
    except (OSError, NotRead) as error:
        raise SettingsError(
            f"cannot read the file of words: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint="See [site] words.",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"not a TOML file: {error}", where=str(path), hint="Fix that line.") from None


def _check(ours: Mapping[str, Mapping[str, str]], name: str, table: object, file: str) -> None:
    known = ours.get(name)
    if known is None or not isinstance(table, Mapping):
        raise _mistake(f"{name} is not a table of words; there are {', '.join(ours)}", file)
    for key, text in table.items():
        stem = key.rpartition("_")[0] if key.rpartition("_")[2] in PLURAL_FORMS else key
        if key not in known and stem not in known:
            raise _mistake(f"{name}.{key} is not a key of this version", file)
        if not isinstance(text, str):
            raise _mistake(f"{name}.{key} is not a text", file)
        missing = sorted(
            _places(text, f"{name}.{key}", file) - _places(known.get(key, known.get(stem, "")), "", "")
        )
        if missing:
            raise _mistake(f"{name}.{key} has {{{missing[0]}}}, which is not filled in there", file)


def _places(text: str, key: str, file: str) -> set[str]:
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise _mistake(f"{key}: {error}", file) from None
    if any(spec or conversion for _, place, spec, conversion in parsed if place is not None):
        raise _mistake(f"{key}: only plain names are allowed in braces", file)
    return {place for _, place, _, _ in parsed if place is not None}


def _mistake(what: str, file: str) -> SettingsError:
    return SettingsError(what, where=file, hint=f"{THEME / TABLE} has all keys.")
