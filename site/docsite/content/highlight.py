"""Code as HTML with Pygments' classes; the theme supplies the colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape

from pygments import highlight as pygments_highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from ...pipeline.parse.code.listing import CodeListing
from ...pipeline.parse.code.terminal import Run

# Some lexers take seconds on hundreds of kilobytes; few people read a block that long.
MAX_CHARS = 20_000
ALIASES = {"text": "", "plain": "", "plaintext": "", "txt": "", "none": "", "svg": "xml", "mathml": "xml"}
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "terminal", "shell-session", "console"})
_PROMPT = re.compile(r"\s*(?:\$ |>>> )")
_SIGNS = {"+": "added", "-": "removed"}
_FORMATTER = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=4096)
def highlighted(language: str, code: str) -> str:
    """Return the code as HTML, in spans with Pygments' short classes, or plain if the language is unknown.

    No span goes on over the end of a line.
    """
    lexer = _lexer(_lexed_as(language, code))
    if lexer is None or len(code) > MAX_CHARS:
        return escape(code)
    return str(pygments_highlight(code, lexer, _FORMATTER))


def _lexed_as(language: str, code: str) -> str:
    """Return the lexer's language: code that begins with a prompt is a session, whatever its author says."""
    if _PROMPT.match(code):
        if language in _SHELLS:
            return "console"
        if language in ("python", "py", "python3"):
            return "pycon"
    return ALIASES.get(language, language)


def listing_html(listing: CodeListing, notes: str = "") -> str:
    """Return a page's code block, scrollable by keyboard, with its language as an attribute.

    ``notes`` is what the names of its annotations begin with.
    """
    info, text = listing.info, listing.text.rstrip("\n") + "\n"
    body = _terminal(listing.runs) if listing.runs else highlighted(info.language, text)
    lines = _with_diff(info.lines, text) if info.language == "diff" else info.lines
    classes = ["code", *(["focusing"] if lines.get("focused") else []), *(["wrapped"] if info.wraps else [])]
    if info.first_number is not None:
        count = info.first_number + text.count("\n")
        classes.append("numbered" if count < 1000 else "numbered wide")
    if info.words:
        body = _with_words(body, info.words)
    if lines or listing.notes or info.first_number is not None:
        body = "".join(_lines(body, listing, lines, notes))
    known = f' data-language="{escape(info.language)}"' if info.language else ""
    tag = "figure" if info.title else "div"
    title = f'<figcaption class="code-title">{escape(info.title)}</figcaption>' if info.title else ""
    opening = f'<{tag} class="{" ".join(classes)}"{known}>{title}'
    return f'{opening}<pre tabindex="0"><code>{body}</code></pre></{tag}>'


def _lines(body: str, listing: CodeListing, lines: Mapping[str, frozenset[int]], notes: str) -> Iterator[str]:
    """Yield each line in an element of its own, with its kinds, its number and its annotations."""
    first = listing.info.first_number
    for number, line in enumerate(body.removesuffix("\n").split("\n"), start=1):
        kinds = "".join(f" {kind}" for kind, numbers in sorted(lines.items()) if number in numbers)
        shown = "" if first is None else f' data-line="{first + number - 1}"'
        marks = "".join(_annotation(notes, note) for note in listing.notes.get(number, ()))
        yield f'<span class="line{kinds}"{shown}>{line}{marks}\n</span>'


def _annotation(notes: str, number: int) -> str:
    # Without text, or it would be copied with the code.
    target = f"#source-{notes}-{number}"
    return f'<a class="annotation" href="{target}" data-note="{number}" aria-label="{number}"></a>'


def _with_diff(lines: Mapping[str, frozenset[int]], text: str) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {kind: set(numbers) for kind, numbers in lines.items()}
    for number, line in enumerate(text.split("\n"), start=1):
        if line[:1] in _SIGNS and not line.startswith(("+++", "---")):
            found.setdefault(_SIGNS[line[:1]], set()).add(number)
    return {kind: frozenset(numbers) for kind, numbers in found.items()}


def _with_words(body: str, words: tuple[str, ...]) -> str:
    """Return the code with these words marked, where one of Pygments' spans holds them whole."""
    longest_first = sorted({escape(word) for word in words}, key=lambda word: (-len(word), word))
    pattern = re.compile(rf"(<[^<>]*>)|({'|'.join(map(re.escape, longest_first))})")
    return pattern.sub(lambda found: found[1] or f"<mark>{found[2]}</mark>", body)


def _terminal(runs: tuple[Run, ...]) -> str:
    """Return a terminal's output in its colours; after a prompt stands a command, all else is output."""
    html = "".join(_run(run) for run in runs).rstrip("\n") + "\n"
    return "".join(
        f'<span class="gp">$ </span>{line[2:]}\n'
        if line.startswith("$ ")
        else f'<span class="go">{line}</span>\n'
        for line in html.removesuffix("\n").split("\n")
    )


def _run(run: Run) -> str:
    if not run.styles:
        return escape(run.text)
    opening = f'<span class="{" ".join(f"t-{style}" for style in run.styles)}">'
    return "\n".join(f"{opening}{escape(line)}</span>" if line else "" for line in run.text.split("\n"))


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
