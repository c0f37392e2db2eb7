"""What components of MDX say in their attributes, as markdown: properties, cards, links and images.

Only literals are read: strings, and arrays and objects of them. What a program would compute is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ...includes.parts import PAGES_BELOW, TAG
from ...navigation.literals import UNREAD, read_value
from ..markup import linked

_ATTRIBUTE = re.compile(r"([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\{)))?|\{")
_IN_BRACES = re.compile(r"[{}]|\"(?:[^\"\n\\]|\\.)*+\"?|'(?:[^'\n\\]|\\.)*+'?|`(?:[^`\\]|\\[\s\S])*+`?")
# ``require("./x.png").default``, ``useBaseUrl("/img/x.png")``.
_ADDRESS_CALL = re.compile(
    r"\b(?:require|useBaseUrl|withBase)\(\s*([\"'`][^\"'`\n$]+[\"'`])\s*\)(?:\.default)?"
)
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_MARKUP = re.compile(r"[<>{}]")
# Of a field in Mintlify's components, and of an entry of a table of properties.
_NAMES = ("name", "path", "query", "body", "header", "prop", "property", "param", "parameter", "option")
_TITLES = ("title", "label", "header", "heading", "summary")
_TEXTS = ("description", "desc", "details", "body", "text", "content")
_LINKS = ("href", "to", "link", "url")
# Of a component that shows code, and what it is called.
_CODES = ("code", "command", "cmd", "snippet", "text", "value", "content")
_OF_CODE = re.compile(
    r"Snippet|Command|Terminal|Shell|\bCode(?!Sandbox|Pen)|Code(?:Block|Example|Sample|Listing)"
)
_OPTIONAL = ("isOptional", "optional")
_DEFAULTS = ("defaultValue", "default", "initialToggle")
_FIELDS = frozenset({"ParamField", "ResponseField", "APIField", "Param", "Property", "TypeField"})
_IMAGES = frozenset({"Image", "img", "Img", "Picture", "ZoomImage", "ThemedImage"})
_VIDEO_IDS = ("id", "videoId", "videoid", "youTubeId", "youtubeId", "embedId")
_VIDEO_HOSTS = {"youtube": "www.youtube.com/watch?v=", "vimeo": "vimeo.com/"}
# Whose attributes are for machines: what stands in their place.
_REPLACED = {
    **dict.fromkeys(("Head", "Helmet", "Meta", "SEO", "Seo", "Script"), ""),
    "DocCardList": PAGES_BELOW,
}
# Sites of Docusaurus may give every page its components.
OWN = r"[ \t]*<(?:TabItem[ \t\n][^<>]{0,300}\blabel=|DocCardList\b)"
_MAX_NESTING = 8
# Characters, and pieces, in which the paragraph around an image begins.
_MAX_BEFORE, _MAX_PIECES = 1_000, 50
_BLANK_LINE = re.compile(rf"\n[ \t>{TAG}]*\n")
# A tag of HTML, and whether it begins a line.
_ELEMENT = re.compile(
    r"(?P<line>(?m:^)(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t]){0,80})?<(?P<slash>/?)(?P<name>[a-z]\w{0,30})"
)
_TABS = ("TabItem", "CodeGroupItem", "Tab", "Tabs.Tab")
_NOTES = ("Admonition", "Aside", "Callout", "Note", "Info", "Tip", "Check", "Warning", "Caution", "Danger")
_KINDS = {
    "Info": "info",
    "Tip": "tip",
    "Check": "tip",
    "Warning": "warning",
    "Caution": "caution",
    "Danger": "danger",
}
BOXES = {**dict.fromkeys(_TABS, "tab"), **{name: _KINDS.get(name, "note") for name in _NOTES}}
_BOX = re.compile(
    rf"(?P<line>(?m:^)[ \t]*)?<(?P<slash>/?)(?P<name>{'|'.join(map(re.escape, BOXES))})(?=[\s>])"
)


def boxes(text: str) -> set[str]:
    """Return the components that become boxes: as many are closed as opened, and all begin a line."""
    at_line, opening, closing = Counter[str](), Counter[str](), Counter[str]()
    for found in _BOX.finditer(text):
        (closing if found["slash"] else opening)[found["name"]] += 1
        at_line[found["name"]] += found.start("line") >= 0 and not found["slash"]
    return {name for name in opening if opening[name] == at_line[name] == closing[name]}


def attributes(tag: str) -> dict[str, Any]:
    """Return the attributes of an opening tag; in place of what is computed stands the source in braces."""
    given: dict[str, Any] = {}
    at = re.match(r"<[\w.:-]*", tag).end()  # type: ignore[union-attr] # a tag begins so
    while found := _ATTRIBUTE.search(tag, at):
        at = found.end()
        if found[4] or found[0] == "{":
            at = _closing(tag, at)
            source = _ADDRESS_CALL.sub(r"\1", tag[found.end() : at - 1].strip())
        if found[4]:
            value = read_value(source)
            given[found[1]] = f"{{{source}}}" if value == UNREAD else value
        elif found[1]:
            given[found[1]] = found[2] or found[3] or (found.end() == found.end(1) or "")
    return given


def tab_titles(tag: str) -> list[str]:
    """Return the titles of tabs that stand in the tag around them, in order (Nextra, Fumadocs)."""
    items = attributes(tag).get("items")
    return [each for each in items if isinstance(each, str)] if isinstance(items, list) else []


def tab_labels(tag: str) -> dict[str, str]:
    """Return the titles of tabs that stand in the tag around them, by their values (Docusaurus)."""
    values = attributes(tag).get("values")
    tabs = [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []
    return {_text(each, "value"): _text(each, "label") for each in tabs if _text(each, "label")}


def _closing(tag: str, at: int) -> int:
    """Return the offset after the brace that closes the one before ``at``."""
    depth = 1
    for found in _IN_BRACES.finditer(tag, at):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.end()
    return len(tag)


def image(name: str, tag: str, imported: Mapping[str, str], before: Sequence[str]) -> str:
    """Return the image that a component or a tag with computed attributes shows; nothing for another.

    Within another element, of which ``before`` are the pieces so far, it is HTML, in which markdown is text.
    """
    if name not in _IMAGES:
        return ""
    given = attributes(tag)
    sources = given.get("sources")
    source = given.get("src") or (sources.get("light") if isinstance(sources, dict) else sources)
    address = _address(source, imported)
    text = re.sub(r"[\[\]\n<>]", " ", _text(given, "alt", "title")).strip()
    if not address or re.search(r"[<>\n]", address):
        return ""
    if _is_in_element(before):
        return f'<img src="{escape(address)}" alt="{escape(text)}">'
    return f"![{text}](<{address}>)"


def link(target: str, before: Sequence[str]) -> tuple[str, str]:
    """Return what begins and what ends a link, which is HTML within another element."""
    return (f'<a href="{escape(target)}">', "</a>") if _is_in_element(before) else ("[", f"](<{target}>)")


def _is_in_element(before: Sequence[str]) -> bool:
    """Return whether the end of a text is within an element of HTML that begins a line of its paragraph."""
    near = "".join(piece[-_MAX_BEFORE:] for piece in before[-_MAX_PIECES:])[-_MAX_BEFORE:]
    paragraph = _BLANK_LINE.split(near)[-1]
    if _ELEMENT.match(paragraph.rpartition("\n")[2]):
        return True
    still_open, begun = Counter[str](), set[str]()
    for found in _ELEMENT.finditer(paragraph):
        still_open[found["name"]] += -1 if found["slash"] else 1
        if found["line"] is not None:
            begun.add(found["name"])
    return any(still_open[name] > 0 for name in begun)


def _address(source: object, imported: Mapping[str, str]) -> str:
    if not isinstance(source, str):
        return ""
    if not source.startswith("{"):
        return source.removeprefix("@site/static")
    return imported.get(source[1:-1].removesuffix(".src"), "").removeprefix("@site/static")


def file_entry(name: str, tag: str) -> str:
    """Return a file or a folder of a tree of files as an item of a list, a space for its end; else nothing.

    The indentation of the source nests the items.
    """
    if name.rpartition(".")[2] not in ("File", "Folder"):
        return ""
    named = "" if tag.startswith("</") else _text(attributes(tag), "name")
    return f"- {_code(named)}" if named else " " if tag.startswith("</") else ""


def details(tag: str) -> str:
    """Return what opens or closes a part that folds in place of ``<Details summary="x">`` (Docusaurus)."""
    if tag.startswith("</"):
        return "\n\n</details>\n"
    given = attributes(tag).get("summary")
    summary = re.sub(r"</?summary>", "", given.strip("{}")).strip() if isinstance(given, str) else ""
    shown = f"\n<summary>{_MARKUP.sub(lambda found: f'&#{ord(found[0])};', summary)}</summary>\n"
    return "<details>" + (shown if summary else "")


def said(name: str, given: Mapping[str, Any], *, is_whole: bool) -> str:
    """Return what a component that begins a line says in attributes; ``is_whole`` if it has no content."""
    if name in _REPLACED:
        return _REPLACED[name]
    if name == "Mermaid" and isinstance(drawn := given.get("value"), str) and "```" not in drawn:
        return f"```mermaid\n{drawn.strip()}\n```"
    if is_whole and _OF_CODE.search(name) and (listing := _listing(given)):
        described = _prose(_text(given, *_TEXTS[:3]))
        return "\n\n".join(filter(None, (_heading(given), described, listing)))
    host = next((each for part, each in _VIDEO_HOSTS.items() if part in name.lower()), "")
    if host and (video := re.fullmatch(r"[\w-]{1,40}", _text(given, *_VIDEO_IDS))):
        return linked(f"https://{host}{video[0]}", _text(given, *_TITLES))
    if name in _FIELDS:
        return f"{_code(_signature(given))}\n\n" + (_prose(_text(given, *_TEXTS)) if is_whole else "")
    lines = [heading] if (heading := _heading(given)) else []
    if is_whole:
        lines += [described] if lines and (described := _prose(_text(given, *_TEXTS[:3]))) else []
        lines += ["\n".join(entries) for value in given.values() if (entries := list(_entries(value)))]
    return "\n\n".join(lines)


def _listing(given: Mapping[str, Any]) -> str:
    """Return the code in an attribute, such as ``<Snippet text="npm install x" />``, as a block."""
    found = next((given[key] for key in _CODES if given.get(key)), "")
    lines = [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str)]
    code = "\n".join(lines).strip("\n")
    if not code.strip() or "```" in code or code.startswith("{"):
        return ""
    language = re.sub(r"[^\w+#-]", "", _text(given, "language", "lang"))
    return f"```{language}\n{code}\n```"


def inline(name: str, given: Mapping[str, Any]) -> str:
    """Return the words of a component within a sentence, such as ``<Badge text="new" />``."""
    return _prose(_text(given, "text")) if name == "Badge" else ""


def target(given: Mapping[str, Any]) -> str:
    """Return where a component leads that has no title of its own; nothing if it does not say so."""
    found = "" if _text(given, *_TITLES) else _text(given, *_LINKS)
    return "" if re.search(r"[<>\s{}]", found) else found


def _heading(given: Mapping[str, Any]) -> str:
    title, address = _prose(_text(given, *_TITLES)), _text(given, *_LINKS)
    if not title:
        return ""
    is_link = address and not re.search(r"[<>\s{}]", address) and not re.search(r"[\[\]]", title)
    return f"**[{title}](<{address}>)**" if is_link else f"**{title}**"


def _entries(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a list of the objects in an attribute: properties, questions, cards."""
    if depth > _MAX_NESTING:
        return
    if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
        value = [{"name": name, **each} for name, each in value.items()]
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict) and (line := _entry(each)):
            yield f"{'  ' * depth}- {line}"
            below = (inner for name, inner in each.items() if name not in _TEXTS)
            for inner in below:
                yield from _entries(inner, depth + 1)


def _entry(each: Mapping[str, Any]) -> str:
    signature, heading = _signature(each), _heading(each)
    parts = [heading] if heading else [_code(signature)] if signature else []
    return " — ".join([*parts, *filter(None, [_prose(_text(each, *_TEXTS))])]) if parts else ""


def _signature(given: Mapping[str, Any]) -> str:
    """Return a property as TypeScript writes it: ``name?: type = default``."""
    name, kind, default = _text(given, *_NAMES), _text(given, "type"), _text(given, *_DEFAULTS)
    optional = "?" if name and any(given.get(each) is True for each in _OPTIONAL) else ""
    typed = ": ".join(filter(None, [name + optional, kind]))
    return f"{typed} = {default}" if typed and default else typed


def _text(given: Mapping[str, Any], *names: str) -> str:
    """Return the first of these attributes that is a text or a number, on one line."""
    for name in names:
        value = given.get(name)
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, str) and value.strip() and not value.startswith("{<"):
            return " ".join(value.split())
    return ""


def _code(text: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}" if text else ""


def _prose(text: str) -> str:
    """Return a text in which signs of tags and braces outside code stand for themselves."""
    return _outside_code(text, lambda piece: _MARKUP.sub(lambda found: f"&#{ord(found[0])};", piece))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    pieces, at = list[str](), 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [change(text[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*pieces, change(text[at:])])
