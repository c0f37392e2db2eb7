"""Readers of forged snapshots: checks, searches, SQL, lineage and drawings end in the house's own errors."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from noctule.artifacts.query.graph import FORMATS, graphml, link_graph
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.flows.cli.trace import lines as trace_lines
from noctule.flows.report.trace import trace
from noctule.pipeline.errors import NoctuleError, QueryError
from noctule.pipeline.model import SnapshotId
from noctule.pipeline.printable import is_printable, printable
from tests.fuzz import forged
from tests.library_builder import PLAIN, TODAY, WordEncoder, settings_of


def snapshot(script: bytes) -> None:
    """A snapshot with forged cells or bytes and a manifest that fits: checked, searched, asked in SQL."""
    made = forged.snapshot_of(script)
    if made is None:
        return
    try:
        for read in (check_deep, _read, _trace, _draw):
            with suppress(NoctuleError):
                read(made.path, made.id)
    finally:
        made.remove()


def _read(path: Path, number: SnapshotId) -> None:
    opened = Snapshot.open(path, expected_id=number)
    with (
        Searcher(opened, _settings(), WordEncoder(), clock=lambda: TODAY) as searcher,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # a list that fails is left out, and says so
        for asked in ("boats", "harbuor lights", "SSO"):
            searcher.search(asked, 5)
        searcher.similar(searcher.search("boats", 1).hits[0].doc_id)
        searcher.search("boats", 5, filters=["tag:sea"])
        searcher.facets("collection")
        for table in ("documents", "passages", "sections"):
            try:
                searcher.sql(f"select count(*) from {table}").fetchall()
            except QueryError:
                continue


def _trace(path: Path, number: SnapshotId) -> None:
    found = trace(Store(path.parents[1]), "notes:boats.md", _settings(), snapshot=number)
    assert all(is_printable(printable(line)) for line in trace_lines(found))


def _draw(path: Path, number: SnapshotId) -> None:
    with Snapshot.open(path, expected_id=number) as opened:
        graph = link_graph(opened)
    for write in FORMATS.values():
        assert is_printable(write(graph))
    ElementTree.fromstring(graphml(graph))


@cache
def _settings() -> Any:
    return settings_of(
        **PLAIN
        | {"understand": ["acronyms", "spelling", "concepts"], "fuzziness": "auto", "caches": {"answers": 0}}
    )
