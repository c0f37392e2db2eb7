"""Languages of a site: which page is in which, and where the same page is in another."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ...pipeline.settings.site import Site
from .. import urls

# What speakers call it; of other languages the code is shown.
_NAMES = {
    "ar": "العربية", "bn": "বাংলা", "bg": "български", "ca": "català",
    "cs": "čeština", "da": "dansk", "de": "Deutsch", "el": "Ελληνικά",
    "en": "English", "es": "español", "et": "eesti", "fa": "فارسی", "fi": "suomi",
    "fr": "français", "he": "עברית", "hi": "हिन्दी", "hr": "hrvatski",
    "hu": "magyar", "id": "Bahasa Indonesia", "it": "italiano", "ja": "日本語",
    "ko": "한국어", "lt": "lietuvių", "lv": "latviešu", "ms": "Bahasa Melayu",
    "nb": "norsk bokmål", "nl": "Nederlands", "pl": "polski", "pt": "português",
    "pt-br": "português (Brasil)", "ro": "română", "ru": "русский",
    "sk": "slovenčina", "sl": "slovenščina", "sr": "српски", "sv": "svenska",
    "th": "ไทย", "tr": "Türkçe", "uk": "українська", "ur": "اردو",
    "vi": "Tiếng Việt", "zh": "中文", "zh-hans": "简体中文", "zh-hant": "繁體中文",
    "zh-tw": "繁體中文",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Translation:
    """A page in one language; ``exact`` if it is the same page, else it is that language's first one."""

    language: str
    name: str
    page: str
    current: bool
    exact: bool


class Languages:
    """The languages that the settings declare, each with the folder of its pages."""

    def __init__(self, settings: Site, pages: Collection[str]) -> None:
        self._pages = pages
        self._folders = {
            code: f"{folder.strip('/')}/" if folder.strip("/") else ""
            for code, folder in settings.languages.items()
        }
        # The longest first: one language may have the top, and others folders in it.
        self._order = sorted(self._folders, key=lambda code: -len(self._folders[code]))

    def of(self, page: str) -> str:
        """Return the language of a document's page; empty if none is declared for it."""
        return next((code for code in self._order if page.startswith(self._folders[code])), "")

    def translations(self, page: str) -> tuple[Translation, ...]:
        """Return where each language has this page, or its first one, in the order of the settings.

        A page that is in no language, or has no counterpart of any kind, has none.
        """
        here = self.of(page)
        if not here or page not in self._pages:
            return ()
        found = tuple(self._found(here, page))
        return found if len(found) > 1 else ()

    def _found(self, here: str, page: str) -> Iterator[Translation]:
        rest = page.removeprefix(self._folders[here])
        for code, folder in self._folders.items():
            for candidate in (folder + rest, folder + urls.HOME):
                if candidate in self._pages and self.of(candidate) == code:
                    exact = candidate == folder + rest
                    yield Translation(code, language_name(code), candidate, code == here, exact)
                    break


def language_name(code: str) -> str:
    """Return what a language's speakers call it."""
    lowered = code.lower()
    return _NAMES.get(lowered) or _NAMES.get(lowered.split("-")[0]) or code
