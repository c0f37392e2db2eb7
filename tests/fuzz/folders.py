"""Targets that need a folder: settings that are imported, included files, arguments of the service, and
recorded events.
"""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import parse_qsl

from noctule.artifacts.judged.reading import read_judged
from noctule.artifacts.query.searcher import Searcher
from noctule.flows.importers.dependencies import snippet_folders
from noctule.flows.importers.imported_settings import collection_name, settings_text
from noctule.flows.importers.tools import read_tool
from noctule.flows.quality.feedback.analysis import analyse_events
from noctule.flows.quality.feedback.click_judgements import LeastCounts, write_judged
from noctule.flows.quality.feedback.feedback_page import feedback_page
from noctule.pipeline.errors import NoctuleError, RejectedDocument, SourceError
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.source_files import FoundFile
from noctule.server.agents.tools import Tools
from noctule.server.api import parameters
from noctule.server.problems import HttpProblem

_SETTINGS = (
    "mkdocs.yml", "book.toml", "docusaurus.config.js", "astro.config.mjs", ".vitepress/config.ts",
    "hugo.toml",
    "hugo.yaml", "_config.yml", "dendron.yml", "conf.py", "antora.yml", "quartz.config.ts",
)  # fmt: skip
_MODELS = (
    parameters.SearchParameters, parameters.MultiSearchParameters, parameters.SimilarParameters,
    parameters.RelatedParameters, parameters.DocumentParameters, parameters.DocumentListParameters,
)  # fmt: skip
_TOOLS = ("search_docs", "read_doc", "browse_docs")


@cache
def _folder() -> Path:
    """A project of somebody else's, in a folder with what it must not reach."""
    top = Path(mkdtemp(prefix="noctule-fuzz-folder-"))
    for name in ("docs", "src/content/docs", "content", "vault", "blog", ".git", ".vitepress", "_data"):
        (top / "repo" / name).mkdir(parents=True, exist_ok=True)
        (top / "repo" / name / "a.md").write_text("# A\n\n{% include a.md %}\n")
    (top / "repo" / "docs" / "link").symlink_to(top)
    (top / "secret").mkdir()
    (top / "secret" / "a.md").write_text("SECRET")
    return top / "repo"


def importers(content: bytes) -> None:
    """Settings of another tool: imported as settings that can be read, within the project, or refused."""
    if not content:
        return
    file = _folder() / _SETTINGS[content[0] % len(_SETTINGS)]
    file.write_bytes(content[1:])
    try:
        found = read_tool(file)
    except SourceError:
        return
    finally:
        file.unlink()
    text = settings_text(found, collection_name(found), _folder(), snippet_folders(found, _folder()))
    given = tomllib.loads(text.encode().decode())
    with suppress(NoctuleError):  # a value that is none of ours, such as an unknown language
        parse(given, where="fuzz")
    for each in given["collections"].values():
        folders = (each["root"], *each.get("static_folders", ()), *each.get("snippet_folders", ()))
        assert all((_folder() / one).resolve().is_relative_to(_folder()) for one in folders), text


def includes(content: bytes) -> None:
    """A document with directives, and Jekyll's settings beside it: expanded within its folder."""
    settings, _, text = content.partition(b"\0")
    folder = _folder() / "docs"
    (folder / "_config.yml").write_bytes(settings)
    for name in ("d.md", "d.mdx", "d.rst"):
        path = folder / name
        path.write_bytes(text)
        try:
            found = read_source(FoundFile("c", name, str(path), len(text)), Collection(root=str(folder)))
        except RejectedDocument:
            continue
        assert b"SECRET" not in found.content.replace(text, b"")


def service(content: bytes) -> None:
    """Parameters of the service and arguments of its tools: understood, or told what is wrong."""
    text = content.decode("utf-8", "replace")
    for model in _MODELS:
        with suppress(HttpProblem):
            parameters.of_query(model, parse_qsl(text, keep_blank_values=True))
        with suppress(HttpProblem):
            parameters.of_body(model, content)
    given = _arguments(text)
    for name in _TOOLS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Tools().call(_searcher(), name, given).text.encode()


def events(content: bytes) -> None:
    """A file of recorded events: figures, a page, and judged queries that can be read, from what are some."""
    folder, limits = _recorded(), LeastCounts(1, 1)
    (folder / "events-2026-03-14.jsonl").write_bytes(content)
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    try:
        found = analyse_events(_searcher()._snapshot, Settings(), folder, limits, None, now)
    except SourceError:
        return
    page = feedback_page(found)
    page.encode()
    assert "\x1b" not in page and "<script" not in page and "<img" not in page
    json.dumps(found.as_dict(), allow_nan=False, ensure_ascii=False).encode()
    if found.judged:
        write_judged(found.judged, folder / "judged", limits)
        read = read_judged(folder / "judged")
        assert read.queries == {each.query_id: each.text for each in found.judged}
        assert read.qrels == {each.query_id: each.grades for each in found.judged}


@cache
def _recorded() -> Path:
    return Path(mkdtemp(prefix="noctule-fuzz-events-"))


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = dict(parse_qsl(text, keep_blank_values=True))
    return given if isinstance(given, dict) else {"query": text, "ref": text, "path": text}


@cache
def _searcher() -> Searcher:
    from tests.library_builder import build_library, searcher_of

    return searcher_of(build_library(Path(mkdtemp(prefix="noctule-fuzz-"))), caches={"answers": 0})
