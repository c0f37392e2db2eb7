"""The folders that are compared, and how each tool is asked for its site."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from bench.corpora import corpus

from .comparison import OURS_MAIN, Result, compare, read_site
from .mdbook import write_book
from .page_parts import Page
from .tools import DOCUSAURUS, VITEPRESS, build_mkdocs, build_noctule, npm, run, tools_folder
from .vaults import check_dendron, check_foam

PAGES = Path(__file__).parent
_REFERENCE = "reference/"
_ERRORS = ("Macro Rendering Error", "Macro Syntax Error")


def _folder(name: str) -> Path:
    return tools_folder() / "sites" / name


def fastapi() -> Result:
    """Compare fastapi's guide with what MkDocs Material makes of it, without the reference."""
    theirs, ours = _fastapi()
    guide = {name: page for name, page in theirs.items() if not name.startswith(_REFERENCE)}
    return compare("fastapi", guide, ours)


def fastapi_reference() -> Result:
    """Compare fastapi's reference, which both make of the package's docstrings, each in a form of its own."""
    theirs, ours = _fastapi()
    reference = {name: page for name, page in theirs.items() if name.startswith(_REFERENCE)}
    return compare("fastapi-reference", reference, ours)


@lru_cache(maxsize=1)
def _fastapi() -> tuple[dict[str, Page], dict[str, Page]]:
    project = _folder("fastapi") / "project"
    if not project.exists():
        shutil.copytree(corpus("fastapi-site"), project)
    theirs = _folder("fastapi") / "theirs"
    if not (theirs / "index.html").exists():
        build_mkdocs(project / "docs" / "en", "fastapi", theirs)
    # MkDocs shows images of other hosts.
    ours = build_noctule(_folder("fastapi"), project, of_site="remote_images = true\n")
    return _without_errors(read_site(theirs, "article.md-content__inner")), read_site(ours, OURS_MAIN)


def docusaurus() -> Result:
    """Compare a site of Docusaurus's own starter, with pages that use each of its features."""
    home = npm(
        "docusaurus",
        *(f"@docusaurus/{p}@{DOCUSAURUS}" for p in ("core", "preset-classic", "theme-mermaid")),
        f"create-docusaurus@{DOCUSAURUS}",
        "@mermaid-js/layout-elk@0",  # theme-mermaid takes it for granted
        "react@19",
        "react-dom@19",
        "remark-math@6",
        "rehype-katex@7",
    )
    template = home / "node_modules" / "create-docusaurus" / "templates" / "shared"
    for part in ("docs", "static", "src/css"):
        shutil.copytree(template / part, home / part, dirs_exist_ok=True)
    _write_pages("docusaurus", home / "docs")
    _copy(template / "docs/tutorial-extras/img/localeDropdown.png", home / "docs/features/img/locale.png")
    (home / "docusaurus.config.js").write_text(_DOCUSAURUS_CONFIG, "utf-8")
    theirs = home / "build"
    if not (theirs / "index.html").exists():
        run(["npx", "docusaurus", "build"], home, tools_folder() / "docusaurus.log")
    return _compared("docusaurus", theirs, ".theme-doc-markdown", home)


def vitepress() -> Result:
    """Compare a site of VitePress's own templates, with pages that use each of its features."""
    home = npm("vitepress", f"vitepress@{VITEPRESS}")
    docs = home / "docs"
    _write_pages("vitepress", docs)
    template = home / "node_modules" / "vitepress" / "template"
    for name in ("api-examples.md", "markdown-examples.md"):
        _copy(template / name, docs / name)
    picture = corpus("fastapi-site") / "docs/en/docs/img/async/concurrent-burgers/concurrent-burgers-01.png"
    for target in ("public/logo.png", "features/locale.png"):
        _copy(picture, docs / target)
    sidebar = json.dumps(_vitepress_sidebar(docs))
    config = docs / ".vitepress" / "config.mjs"
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        f"export default {{ srcExclude: ['parts/**'], themeConfig: {{ sidebar: {sidebar} }} }}\n"
    )
    theirs = docs / ".vitepress" / "dist"
    if not (theirs / "index.html").exists():
        run(["npx", "vitepress", "build", "docs"], home, tools_folder() / "vitepress.log")
    # Its page shows what runs in a reader's browser alone.
    return _compared("vitepress", theirs, ".VPHome, .vp-doc", docs, without=("api-examples",))


def rust_book() -> Result:
    """Compare the Rust book with the documented rules of mdBook."""
    project, theirs = corpus("rust-book-site"), _folder("rust-book") / "theirs"
    write_book(project / "src", theirs)
    return _compared("rust-book", theirs, "main", project)


def foam() -> Result:
    """Check foam's own site against Jekyll's rules of what is published, and against its wikilinks."""
    docs = corpus("foam-site") / "docs"
    ours = build_noctule(_folder("foam"), docs)
    return check_foam(docs, read_site(ours, OURS_MAIN))


def dendron() -> Result:
    """Check Dendron's vault against its own rules of what is published, and its hierarchy."""
    vault = corpus("dendron-vault") / "vault"
    ours = build_noctule(_folder("dendron"), vault.parent)
    return check_dendron(vault, read_site(ours, OURS_MAIN))


SITES: Mapping[str, Callable[[], Result]] = {
    "fastapi": fastapi,
    "fastapi-reference": fastapi_reference,
    "docusaurus": docusaurus,
    "vitepress": vitepress,
    "rust-book": rust_book,
    "foam": foam,
    "dendron": dendron,
}


def _compared(name: str, theirs: Path, main: str, project: Path, without: Sequence[str] = ()) -> Result:
    pages = {page: found for page, found in read_site(theirs, main).items() if page not in without}
    ours = read_site(build_noctule(_folder(name), project), OURS_MAIN)
    return compare(name, _without_errors(pages), ours)


def _without_errors(pages: Mapping[str, Page]) -> dict[str, Page]:
    """Return the pages without those that the tool could not make, which are named."""
    failed = [n for n, page in pages.items() if any(b.text in _ERRORS for b in page.blocks)]
    if failed:
        named = ", ".join(name or "the home page" for name in failed)
        print(f"left out, since their own tool fails on them without the project's scripts: {named}")
    return {name: page for name, page in pages.items() if name not in ("404", "print", "search", *failed)}


def _write_pages(name: str, folder: Path) -> None:
    """Write the pages of a text file in which ``@@ path`` begins each."""
    for page in (PAGES / f"{name}_pages.txt").read_text("utf-8").split("@@ ")[1:]:
        path, _, text = page.partition("\n")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def _vitepress_sidebar(docs: Path) -> list[dict[str, object]]:
    folders = ("basics", "features", "guide")
    pages = {name: sorted((docs / name).glob("*.md")) for name in folders}
    return [{"text": name, "items": [_item(docs, page) for page in pages[name]]} for name in folders]


def _item(docs: Path, file: Path) -> dict[str, str]:
    return {"text": file.stem, "link": f"/{file.relative_to(docs).with_suffix('').as_posix()}"}


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


_DOCUSAURUS_CONFIG = """
import math from 'remark-math';
import katex from 'rehype-katex';
export default {
  title: 'Site', url: 'https://example.org', baseUrl: '/', onBrokenLinks: 'warn', onBrokenAnchors: 'warn',
  themes: ['@docusaurus/theme-mermaid'], markdown: {mermaid: true},
  presets: [['classic', {
    docs: {routeBasePath: '/', remarkPlugins: [math], rehypePlugins: [katex]}, blog: false, pages: false,
  }]],
};
"""
