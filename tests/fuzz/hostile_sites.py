"""Sites whose front matter and settings mean harm: documents by their paths, and the table ``site``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.pictures import png, svg

_TEXTS = (
    "../../../x", "/etc/passwd", "a\0b", "a\x1b[2Jb", "\u202egnp", "a" * 10_000, "CON", "aux.html", "a:b",
    "..\\..\\x", "%2e%2e/%2e%2e/x", "a?b#c", "a\nb", "javascript:alert(1)", "//evil.example/x",
    "_assets/theme.js", "_search", "index.html", "INDEX.HTML", "404", "service-worker.js", "robots.txt", ".",
    " ", "X", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a b ", "a.", ".noctule-site",
    "/".join("d" * 300), "\U0001f600",
)  # fmt: skip
_KEYS = (
    "slug", "permalink", "redirect_from", "aliases", "redirect_to", "id", "title", "nav_title", "parent",
    "authors", "tags", "date",
)  # fmt: skip
_DIGITS = "9" * 400
_ORDERS = (
    _DIGITS, f"-{_DIGITS}", ".nan", ".inf", "-.inf", "1e400", "[1]", "{a: b}", "true", "2001-01-01",
    "0x" + "f" * 300, "1_0", "-0.0",
)  # fmt: skip
_DAYS = (
    "0000-01-01", "0001-01-01", "9999-12-31", "99999-01-01", "2001-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "[2001-01-01, 2002-02-02]", "5", "-5", "1e99",
    "2024-02-30", "yesterday", "{a: b}", "true", '"2024-01-01\\n<b>"', "2001-01-01 00:00:00.123456789",
    "00:00:00", _DIGITS,
)  # fmt: skip
_ADDRESSES = (
    "javascript:alert(1)", "https://ok.example/\nscript-src *", "https://ok.example/;script-src *",
    "https://ok.example/'>", "../api/\n<script>", "//evil", "/\\evil", "\\\\evil", "..", "data:text/html,x",
    "https://a;b/", "https://ok.example:99999/", "../a;script-src 'unsafe-inline'",
    "https://ok.example @evil/", "https://user:pw@evil/", '../x" onload="alert(1)', " javascript:alert(1)",
    "java\tscript:x", "\x01javascript:x", "https://[::1]/",
)  # fmt: skip
_NAMES = (
    "../x", "..", ".", "a/b", "x\ny", "index.html", "versions.js", "pages-x", "CON", "a" * 64, "a" * 65,
    "1.0 ", "%2e%2e", "-x", "_assets", "\u202e1",
)  # fmt: skip
_FONTS = (
    'Comic Sans";}body{background:url(//evil)', "a;b", "x\nfont", "</style>", "../../etc/passwd",
    "/etc/passwd", "x.woff2", "\\22 ", "url(//evil)", "'", " ", "a" * 9_999,
)  # fmt: skip
_COLORS = ("red;}body{background:url(//evil)", "#fff;", "#FFF", "#12345g", "</style><script>", "#ffffff\n")
_OWN = (
    "service-worker.js", "robots.txt", "versions.js", "index.html", "feed.xml", "sitemap.xml", "llms.txt",
    "llms-full", "_search", "_assets", "icon.svg", "favicon.ico", "404.html", "_redirects", "opensearch.xml",
    "CNAME", ".nojekyll", "manifest.json", "_blogs", "_cards", "_previews", "_files", "_report.html",
    "sitemap-1.xml", "_headers", "_noctule", "openapi.json",
)  # fmt: skip
_IMAGES = (
    "https://a.example;script-src%20*/x.png", "https://a.example/x.png'", "http://h:99999/x",
    "https://[::1]/x.png", "//evil/x.png", "https://a\u202e.example/x.png", "https://*.example/x.png",
    "https://*/x.png", "data:image/svg+xml,<svg onload=alert(1)>", "blob:x", "https://user:pw@h/x.png",
    "HTTPS://H.EXAMPLE/x.png", "https://x.example'unsafe-inline'/a", "https://a,b/x", "https:///x",
    "https://h/x y.png",
)  # fmt: skip
_PLAIN = {"a.md": "# A\n\n![x](https://img.example/x.png)\n", "b.md": "# B\n"}
BASE = {"base_url": "https://docs.example/"}


@dataclass(frozen=True)
class HostileSite:
    """A site by name; ``titles`` are those of pages that must be there in any case."""

    name: str
    settings: Mapping[str, Any]
    documents: Mapping[str, str] = field(default_factory=lambda: _PLAIN)
    titles: tuple[str, ...] = ()


def of_front_matter() -> Iterator[HostileSite]:
    """Yield a site for each key, with a page for each value: none costs another."""
    texts = [f'"{text}"' if text == "\U0001f600" else json.dumps(text) for text in _TEXTS]
    values = {key: [*texts, "5", "[]"] for key in _KEYS}
    values |= {key: [*_ORDERS] for key in ("nav_order", "weight", "sidebar_position", "order", "position")}
    for key, given in values.items():
        pages = {f"p{at}.md": f"---\n{key}: {value}\n---\n\n# Page {at}\n" for at, value in enumerate(given)}
        titles = (
            tuple(f"Page {at}" for at in range(len(given))) if key not in ("title", "redirect_to") else ()
        )
        pages |= {"x.md": "# Well\n\n[p](p0.md)\n"}
        yield HostileSite(key, {"slugs": True, **BASE}, pages, ("Well", *titles))
    posts = {
        f"blog/posts/{at}.md": f"---\ndate: {day}\nauthors: [jane, 5, '<b>']\n"
        f"categories: [x, '../../y']\n---\n\n# Post {at}\n\nText\n<!-- more -->\nmore\n"
        for at, day in enumerate(_DAYS)
    }
    blog = {"blogs": ["blog"], "authors": {"jane": "</title><script>x</script>", "<b>": "<script>"}, **BASE}
    yield HostileSite("the dates of a blog", blog, posts | {"blog/index.md": "# Blog\n"}, ("Blog", "Post 18"))


def of_settings(folder: Path) -> Iterator[HostileSite]:
    """Yield a site for each setting with each value; files that they name are made in a folder."""
    for value in _NAMES:
        yield HostileSite(f"version {value!r:.20}", {"version": value, **BASE})
        yield HostileSite(f"alias {value!r:.20}", {"version": "1.0", "aliases": [value], **BASE})
    for value in _ADDRESSES:
        for setting, given in _led_by(value).items():
            yield HostileSite(f"{setting} {value!r:.40}", {**BASE, **given})
    for value in _COLORS:
        yield HostileSite(f"color {value!r:.20}", {"colors": {"link": value, "page": [value, value]}})
    for value in _FONTS:
        yield HostileSite(f"font {value!r:.20}", {"fonts": {"text": [value], "code": [value]}})
    for path in ("/etc/passwd", "/dev/zero", "../x.svg", *_hostile_files(folder)):
        for key in ("logo", "logo_dark", "favicon", "card_font", "words", "mermaid", "templates"):
            own = {key: path, "cards": key in ("card_font", "logo"), **BASE}
            yield HostileSite(f"{key} {Path(path).name}", own)
    for value in ('en"><script>', "x" * 1_000, "", "..", "de", "../../x"):
        for own in ({"language": value}, {"languages": {"de": value}}, {"languages": {value: "x"}}):
            yield HostileSite(f"{next(iter(own))} {value!r:.20}", own)
    for value in ("../..", "/", "..", "a", "**", "\0", "a/../../b"):
        yield HostileSite(f"blogs {value!r}", {"blogs": [value], "home": value})
    title = {
        "title": "</title><script>alert(1)</script>\u202e\x1b[2J",
        "description": '"><script>' + "x" * 100_000,
    }
    yield HostileSite("texts", {**title, "offline": True, **BASE})
    yield from _of_names()


def _led_by(value: str) -> dict[str, Mapping[str, Any]]:
    return {
        "also": {"also": [{"label": '<b>\n"x', "url": value}]},
        "base_url": {"base_url": value if value != "//evil" else "ftp://evil"},
        "edit_url": {"edit_url": value},
        "image": {"image": value},
        "redirects to": {"redirects": {"/old": value, "/old2/": "/a.html", "/o3": "/old3"}},
        "redirects from": {"redirects": {value: "/a.html"}},
        "versions": {"versions": [{"label": "<b>", "url": value}]},
    }


def _of_names() -> Iterator[HostileSite]:
    """Yield sites whose documents and redirects have names of a site's own files, or of each other."""
    offline = {"offline": True, "cards": True, **BASE}
    folders = {f"{name}/x.md": "# X\n" for name in _OWN} | {"y.md": "# Well\n"}
    yield HostileSite("folders with names of the site's files", offline, folders, ("Well",))
    documents = {f"{name}.md": "# X\n" for name in _OWN} | {"y.md": "# Well\n"}
    yield HostileSite("documents with names of the site's files", offline, documents, ("Well",))
    for name in _OWN:
        redirects = {f"/{name}": "/a.html", f"/{name}/x.html": "/a.html"}
        yield HostileSite(f"a redirect from {name}", {**offline, "redirects": redirects})
    alike = {"A.md": "# A1\n", "a.md": "# A2\n", "a.html.md": "# x\n", "a/index.md": "# x\n",
             "A/b.md": "# y\n", "index.md": "# i\n", "README.md": "# r\n", "Index.MD": "# I\n"}  # fmt: skip
    yield HostileSite("names that differ in case", {}, alike)
    yield HostileSite("such names without endings", {"clean_urls": True}, alike)
    images = {"a.md": "# A\n" + "".join(f"![x]({url})\n\n" for url in _IMAGES)}
    yield HostileSite("images elsewhere", {"remote_images": True}, images)
    titles = ("W" * 50_000, "\u202e\u0301" + "\u0301" * 5_000, "\U0001f600\x1b", "a " * 30_000, "x")
    long = {f"{at}.md": f"# {title}\n" for at, title in enumerate(titles)}
    yield HostileSite("titles on cards", {"cards": True, **BASE}, long)


def _hostile_files(folder: Path) -> list[str]:
    """Return files that are no image, font or list of words, or more than they seem."""
    files = {"evil.svg": svg(9, 9, "<script>alert(1)</script>"), "cut.png": png(90, 90)[:60]}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in files]
