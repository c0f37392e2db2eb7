"""Code as HTML with Pygments' classes; the theme supplies the colours."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from pygments import highlight as pygments_highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Some lexers take seconds on hundreds of kilobytes; few people read a block that long.
MAX_CHARS = 20_000
ALIASES = {"text": "", "plain": "", "plaintext": "", "txt": "", "none": "", "svg": "xml", "mathml": "xml"}
# Not a language: how MDN marks code that its linter skips.
SUFFIXES = ("-nolint",)
# Marks lines or names the file, as in ``js{1,3-4}``, ``ts:line-numbers`` and ``js[app.js]``.
_AFTER_NAME = re.compile(r"[,:{\[]")
_FORMATTER = HtmlFormatter(nowrap=True)


def language_name(info: str) -> str:
    """Return the language of an info string in lower case (``js-nolint live-sample`` gives ``js``), or
    nothing.
    """
    words = _AFTER_NAME.sub(" ", info.strip().strip("{}")).split()
    name = words[0].lstrip(".").lower() if words else ""
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name if name.replace("-", "").replace("+", "").replace("#", "").replace("_", "").isalnum() else ""


@lru_cache(maxsize=4096)
def highlighted(language: str, code: str) -> str:
    """Return the code as HTML, in spans with Pygments' short classes, or plain if the language is unknown."""
    lexer = _lexer(ALIASES.get(language, language))
    if lexer is None or len(code) > MAX_CHARS:
        return escape(code)
    return str(pygments_highlight(code, lexer, _FORMATTER))


def code_block(info: str, code: str) -> str:
    """Return a page's code block, scrollable by keyboard, with its language as an attribute."""
    language = language_name(info)
    known = f' data-language="{escape(language)}"' if language else ""
    body = highlighted(language, code.rstrip("\n") + "\n")
    return f'<div class="code"{known}><pre tabindex="0"><code>{body}</code></pre></div>'


def diagram(source: str) -> str:
    """Return the source of a mermaid diagram, which an owner's script may draw."""
    return (
        '<div class="code diagram" data-language="mermaid"><pre tabindex="0"><code>'
        f"{escape(source.rstrip())}\n</code></pre></div>"
    )


@lru_cache(maxsize=256)
def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None
