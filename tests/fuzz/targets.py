"""What is thrown at noctule: each target takes any bytes or text, and lets nothing out but the errors that
are meant.

``test_fuzz_targets.py`` runs each for a moment in the ordinary suite; ``python -m tests.fuzz.run`` (``make
fuzz``) for
minutes, with Hypothesis and, where it is installed, with atheris, which sees which branches an input reached.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

from bs4 import BeautifulSoup

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.query.understanding.operators import parse_query, split_questions
from noctule.artifacts.store.pointer import Pointer
from noctule.docsite.outline.plan import plan_site
from noctule.pipeline.chunk.passages import build_passages
from noctule.pipeline.chunk.sections import build_tree, code_blocks
from noctule.pipeline.errors import ArtifactError, RejectedDocument, SettingsError
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.includes.python_blocks import page_of
from noctule.pipeline.lexical.analyzer import code_analyzer, prose_analyzer, terms
from noctule.pipeline.model import Document, PythonModule, Source
from noctule.pipeline.navigation.script_imports import Script
from noctule.pipeline.navigation.sidebars import read_docusaurus, read_vitepress
from noctule.pipeline.navigation.summary import read_summary
from noctule.pipeline.navigation.toctree import toctrees
from noctule.pipeline.navigation.yaml_files import (
    read_category,
    read_data,
    read_generated,
    read_mkdocs,
    read_pages,
    read_zensical,
)
from noctule.pipeline.parse import parse
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.collection import Api, Collection
from noctule.pipeline.settings.settings import Chunk, Site
from noctule.pipeline.untrusted import NotRead, read_toml, read_yaml
from tests.fuzz import folders, forged, forged_readers, forged_site
from tests.fuzz.front_matter import front_matter

Target = Callable[[bytes], None]
_RUNNING = {"script", "iframe", "object", "embed", "base", "form", "svg", "style", "link", "meta"}
_COLLECTION = Collection(root="unused")
_CHUNK = Chunk(max_tokens=64, overlap_tokens=8)


def _parsed(content: bytes, path: str) -> Document | None:
    try:
        return parse(Source("c", path, content, sha256_hex(content)), _COLLECTION)
    except RejectedDocument as rejection:
        assert rejection.what
        # A parser's own error would cost the document: it must be looked at.
        assert not rejection.what.startswith("the parser failed"), rejection.what
        return None


def _is_sound(document: Document) -> None:
    """Spans are ordered and lie in the text; what is cut from it covers it and is bounded."""
    document.text.encode()
    spans = sorted((noun.start, noun.end) for noun in (*document.headings, *document.blocks))
    assert all(0 <= start < end <= len(document.text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert is_inert(document.html), document.html
    nodes = build_tree(document)
    code_blocks(document, nodes)
    passages = build_passages(document, nodes, _count, _CHUNK) if nodes else []
    size = len(document.text.encode())
    assert all(0 <= p.byte_start <= p.byte_end <= size for p in passages)
    assert all(0 < p.tokens <= _CHUNK.max_tokens for p in passages)
    assert len({p.passage_id for p in passages}) == len(passages)


def is_inert(html: str) -> bool:
    """Whether no element or attribute runs anything."""
    for element in BeautifulSoup(html, "html.parser").find_all(True):
        if element.name in _RUNNING or any(name.startswith("on") for name in element.attrs):
            return False
        for name in ("href", "src"):
            if re.match(r"\s*(?:javascript|data|vbscript):", str(element.get(name, "")), re.I):
                return False
    return True


def _count(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w|[^\w\s]", text)) for text in texts]


def _reader(path: str) -> Target:
    def read(content: bytes) -> None:
        document = _parsed(content, path)
        if document is not None:
            _is_sound(document)

    return read


def page(content: bytes) -> None:
    """A page of the site from any markdown: nothing in it runs."""
    from tests.site_builder import snapshot_of

    text = content.decode("utf-8", "ignore")
    plan = plan_site(snapshot_of({"notes": {"page.md": text}}), Site())
    if "page.html" in plan.by_page:
        html = plan.renderer.render(plan.by_page["page.html"]).html
        assert is_inert(html), html


def toml(content: bytes) -> None:
    """A settings file."""
    try:
        given = tomllib.loads(content.decode("utf-8"))
        reading.parse(given, where="fuzz")
    except (SettingsError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return


def store_files(content: bytes) -> None:
    """A manifest and a pointer."""
    for read in (
        lambda: Manifest.from_bytes(content, where="fuzz"),
        lambda: Pointer.from_bytes(content, where="fuzz", hint="Mend it."),
    ):
        try:
            read()
        except ArtifactError:
            continue


def query(content: bytes) -> None:
    """The language of queries, and the analyzers."""
    text = content.decode("utf-8", "surrogateescape")  # halves of characters too
    typed = parse_query(text)
    typed.plain.encode()
    assert len(split_questions(typed.plain)) >= 1 or not typed.plain.strip()
    for analyzer in (prose_analyzer("en"), prose_analyzer("und"), code_analyzer()):
        assert all(terms(analyzer, typed.plain))


def search(content: bytes) -> None:
    """A search over a small library, by words and by a cheap kind of sense."""
    text = content.decode("utf-8", "surrogateescape")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a phrase that stands nowhere is searched as words, and says so
        answer = _searcher().search(text, 5)
    assert len(answer.hits) <= 5
    assert all(hit.score == hit.score for hit in answer.hits)


@cache
def _searcher() -> Searcher:
    from noctule.artifacts.store.store import Store
    from tests.library_builder import build_library, searcher_of

    folder = Path(mkdtemp(prefix="noctule-fuzz-"))
    store = build_library(folder)
    assert isinstance(store, Store)
    return searcher_of(
        store, understand=["acronyms", "spelling", "concepts"], fuzziness="auto", caches={"answers": 0}
    )


def python(content: bytes) -> None:
    """A module of a Python package, described on a page of its own."""
    modules = (PythonModule("pkg.a", content, is_package=False),)
    given = Source("c", "api/pkg/a.md", page_of("pkg.a").encode(), sha256_hex(content), modules=modules)
    collection = Collection(root="unused", api=Api(packages=("pkg",)))
    try:
        _is_sound(parse(given, collection))
    except RejectedDocument as rejection:
        assert not rejection.what.startswith("the parser failed"), rejection.what


def navigation(content: bytes) -> None:
    """Any file of another tool is a table of contents, remarks, or refused."""
    text = content.decode("utf-8", "replace")
    for read in (
        read_mkdocs,
        read_zensical,
        read_data,
        read_pages,
        lambda given: read_category(given, "x.json"),
        lambda given: read_generated(given, "x.json", "a/b"),
        read_yaml,
    ):
        with suppress(NotRead):
            read(text)
    with suppress(ValueError, RecursionError):
        read_toml(text)
    for name in ("x.js", "x.json"):
        for category in read_docusaurus(Script(text, name)).categories[:20]:
            _reader("a.md")(category.markdown.encode("utf-8", "replace"))
        read_vitepress(Script(text, name))
    read_summary(text)
    list(toctrees(text, ""))
    list(toctrees("", text))


TARGETS: dict[str, Target] = {
    "markdown": _reader("a.md"),
    "mdx": _reader("a.mdx"),
    "html": _reader("a.html"),
    "rst": _reader("a.rst"),
    "notebook": _reader("a.ipynb"),
    "canvas": _reader("a.canvas"),
    "text": _reader("a.txt"),
    "pdf": _reader("a.pdf"),
    "docx": _reader("a.docx"),
    "python": python,
    "page": page,
    "settings": toml,
    "store": store_files,
    "query": query,
    "navigation": navigation,
    "search": search,
    "faiss": forged.faiss_file,
    "parquet": forged.parquet_file,
    "snapshot": forged_readers.snapshot,
    "site": forged_site.site,
    "importers": folders.importers,
    "includes": folders.includes,
    "service": folders.service,
    "events": folders.events,
    "front_matter": front_matter,
}
