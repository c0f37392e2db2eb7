"""The theme's templates, compiled once: everything is escaped unless it is already safe HTML."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

HERE = Path(__file__).resolve().parent
THEME = HERE / "theme"
CLIENT = HERE / "client"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
)


@cache
def environment() -> Environment:
    """The Jinja environment of the theme; a name that a template misspells is an error."""
    made = Environment(
        autoescape=True,  # select_autoescape would look at file endings; all we make is markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FileSystemLoader(THEME),
        auto_reload=False,
    )
    made.globals["content_security_policy"] = CONTENT_SECURITY_POLICY
    return made


@cache
def template(name: str) -> Template:
    """A compiled template of the theme."""
    return environment().get_template(name)
