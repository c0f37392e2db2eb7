"""What an SVG must not hold, since a browser that opens it by itself runs and loads what it names; and
whether one can be seen on white.
"""

from __future__ import annotations

import re
from xml.parsers.expat import ExpatError, ParserCreate

_BETWEEN = " "
_XHTML = "http://www.w3.org/1999/xhtml"
_ACTIVE = frozenset({"script", "handler", "listener", "iframe", "object", "embed", "form"})
# What drawing programs write labels with; other HTML in a drawing is refused.
_TEXT_NAMES = """
    a b big blockquote br center code dd div dl dt em font h1 h2 h3 h4 h5 h6 hr i li mark ol p pre s small
    span strike strong sub sup table tbody td tfoot th thead tr tt u ul
"""
_TEXT = frozenset(_TEXT_NAMES.split())
_REFERENCES = frozenset({"href", "src"})
_BLANK = re.compile(r"[\x00-\x20]+")
# Within the file, or an image that stands in the address itself.
_INWARD = re.compile(r"#|data:image/(?:png|jpeg|jpg|gif|webp|avif)[;,]|\Z", re.IGNORECASE)
_PAGE = re.compile(r"https?://", re.IGNORECASE)
_RUNS = re.compile(r"(?:java|vb)script:", re.IGNORECASE)
_LOADS = re.compile(
    r"@import|image-set\(|\bsrc\(|url\(\s*[\"']?\s*(?!#|data:(?:image/|font/|application/(?:x-)?font)|[\"'#)])",
    re.IGNORECASE,
)
_IMPORT = re.compile(
    rb"@import\s{1,20}(?:url\([^()<>]{0,1000}\)|(?:\"|&quot;)[^\"<>]{0,1000}?(?:\"|&quot;)|'[^'<>]{0,1000}')"
    rb"[^;<>{}]{0,200}(?:;|(?=[<\]]))"
)
# A font that stands in the rule itself is kept.
_FONT = re.compile(rb"@font-face\s*\{[^{}<>]*\}", re.IGNORECASE)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)

# ``fill: none``, and words such as ``evenodd``, which belong to ``fill-rule``, paint nothing.
_PAINT = re.compile(r"\b(?:fill|stroke)[:=\s\"']{1,20}(#[0-9a-f]{3,8}|[a-z]+\(?)", re.IGNORECASE)
_NO_PAINT = frozenset(["none", "transparent", "inherit"])
_WHITE = frozenset(["white", "#fff", "#ffffff", "#ffff", "#ffffffff"])
_SHAPES = frozenset({"circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "text"})
# What stands in them only cuts others out.
_CUTTING = frozenset({"clipPath", "mask"})


class _Refused(Exception):
    """Raised for the first thing that an SVG must not hold."""


def svg_fault(content: bytes) -> str:
    """Return why the SVG is refused; nothing if it runs nothing and loads nothing from elsewhere.

    A link to a web page in an ``a`` element is fine: nobody follows it unasked.
    """
    try:
        _Reader().read(content)
    except _Refused as refused:
        return f"the SVG holds {refused}"
    except (ExpatError, ValueError, LookupError) as error:  # also an encoding that nobody knows
        return f"not well-formed SVG: {error}"
    return ""


def without_imports(content: bytes) -> bytes:
    """Return the SVG without rules that load style sheets or fonts, as drawing programs write them.

    What is left is to be looked at anew.
    """
    return _FONT.sub(_kept_font, _IMPORT.sub(b"", content))


def _kept_font(rule: re.Match[bytes]) -> bytes:
    return b"" if _LOADS.search(_plain_css(rule[0].decode("utf-8", "replace"))) else rule[0]


class _Reader:
    """A reader of one SVG, from its first to its last tag."""

    def __init__(self) -> None:
        self._depth = 0
        self._styles = 0
        self._style: list[str] = []

    def read(self, content: bytes) -> None:
        parser = ParserCreate(namespace_separator=_BETWEEN)
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.ProcessingInstructionHandler = self._instruction
        parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(_BETWEEN)
        if not self._depth and local != "svg":
            raise _Refused(f"no drawing, but <{local:.40}>")
        self._depth += 1
        if local.lower() in _ACTIVE or (namespace == _XHTML and local not in _TEXT):
            raise _Refused(f"<{local:.40}>")
        self._styles += local == "style"
        for key, value in attributes.items():
            self._attribute(local, key.rpartition(_BETWEEN)[2].lower(), value)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name.rpartition(_BETWEEN)[2] == "style":
            self._styles -= 1
            _require_inward_style("".join(self._style))
            self._style = []

    def _attribute(self, element: str, key: str, value: str) -> None:
        bare = _BLANK.sub("", value)
        if key == "base" or (key == "attributename" and bare.lower().endswith("href")):
            raise _Refused(f"{key}, which moves references")
        if key.startswith("on"):
            raise _Refused(f"the event handler {key:.40}")
        if _RUNS.search(bare):
            raise _Refused(f"a script in {key:.40}")
        if key in _REFERENCES and not (_INWARD.match(bare) or (element == "a" and _PAGE.match(bare))):
            raise _Refused(f"a reference that leaves the file: {value:.80}")
        _require_inward_style(value)

    def _text(self, text: str) -> None:
        if self._styles:
            self._style.append(text)

    def _entity(self, name: str, *_: object) -> None:
        raise _Refused(f"the entity {name:.40}")

    def _instruction(self, target: str, _data: str) -> None:
        if target.lower().startswith("xml"):
            raise _Refused(f"the instruction {target:.40}")


def _require_inward_style(style: str) -> None:
    if found := _LOADS.search(_plain_css(style)):
        raise _Refused(f"a reference that leaves the file: {found.string[found.start() :]:.80}")


def _plain_css(style: str) -> str:
    """Return the style without comments and escapes, which could hide an address."""
    if "\\" not in style and "/*" not in style:
        return style
    return _CSS_ESCAPE.sub(_unescaped, _CSS_COMMENT.sub("", style))


def _unescaped(found: re.Match[str]) -> str:
    number = int(found[1], 16) if found[1] else 0
    return found[2] or (chr(number) if 0 < number < 0x110000 else "\ufffd")


class _Paints:
    """A reader of all that one SVG paints with, in which shapes that nothing says it of are black."""

    def __init__(self) -> None:
        self.found = set[str]()
        self._are_painted, self._cut = [False], 0

    def read(self, content: bytes) -> None:
        parser = ParserCreate(namespace_separator=_BETWEEN)
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add  # of style sheets
        parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(_BETWEEN)[2]
        self._cut += bool(self._cut) or local in _CUTTING
        self._add(" ".join(f"{key}:{attributes.get(key, '')};" for key in ("fill", "stroke", "style")))
        is_painted = self._are_painted[-1] or "fill" in attributes or "class" in attributes
        self._are_painted.append(is_painted or "fill" in attributes.get("style", ""))
        if local in _SHAPES and not self._cut and (local == "image" or not self._are_painted[-1]):
            self.found.add("black")

    def _end(self, _name: str) -> None:
        self._are_painted.pop()
        self._cut -= bool(self._cut)

    def _add(self, text: str) -> None:
        if not self._cut:
            self.found |= {each.lower() for each in _PAINT.findall(text)} - _NO_PAINT


def is_white(content: bytes) -> bool:
    """Return whether all that an SVG paints is white, as a logo is that was drawn for a coloured header."""
    paints = _Paints()
    try:
        paints.read(content)
    except (ExpatError, ValueError, LookupError):
        return False
    return bool(paints.found) and paints.found <= _WHITE
