"""A reader of mdBook's folders, written from its documentation alone: SUMMARY.md, includes, hidden lines.

It shares no code with noctule beyond markdown-it, so that the two can disagree.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

_CHAPTER = re.compile(r"\[(?P<title>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<file>[^()\s]+\.md)\)")
_DIRECTIVE = re.compile(r"(?P<escape>\\?)\{\{#(?P<name>\w+)\s+(?P<given>[^}]+?)\}\}")
_ANCHOR_LINE = re.compile(r"ANCHOR(_END)?:\s*[\w-]+")
_HEADING = re.compile(r"<(h[1-6])>(.*?)</\1>", re.DOTALL)
_OWN_ID = re.compile(r"\s*\{\s*#([\w-]+)[^}]*\}\s*$")


def chapters(source: Path) -> list[str]:
    """Return the files that ``SUMMARY.md`` names, in order."""
    text = (source / "SUMMARY.md").read_text("utf-8")
    return [found["file"].removeprefix("./") for found in _CHAPTER.finditer(text)]


def write_book(source: Path, out: Path) -> None:
    """Write each chapter as a plain page with a link to the next."""
    files = chapters(source)
    for file, after in zip(files, [*files[1:], ""], strict=True):
        page = out / Path(file).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        text = with_includes((source / file).read_text("utf-8"), (source / file).parent)
        following = f'<a rel="next" href="{after.removesuffix(".md")}.html"></a>' if after else ""
        page.write_text(f"<main>{chapter_html(text)}</main>{following}", "utf-8")


def with_includes(text: str, folder: Path) -> str:
    """Return the text with what its directives name in their places."""

    def replaced(found: re.Match[str]) -> str:
        name, given = found["name"], found["given"].split()[0]
        if found["escape"]:
            return found[0][1:]
        if name in ("include", "rustdoc_include", "playground", "rust_playground"):
            return _included(folder, given, name == "rustdoc_include").rstrip("\n")
        return "" if name == "title" else found[0]

    return _DIRECTIVE.sub(replaced, text)


def _included(folder: Path, given: str, is_rustdoc: bool) -> str:
    name, _, part = given.partition(":")
    lines = (folder / name).read_text("utf-8").splitlines()
    if part and not re.fullmatch(r"\d*(:\d*)?", part):
        lines = _anchored(lines, part, is_rustdoc)
    elif part:
        first, colon, last = part.partition(":")
        lines = lines[int(first or 1) - 1 : (int(last) if last else None) if colon else int(first)]
    return "\n".join(line for line in lines if not _ANCHOR_LINE.search(line))


def _anchored(lines: list[str], name: str, every: bool) -> list[str]:
    """Return the lines between the first pair of marks of that name, or those between each pair."""
    inside, kept = False, []
    for line in lines:
        if re.search(rf"ANCHOR_END:\s*{re.escape(name)}\b", line):
            inside = False
            if not every:
                break
        if inside:
            kept.append(line)
        inside = inside or bool(re.search(rf"ANCHOR:\s*{re.escape(name)}\b", line))
    return kept


def chapter_html(text: str) -> str:
    """Return a chapter as HTML with the anchors that mdBook gives its headings."""
    md = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    md.use(footnote_plugin).use(tasklists_plugin)
    md.add_render_rule("fence", _fence)
    seen: Counter[str] = Counter()

    def named(found: re.Match[str]) -> str:
        own = _OWN_ID.search(found[2])
        title = found[2][: own.start()] if own else found[2]
        anchor = own[1] if own else _unique(heading_id(title), seen)
        return f'<{found[1]} id="{escape(anchor)}">{title}</{found[1]}>'

    return _HEADING.sub(named, str(md.render(text)))


def heading_id(title: str) -> str:
    """Return mdBook's ``normalize_id`` of a heading: letters, digits, ``_`` and ``-`` in lower case."""
    bare = re.sub(r"&\w+;|<[^>]*>", "", title).strip()
    kept = (c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in bare)
    return "".join(kept)


def _unique(anchor: str, seen: Counter[str]) -> str:
    seen[anchor] += 1
    return anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}"


def _fence(_renderer: object, tokens: list[object], index: int, *_: object) -> str:
    info, content = str(getattr(tokens[index], "info", "")), str(getattr(tokens[index], "content", ""))
    words = re.split(r"[,\s]+", info)
    lines = content.split("\n")
    if words[0] == "rust" and "noplayground-lines" not in words:
        # "# " hides a line, "##" is a line that begins with "#".
        lines = [re.sub(r"^(\s*)##", r"\1#", x) for x in lines if not re.match(r"\s*#( |$)", x)]
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>\n"
