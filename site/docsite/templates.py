"""The theme's templates, which an owner's can replace; everything is escaped unless already safe HTML."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import CodeType, MappingProxyType
from urllib.parse import urlsplit

from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
)
from jinja2.bccache import Bucket

from ..pipeline.errors import SettingsError
from .interface_words import Words
from .theme_folder import CLIENT, HERE, THEME

__all__ = ["CLIENT", "CONTENT_SECURITY_POLICY", "HERE", "THEME", "Theme", "content_security_policy"]

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
# An owner's template refers to the theme's of the same name by this folder: {% extends "theme/base.html" %}.
ORIGINALS = "theme"
TEMPLATE_ENDING = ".html"


def content_security_policy(*, remote_images: bool, events: str = "") -> str:
    """Return what pages may load, which is nothing from other hosts but images, if those are shown.

    Scripts may send something to one other host, if ``events`` names an address there.
    """
    shown = "img-src 'self' data: https:;" if remote_images else "img-src 'self' data:;"
    policy = CONTENT_SECURITY_POLICY.replace("img-src 'self' data:;", shown)
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(events)) if ":" in events else ""
    return policy.replace("connect-src 'self'", f"connect-src 'self' {origin}".rstrip())


class _CompiledTemplates(BytecodeCache):
    """The code of templates by their sources, for the environments of all languages and sites."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template the code that was made of the same source."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _CompiledTemplates()


class Theme:
    """Templates by name, compiled once; those in ``folder`` take precedence over the theme's.

    ``words`` are the texts of the site's language, ``others`` those of its other languages.
    """

    def __init__(
        self,
        words: Words,
        folder: str = "",
        policy: str = CONTENT_SECURITY_POLICY,
        others: Mapping[str, Words] = MappingProxyType({}),
    ) -> None:
        self.words, self.others, self._policy = words, others, policy
        self.folder = Path(folder).resolve() if folder else None
        if self.folder is not None:
            _require_known_names(self.folder)
        self._environment = lru_cache(maxsize=None)(self._environment_in)
        self._template = lru_cache(maxsize=None)(self._compiled)

    def words_in(self, language: str) -> Words:
        """Return the interface texts of pages in this language."""
        return self.others.get(language, self.words)

    def _environment_in(self, language: str) -> Environment:
        """Return the templates with the texts of a language; names in them are looked up once."""
        ours = FileSystemLoader(THEME)
        loaders = [ours, PrefixLoader({ORIGINALS: ours})]
        if self.folder is not None:
            loaders.insert(0, FileSystemLoader(self.folder))
        environment = Environment(
            autoescape=True,  # select_autoescape would look at file endings; all we make is markup
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            loader=ChoiceLoader(loaders),
            auto_reload=False,
            bytecode_cache=_COMPILED,
        )
        environment.globals["content_security_policy"] = self._policy
        environment.globals["say"] = self.words_in(language).say
        return environment

    def render(self, name: str, context: Mapping[str, object]) -> bytes:
        """Return the page that a template makes of this, in the language of the interface around its frame.

        Raises ``SettingsError`` if an owner's template fails.
        """
        language = getattr(context.get("frame"), "site_language", "")
        try:
            return self._template(name, language if language in self.others else "").render(context).encode()
        except Exception as error:
            raise self._blamed(error) from error

    def _compiled(self, name: str, language: str) -> Template:
        return self._environment(language).get_template(name)

    def _blamed(self, error: Exception) -> Exception:
        """Return the error with its template and line if that is an owner's; otherwise unchanged."""
        line = self._line(error)
        if line is None:
            return error
        reason = error.message if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
        return SettingsError(
            f"a template failed: {reason}",
            where=line,
            hint="Fix that line, or take the file out of [site] templates.",
        )

    def _line(self, error: Exception) -> str | None:
        if self.folder is None:
            return None
        frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, TemplateSyntaxError) and error.filename:
            frames.append((error.filename, error.lineno))
        own = [f"{file}:{line}" for file, line in frames if Path(file).is_relative_to(self.folder)]
        return own[-1] if own else None


def _require_known_names(folder: Path) -> None:
    """Raise unless every template in the folder replaces one of the theme's or is a partial.

    Partials have names like ``_name.html``.
    """
    if not folder.is_dir():
        raise SettingsError(
            "the folder of templates does not exist", where=str(folder), hint="See [site] templates."
        )
    known = {path.name for path in THEME.glob(f"*{TEMPLATE_ENDING}")}
    for path in sorted(folder.glob(f"*{TEMPLATE_ENDING}")):
        if path.name not in known and not path.name.startswith("_"):
            raise SettingsError(
                "the theme has no template of this name, so it would never be used",
                where=str(path),
                hint=f"There are {', '.join(sorted(known))}; a part for your own templates begins with _.",
            )
