"""Text that authors write into markdown for their tool, and not for readers: comments, references, marks.

What is removed here is on no page, in no table and in no index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from ...includes.fences import CONTAINERS, fence_end, fences_of
from ...includes.parts import PAGES_BELOW
from ..markup import VIDEO_HOST, linked, with_linked_frames
from .myst.roles import with_labels

# "100%%" in a sentence begins none of Obsidian's comments, and "%%bash and %%time" are commands of notebooks.
_COMMENT = (
    r"<!--[\s\S]*?(?:-->|\Z)"
    r"|(?<![\w%])%%(?=\s)[^%]*(?:%[^%]+)*%%"
    r"|(?<![\w%])%%(?=[^%\s])[^%]*(?:%[^%]+)*%%(?:(?<=\S%%)|(?=[\s.,;:!?)]|\Z))"
)
_CODE_SPAN = r"(?P<code>(?<!`)(`+)(?!`)[^\n]{1,2000}?(?<!`)\2(?!`))"
_FENCE = rf"(?P<block>(?m:^{CONTAINERS}(?:`{{3,}}|~{{3,}})[^\n`]*$))"
# Code and comments may hold each other: the one that begins first does.
_HIDDEN = re.compile(f"{_CODE_SPAN}|{_FENCE}|{_COMMENT}")
# kramdown's comments, which end where the first of these marks stands, even in what looks like code.
_HIDDEN_BELOW = re.compile(rf"{_CODE_SPAN}|{_FENCE}|(?P<comment>\{{::comment[ \t]*\}})")
_SHOWN_AGAIN = re.compile(r"\{:/(?:comment)?[ \t]*\}")
# What stands before it is the excerpt of a blog's post (Hugo, Jekyll, Hexo, Material; Docusaurus).
MORE = "<!-- more -->"
_EXCERPT_ENDS = re.compile(r"<!--\s*(?:more|truncate|excerpt)\s*-->", re.IGNORECASE)
_FRONT_MATTER = re.compile(rf"{_CODE_SPAN}|\{{\{{\s*fm\.(?P<key>[\w.-]+)\s*\}}\}}")
# The name that a block reference of Obsidian and Dendron uses, at the end of a paragraph or below it.
_BLOCK_NAME = re.compile(
    rf"{_CODE_SPAN}|(?m:(?:(?<=\S)[ \t]+|(?P<alone>^[ \t]*))"
    r"(?P<name>\^(?:[A-Za-z0-9][A-Za-z0-9_-]{3,99}|[A-Za-z][A-Za-z0-9_-]{1,2}))[ \t]*$)"
)
# kramdown: a list that the table of contents replaces, and attributes of the block above or below.
_KRAMDOWN = re.compile(
    rf"{_CODE_SPAN}|(?m:^[ \t]*(?:[-*+]|\d{{1,9}}\.)[ \t]+[^\n{{}}]{{1,200}}\n"
    r"[ \t]*\{:[ \t]*toc\b[^{}\n]*\}[ \t]*$)"
    # They also stand at the beginning of an item of a list.
    r"|(?m:^[ \t]*\{:[^{}\n]{1,500}\}[ \t]*$)"
    r"|(?<=[-*+.)][ \t])\{:[ \t]*[.#][^{}\n]{1,200}\}[ \t]*(?=\S)"
    r"|\{:(?::|/)(?:nomarkdown|comment|options|:)?[^{}\n]{0,200}\}"
)
# A heading with the name that kramdown gives it on the line below; its title may be underlined.
_NAMED_BELOW = re.compile(
    rf"{_CODE_SPAN}|(?m:^(?P<heading>[ ]{{0,3}}\#{{1,6}}[ \t]+[^\n]{{1,500}}?)[ \t]*\n"
    r"|^(?P<title>(?![ \t]*[-*+>#|{])[^\n]{1,500}?)[ \t]*(?P<line>\n(?:=+|-+)[ \t]*)\n)"
    r"(?P<name>[ ]{0,3}\{:[ \t]*(?:[^{}\n#]{0,200}[ \t])?(?P<id>\#[A-Za-z][\w:.-]{0,199})[^{}\n]{0,200}\})"
    r"(?m:[ \t]*$)"
)
_BOXES = (
    "address|article|aside|blockquote|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|li|main"
    "|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
# A box of HTML whose content is markdown, as Python-Markdown reads it: a blank line begins the markdown.
_MARKDOWN_INSIDE = re.compile(
    rf"{_CODE_SPAN}|(?m:^(?P<indent>[ \t]{{0,12}}))?(?P<tag><(?P<name>{_BOXES})\b(?:\s[^<>\n]{{1,300}}?)?)"
    r"\smarkdown(?:=[\"']?\w*[\"']?)?(?P<rest>(?:\s[^<>\n]{0,300})?>)"
    r"(?m:[ \t]*$(?P<summary>\n[ \t]*<summary>[^\n]{0,500}</summary>[ \t]*$)?"
    r"|(?P<inside>[^\n]{1,2000}?)(?P<end></(?P=name)>))"
)
# One whose content is a line of text, however far it is indented: a figure, or what says so.
_LINE_INSIDE = re.compile(
    rf"{_CODE_SPAN}|(?m:^(?P<indent>[ \t]{{0,12}}))(?P<tag><(?P<name>{_BOXES})\b[^<>\n]{{0,300}}>)[ \t]*\n"
    r"(?P<inside>(?:[ \t]+\S[^\n]{0,2000}\n){1,20}?)[ \t]*</(?P=name)>"
)
_IS_LINE = re.compile(r"<figure\b.*\smarkdown\b|.*\smarkdown=[\"']?span\b")
# Characters above a box in which the line is looked for that it belongs to.
_FAR_ABOVE = 4_000
# What stands for the list of all tags (Material for MkDocs, and its earlier form).
TAG_LIST = "<!-- material/tags -->"
_TAGS_MARKER = re.compile(rf"{_CODE_SPAN}|(?m:^[ \t]*\[TAGS\][ \t]*$)")
_TAGS_COMMENT = re.compile(r"<!--\s*material/tags\b[^<>]{0,500}-->")
# Obsidian's and others' way to embed a video: as an image.
_VIDEO = re.compile(
    rf"{_CODE_SPAN}|!\[(?P<title>[^\[\]\n]{{0,300}})\]\((?P<address>{VIDEO_HOST}[^()\s<>\"]{{1,300}})\)"
)
_FRAMES = re.compile(
    rf"{_CODE_SPAN}|(?P<frame>(?i:<iframe\b[^<>]{{0,2000}}>(?:[^<]{{0,2000}}</iframe\s*>)?"
    r"|<(?P<player>video|audio)\b(?:[^<]{0,2000}<){1,20}?/(?P=player)\s*>))"
)
# What CriticMarkup writes around whole blocks, on lines of its own.
# A definition right below the end of a box of HTML, which would be part of the box.
_DEFINITION_BELOW_BOX = re.compile(
    rf"{_CODE_SPAN}|(?m:^(?P<end>[ \t]*</(?:{_BOXES})>[ \t]*)\n(?=[ \t]{{0,12}}\[[^\[\]\n]{{1,300}}\]:[ \t]))"
)
_AROUND_BLOCKS = re.compile(rf"{_CODE_SPAN}|(?m:^[ \t]*(?:\{{(?:==|\+\+|--)|(?:==|\+\+|--)\}})[ \t]*$)")
# MyST's comments, and its breaks between the cells of a notebook.
_MYST_UNSEEN = re.compile(rf"{_CODE_SPAN}|(?m:^(?: {{0,3}}%(?!%)[^\n]*|\+\+\+(?:[ \t]*\{{[^\n]*)?)$)")
# A fence with a directive, or a role; `{name}` alone is code that any markdown may have, `{.name}` a class.
_IS_MYST = re.compile(
    r"(?m)^[ \t>]{0,20}(?:`{3}|~{3}|:{3})[`~:]{0,20}[ \t]{0,4}\{(?![.#])"
    r"|(?<!`)\{[A-Za-z][\w:+.-]{0,60}\}`(?=[^`\s])"
)
_MAY_EMBED = re.compile(r"<(?:iframe|video|audio)\b", re.IGNORECASE)
# Docusaurus: a file below the folder of its settings, and one of the site that is no page.
_SITE_PATH = re.compile(rf"{_CODE_SPAN}|(?<=[(<\"'])(?:@site/(?:static/)?|pathname:///)")
_BLANK_LINE = re.compile(r"(?m)^\0+[ \t]*\n|\0+")


def published_text(text: str, front_matter: str) -> str:
    """Return the markdown without comments and kramdown's attributes, outside code; named blocks get anchors.

    The comment that ends an excerpt stays. ``{{fm.key}}`` becomes the value in the front matter, given as
    JSON, as in Dendron.
    """
    if "<!--" in text or "%%" in text:
        text = _without_comments(text)
    text = _without_kramdown_comments(text)
    if "[TAGS]" in text:
        text = _outside_code(text, _TAGS_MARKER, lambda _: f"\n{TAG_LIST}\n")
    if "@site/" in text or "pathname:///" in text:
        text = _outside_code(text, _SITE_PATH, lambda _: "/")
    if "](http" in text:
        text = _outside_code(text, _VIDEO, lambda found: linked(found["address"], found["title"]))
    if _MAY_EMBED.search(text):
        text = _outside_code(text, _FRAMES, lambda found: with_linked_frames(found["frame"]))
    if "{{" in text and "fm." in text:
        text = _filled_in(text, json.loads(front_matter))
    if "{==" in text or "{++" in text or "{--" in text:
        text = _outside_code(text, _AROUND_BLOCKS, lambda _: "\0")
    if "{:" in text:
        text = _outside_code(text, _NAMED_BELOW, _named_beside)
        text = _outside_code(text, _KRAMDOWN, lambda _: "\0")
    if " markdown" in text:
        text = _outside_code(text, _LINE_INSIDE, _without_indent)
        text = _outside_code(text, _MARKDOWN_INSIDE, _opened)
    if "]: " in text and "</" in text:
        text = _outside_code(text, _DEFINITION_BELOW_BOX, lambda found: f"{found['end']}\n\n")
    if "{" in text and _IS_MYST.search(text):
        text = _outside_code(text, _MYST_UNSEEN, lambda found: "" if found[0][0] == "+" else "\0")
    text = with_labels(text)
    if "^" in text:
        text = _outside_code(text, _BLOCK_NAME, _anchored)
    # A line that held nothing else goes with it, or it would end a paragraph.
    return _BLANK_LINE.sub("", text) if "\0" in text else text


def _without_comments(text: str) -> str:
    """Return the text without comments of HTML and Obsidian."""
    pieces, at = list[str](), 0
    while found := _HIDDEN.search(text, at):
        end = fence_end(text, found.start())[1] if found["block"] else found.end()
        is_code = found["block"] or found["code"]
        pieces += [text[at : found.start()], text[found.start() : end] if is_code else _kept(found)]
        at = end
    return "".join([*pieces, text[at:]])


def _without_kramdown_comments(text: str) -> str:
    """Return the text without kramdown's comments; one that nothing ends is none."""
    pieces, at = list[str](), 0
    while "{::comment" in text and (found := _HIDDEN_BELOW.search(text, at)):
        closed = _SHOWN_AGAIN.search(text, found.end()) if found["comment"] else found
        if closed is None:
            break
        end = fence_end(text, found.start())[1] if found["block"] else closed.end()
        pieces += [text[at : found.start()], "\0" if found["comment"] else text[found.start() : end]]
        at = end
    return "".join([*pieces, text[at:]])


def _filled_in(text: str, values: Mapping[str, object]) -> str:
    return _outside_code(text, _FRONT_MATTER, lambda found: _shown(values.get(found["key"])))


def _kept(found: re.Match[str]) -> str:
    """Return the comments that stand for something; all others are nobody's but the author's."""
    if _TAGS_COMMENT.fullmatch(found[0]):
        return TAG_LIST
    if found[0] == PAGES_BELOW:
        return PAGES_BELOW
    return MORE if _EXCERPT_ENDS.fullmatch(found[0]) else "\0"


def _named_beside(found: re.Match[str]) -> str:
    """Return a heading with its name at its end, where other tools write it."""
    title = found["heading"] or found["title"]
    return title if title.endswith("}") else f"{title} {{{found['id']}}}{found['line'] or ''}"


def _without_indent(found: re.Match[str]) -> str:
    """Return a box whose first line is as far indented as itself, where four spaces would make it code.

    The lines below it stand to it as they did: they may be a list in a list.
    """
    if not _IS_LINE.match(found["tag"]):
        return found[0]
    inside = [line.rstrip().expandtabs(4) for line in found["inside"].splitlines()]
    first = len(inside[0]) - len(inside[0].lstrip())
    lines = [
        found["indent"] + (line[first:] if not line[:first].strip() else line.lstrip()) for line in inside
    ]
    if "span" in found["tag"]:  # which reads the caption too
        lines = [line.replace("<figcaption>", "<figcaption markdown>", 1) for line in lines]
    return "\n".join((found["indent"] + found["tag"], *lines, f"{found['indent']}</{found['name']}>"))


def _opened(found: re.Match[str]) -> str:
    """Return a box's tag with a blank line below it, or a whole box on one line with its markdown as HTML."""
    tag = _indent_of(found) + found["tag"] + found["rest"]
    if found["inside"] is None:
        return f"{tag}{found['summary'] or ''}\n"
    from .syntax import markdown_parser  # which is made of what stands here

    return f"{tag}{markdown_parser().renderInline(found['inside'].strip())}{found['end']}"


def _indent_of(found: re.Match[str]) -> str:
    """Return how far a box is to be indented: as a box of HTML around it, or as what else it belongs to."""
    given = found["indent"] or ""
    for line in reversed(found.string[max(0, found.start() - _FAR_ABOVE) : found.start()].splitlines()):
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() and len(indent) < len(given):
            return indent if line.lstrip().startswith("<") else given
    return given


def block_anchor(name: str) -> str:
    """Return the anchor of a block that is named, such as ``^first``: no text, and the target of links."""
    return f'<a id="{name}"></a>'


def _anchored(found: re.Match[str]) -> str:
    # Below a list or a table it must not belong to the last line.
    return f"\n{block_anchor(found['name'])}" if found["alone"] is not None else block_anchor(found["name"])


def _outside_code(text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        return found[0] if found["code"] else replace(found)

    pieces, at = [], 0
    for start, end, _ in fences_of(text).spans:
        if start >= at:
            pieces += [pattern.sub(replaced, text[at:start]), text[start:end]]
            at = end
    return "".join([*pieces, pattern.sub(replaced, text[at:])])


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else "\0"
