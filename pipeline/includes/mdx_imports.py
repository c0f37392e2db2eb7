"""What MDX imports: partials (``import Part from './_part.mdx'``), code by ``raw-loader``, and strings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from .fences import Fences, code_of, fenced, indent_before, language_of
from .parts import Directive, Literal
from .project import Context, without_front_matter

MARKS = (" from '", ' from "', "export const", "<CodeBlock", "{/*")

_IMPORT = re.compile(
    r"^import[ \t]+(?P<name>[A-Za-z_]\w*)(?:[ \t]*,[ \t]*\{[^{}]{0,300}\})?[ \t]+from"
    r"[ \t]+[\"'](?P<target>[^\"'\n]{1,500})[\"'][ \t;]*$",
    re.MULTILINE,
)
_STRING = re.compile(
    r"^export[ \t]+const[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?:\"([^\"\n]{0,1000})\"|'([^'\n]{0,1000})'|`([^`$\n]{0,1000})`)[ \t]*;?[ \t]*$",
    re.MULTILINE,
)
_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*|\*/\})[\s\S])*\*/\}")
# Markdown's {#name} is no MDX, so Docusaurus takes a comment for it.
_HEADING_ID = re.compile(r"\{/\*\s*#([\w:.-]{1,200})\s*\*/\}")
_RAW = re.compile(r"\A!*raw-loader!|\?raw\Z")
_PAGE = re.compile(r"\.mdx?\Z")
_ATTRIBUTES = (
    r"(?P<given>(?:[^<>{}\"'/]|/(?!>)|\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|\{[^{}<>]{0,1000}\}){0,1000})"
)
_CODE = re.compile(
    rf"<CodeBlock\b{_ATTRIBUTES}>\s*\{{\s*(?:(?P<name>[A-Za-z_]\w*)|`(?P<code>[^`]{{0,50000}})`)\s*\}}\s*</CodeBlock>"
    rf"|<CodeBlock\b{_ATTRIBUTES.replace('<given>', '<said>')}>(?P<plain>[^<>{{}}]{{1,5000}})</CodeBlock>"
)
_GIVEN = re.compile(r"(\w+)=(?:\{\s*)?(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|([\d.]+)(?=\s*\}))")
_PROP = re.compile(r"\{\s*props\.(\w+)\s*\}")


def directives(text: str, context: Context) -> Iterator[Directive | Literal]:
    """Yield the uses of what a text imports in order, and its imports, which go."""
    code = code_of(text)
    imports = {each["name"]: each for each in _IMPORT.finditer(text) if not code.hold(each.start())}
    is_mdx = context.path.endswith(".mdx") or context.is_of("docusaurus") or bool(imports)
    if not is_mdx:
        return
    files = {name: _target(each["target"]) for name, each in imports.items()}
    raw = {name for name, each in imports.items() if _RAW.search(each["target"])}
    pages = {name for name in files if name not in raw and _PAGE.search(files[name])}
    for name in raw | pages:
        yield Literal(*imports[name].span(), "")
    yield from _code(text, code, {name: files[name] for name in raw})
    yield from _partials(text, code, {name: files[name] for name in pages})
    yield from _strings(text, code)
    for found in _COMMENT.finditer(text):
        if not code.hold(found.start()):
            named = _HEADING_ID.fullmatch(found[0])
            yield Literal(*found.span(), f"{{#{named[1]}}}" if named else "")


def _target(target: str) -> str:
    return _RAW.sub("", target).removeprefix("@site/").removeprefix("@docs/")


def _code(text: str, code: Fences, files: Mapping[str, str]) -> Iterator[Directive | Literal]:
    for found in _CODE.finditer(text) if "<CodeBlock" in text else ():
        if code.hold(found.start()):
            continue
        given = _given(found["given"] or found["said"] or "")
        language = given.get("language") or language_of(files.get(found["name"] or "", ""))
        title = f' title="{given["title"]}"' if given.get("title") else ""
        if (written := found["code"] or found["plain"]) is not None:
            yield Literal(*found.span(), f"\n{fenced(language + title, written.strip(chr(10)))}\n")
        elif found["name"] in files:
            form, indent = partial(fenced, language + title), indent_before(text, found.start())
            yield Directive(
                found.start() - len(indent), found.end(), files[found["name"]], form=form, indent=indent
            )


def _partials(text: str, code: Fences, files: Mapping[str, str]) -> Iterator[Directive]:
    if not files:
        return
    names = "|".join(map(re.escape, sorted(files)))
    for found in re.finditer(rf"<(?P<name>{names})\b{_ATTRIBUTES}(?:/>|>\s*</(?P=name)\s*>)", text):
        if code.hold(found.start()):
            continue
        indent = indent_before(text, found.start())
        yield Directive(
            found.start() - len(indent),
            found.end(),
            files[found["name"]],
            partial(_filled, _given(found["given"])),
            indent=indent,
            is_nested=True,
        )


def _given(text: str) -> dict[str, str]:
    return {name: "".join(values) for name, *values in _GIVEN.findall(text)}


def _filled(props: Mapping[str, str], text: str) -> str:
    """Return a partial with the properties that it is given."""
    return _PROP.sub(lambda found: props.get(found[1], found[0]), without_front_matter(text))


def _strings(text: str, code: Fences) -> Iterator[Literal]:
    """Yield the places of exported strings: ``export const x = "1"``, then ``{x}``."""
    values = dict[str, str]()
    for found in _STRING.finditer(text) if "export const" in text else ():
        if not code.hold(found.start()):
            values[found["name"]] = found[2] or found[3] or found[4] or ""
            yield Literal(*found.span(), "")
    if values:
        for found in re.finditer(rf"\{{\s*({'|'.join(map(re.escape, sorted(values)))})\s*\}}", text):
            if not code.hold(found.start()):
                yield Literal(*found.span(), values[found[1]])
