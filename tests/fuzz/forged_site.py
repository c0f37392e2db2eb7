"""Sites of forged snapshots: texts that a build would never have written, in tables that fit their manifest.

The site is refused, or nothing in it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
from bs4 import BeautifulSoup, Tag

from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.tables.schemas import schemas
from noctule.docsite.build import build_site
from noctule.docsite.templates import CONTENT_SECURITY_POLICY
from noctule.pipeline.errors import NoctuleError
from noctule.pipeline.settings.site import Site
from tests.fuzz import forged
from tests.hostile_texts import VECTORS

# Tables whose texts reach pages.
TABLES = ("documents", "sections", "code_blocks", "links", "communities", "passages", "report", "assets")
TEXTS = (
    *VECTORS,
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<p><a href='java&#x0A;script:alert(1)' ping=https://evil.example target=_top>x",
    "<div onpointerenter='alert(1)' style='position:fixed'><b></div></article></main></body></html><h1>",
    "<svg><script href=data:,alert(1) /><animate onbegin=alert(1) attributeName=x></svg>",
    "<object data=data:text/html,x></object><embed src=//evil.example>",
    "<plaintext><textarea></title><title>",
    "\"]}');alert(1)//",
    "\u2028alert(1)\u2029*/alert(1)/*",
    "]]><script>alert(1)</script>",
    "javascript:alert(1)",
    '{"slug": "\0", "nav_order": 1e999, "redirect_from": ["/../x", 5], "parent": {"a": []}}',
    '["slug", "nav_order"]',
    '{"slug": ',
)
_NEVER = {"iframe", "frame", "object", "embed", "base", "style", "applet", "portal", "frameset"}
_OWN_SCRIPT = re.compile(r"(/|(\.\./)*)_(assets|search)/[\w.-]+\.js(\?[\w=.-]*)?")
_LEADING = {
    "href",
    "src",
    "action",
    "formaction",
    "data",
    "poster",
    "srcset",
    "background",
    "ping",
    "xlink:href",
}
_ACTIVE_SCHEME = re.compile(
    r"[\x00-\x20]*(j\s*a\s*v\s*a|v\s*b)\s*s\s*c\s*r\s*i\s*p\s*t\s*:|[\x00-\x20]*data:(?!image/)", re.I
)


def columns() -> list[tuple[str, str]]:
    """Every column of text, or of lists of texts, that a page may show."""
    all_of_them = schemas(forged.dimension())
    return [
        (table, field.name)
        for table in TABLES
        for field in all_of_them[table]
        if field.type in (pa.string(), pa.list_(pa.string()))
    ]


def site(script: bytes) -> None:
    """A site of a snapshot with a forged column of texts: nothing in it runs."""
    if len(script) < 2:
        return
    table, column = columns()[script[0] % len(columns())]
    made = forged.with_texts(table, column, [TEXTS[byte % len(TEXTS)] for byte in script[1:]])
    out = made.path.with_name(f"{made.path.name}-site")
    try:
        with Snapshot.open(made.path, expected_id=made.id) as snapshot:
            build_site(snapshot, out, Site(base_url="https://docs.example/", offline=True))
    except NoctuleError:
        return
    else:
        found = [
            f"{path.relative_to(out)}: {what}" for path in sorted(out.rglob("*")) for what in active(path)
        ]
        assert not found, (table, column, found[:5])
    finally:
        made.remove()


def active(path: Path) -> Iterator[str]:
    """Yield what runs, loads or leads elsewhere in a file of a site, beside the theme's own."""
    if path.suffix == ".html":
        for element in BeautifulSoup(path.read_bytes(), "html.parser").find_all(True):
            yield from _of_element(element)
    elif path.suffix == ".xml":
        for node in ElementTree.fromstring(path.read_bytes()).iter():
            if not re.fullmatch(r"\{http[^}]+\}\w+|\w+", node.tag):
                yield f"the element {node.tag}"


def _of_element(element: Tag) -> Iterator[str]:
    name, attributes = element.name, element.attrs
    if name in _NEVER:
        yield f"<{name}>"
    if name == "script" and not (_OWN_SCRIPT.fullmatch(str(attributes.get("src"))) and not element.text):
        yield str(element)[:200]
    if name == "meta" and "http-equiv" in attributes and attributes.get("content") != CONTENT_SECURITY_POLICY:
        yield str(element)[:200]
    for key, value in attributes.items():
        if key.startswith("on") or key in ("style", "srcdoc"):
            yield f"<{name} {key}={value!r}>"
        if key in _LEADING and _ACTIVE_SCHEME.match(str(value)):
            yield f"<{name} {key}={value!r}>"
        if name in ("link", "img", "video", "source") and key in _LEADING and str(value).startswith("//"):
            yield f"<{name} {key}={value!r}>"
