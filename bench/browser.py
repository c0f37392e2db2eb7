"""Search in the browser on MDN, compared with the search in Python and with Pagefind in one run.

``$NOCTULE_PAGEFIND`` names the binary of Pagefind, which is skipped without it. ``$NOCTULE_BENCH_QUERIES`` is
the number of queries of each judged set, taken at equal distances: 60 by default. ``--part typed`` measures
typing alone, ``--part asked`` all the rest; ``$NOCTULE_BENCH_CORPUS`` is another corpus than MDN to type on,
and ``$NOCTULE_BENCH_SITE`` a folder that keeps what was built.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np

from bench.browser_pages import NOCTULE_PAGE, PAGEFIND_PAGE, Asked, asked, chromium
from bench.children import run
from bench.corpora import cache_folder
from bench.judged import judged_set
from bench.query_vectors import CachedEncoder
from bench.questions import FOLDER
from bench.static_server import Sent, served
from bench.typed_search import HEAD, NOCTULE_TYPED, PAGEFIND_TYPED, rows
from noctule.artifacts.judged.evaluate import (
    RankedDocuments,
    evaluate_rankings,
    for_evaluation,
    rank_documents,
)
from noctule.artifacts.judged.locating import Located, locate, places
from noctule.artifacts.judged.measures import HEADLINE
from noctule.artifacts.judged.reading import Judged
from noctule.artifacts.query import Searcher
from noctule.artifacts.store.snapshot import Snapshot
from noctule.artifacts.store.store import Store
from noctule.docsite.assets import asset_files
from noctule.docsite.incremental.previous import PreviousSite
from noctule.docsite.incremental.staging import StagingFolder
from noctule.docsite.outline.plan import plan_site
from noctule.docsite.search.background_index import begin_shown
from noctule.docsite.search.index import PrebuiltParts, search_files
from noctule.flows.run.background import Background
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import Site

SETS = ("mdn-3p-links", "mdn-3p-titlelike")
# These have no judged queries but plain questions.
_PLAINLY_ASKED = ("fastapi", "foam", "dendron")
_SETS_OF = {"rust": ("rust-book-links",), "ray": ("ray-docs",)}
_UI = ("dialog", "pagefind-ui")


@dataclass(frozen=True, slots=True)
class _Build:
    """The cost of a command with all its processes, and what it wrote.

    Wall seconds, processor seconds and megabytes of memory; then the number of files and bytes.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    files: int
    size: int


def measure(parts: Sequence[str] = ()) -> None:
    """Print build costs, bytes, latency, agreement and relevance as they are measured."""
    if not parts or "asked" in parts:
        _measure_asked()
    if not parts or "typed" in parts:
        _measure_typed()


def _measure_typed() -> None:
    corpus = os.environ.get("NOCTULE_BENCH_CORPUS", "mdn")
    store = Store(cache_folder() / f"store-{corpus}")
    if corpus in _PLAINLY_ASKED:
        lines = (FOLDER / f"{corpus}.tsv").read_text("utf-8").splitlines()[1:]
        queries = [line.partition("\t")[0] for line in lines]
    else:
        sets = [judged_set(name) for name in _SETS_OF.get(corpus, SETS)]
        queries = [each.queries[at] for each in sets for at in _sample(each)[:: len(sets)]]
    binary = os.environ.get("NOCTULE_PAGEFIND", "")
    with tempfile.TemporaryDirectory() as scratch, store.open() as snapshot:
        root = Path(os.environ.get("NOCTULE_BENCH_SITE", scratch))
        own, other = root / "noctule", root / "pagefind"
        _run([sys.executable, "-m", "bench.browser", str(store.root), str(own)], own)
        if binary and not (other / "pagefind").is_dir():
            _write_pages(snapshot, other)
            _run([binary, "--site", str(other)], other / "pagefind")
        print(f"{corpus}, {len(queries)} queries", *HEAD, sep="\n", flush=True)
        for row in rows("noctule", own, NOCTULE_TYPED, queries):
            print(row, flush=True)
        for row in rows("Pagefind", other, PAGEFIND_TYPED, queries) if binary else ():
            print(row, flush=True)


def _measure_asked() -> None:
    store = Store(cache_folder() / "store-mdn")
    binary = os.environ.get("NOCTULE_PAGEFIND", "")
    with tempfile.TemporaryDirectory() as scratch, store.open() as snapshot:
        own, other = Path(scratch) / "noctule", Path(scratch) / "pagefind"
        _print_build("noctule", _run([sys.executable, "-m", "bench.browser", str(store.root), str(own)], own))
        rows = {entry.page: entry.doc_id for entry in plan_site(snapshot, Site()).library.entries}
        if binary:
            _write_pages(snapshot, other)
            _print_build("pagefind", _run([binary, "--site", str(other)], other / "pagefind"))
        for name in SETS:
            _compare(name, snapshot, own, other if binary else None, rows)


def build(store: Path, target: Path) -> None:
    """Build only the search index, engine and dialog below ``target``, as they are made for a site."""
    with Store(store).open() as snapshot, Background() as background:
        target.mkdir(parents=True)
        stage = StagingFolder(target, PreviousSite())
        plan = plan_site(snapshot, Site())
        made = PrebuiltParts(shown=begin_shown(plan, snapshot, background, stage))
        for each in chain(asset_files(plan), search_files(plan, snapshot, prebuilt=made)):
            stage.add(each)


def _run(command: Sequence[str], left: Path) -> _Build:
    cost = run(command, {}, sample_s=0.2)
    sizes = [path.stat().st_size for path in left.rglob("*") if path.is_file()]
    return _Build(cost.wall_s, cost.cpu_s, cost.peak_mb, len(sizes), sum(sizes))


def _write_pages(snapshot: Snapshot, folder: Path) -> None:
    """Write a page for each document with the same titles, headings and passages as noctule's index."""
    folder.mkdir(parents=True)
    titles = snapshot.table("documents", ["doc_id", "title", "passages"]).to_pylist()
    headings = dict(
        zip(*snapshot.table("sections", ["section_id", "title"]).to_pydict().values(), strict=True)
    )
    passages = iter(snapshot.table("passages", ["section_id", "text"]).to_pylist())
    for number, document in enumerate(titles):
        parts = [f"<h1>{escape(document['title'] or '')}</h1>"]
        before = None
        for _ in range(document["passages"] or 0):
            each = next(passages)
            if each["section_id"] != before and headings.get(each["section_id"]):
                parts.append(f"<h2>{escape(headings[each['section_id']])}</h2>")
            before = each["section_id"]
            parts.append(f"<p>{escape(each['text'])}</p>")
        title = escape(document["title"] or "")
        page = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        body = f"<body><main data-pagefind-body>{''.join(parts)}</main></body></html>"
        (folder / f"{number}.html").write_text(page + body, "utf-8")


def _compare(name: str, snapshot: Snapshot, own: Path, other: Path | None, pages: Mapping[str, str]) -> None:
    judged = judged_set(name)
    located = locate(judged, places(snapshot))
    ids = _sample(judged)
    queries = [judged.queries[each] for each in ids]
    encoder = CachedEncoder(Settings().embed)
    static_settings = parse({"search": {"encoder": "static"}}, where="bench")
    with Searcher(snapshot, for_evaluation(static_settings)) as searcher:
        static = [rank_documents(searcher, query, "hybrid", 10).documents for query in queries]
    full_settings = parse({"search": {"encoder": "full"}}, where="bench")
    with Searcher(snapshot, for_evaluation(full_settings), encoder) as searcher:
        full = [rank_documents(searcher, query, "hybrid", 10).documents for query in queries]
    encoder.save()
    print(f"{name}, {len(ids)} of {len(judged.answerable)} queries")
    found = _in_browser(own, NOCTULE_PAGE, queries)
    browser = [_documents(each, pages) for each in found]
    worth = {
        "browser": _worth(judged, located, ids, browser),
        "Python, term vectors": _worth(judged, located, ids, static),
        "Python, full model": _worth(judged, located, ids, full),
    }
    _print_bytes("noctule", found)
    if other:
        order = snapshot.table("documents", ["doc_id"])["doc_id"].to_pylist()
        theirs = _in_browser(other, PAGEFIND_PAGE, queries)
        numbered = {f"{number}.html": doc_id for number, doc_id in enumerate(order)}
        worth["Pagefind"] = _worth(judged, located, ids, [_documents(each, numbered) for each in theirs])
        _print_bytes("Pagefind", theirs)
    same = [len({*a} & {*b}) / len(b) for a, b in zip(browser, static, strict=True) if b]
    print(f"  overlap@10 with Python {np.mean(same):.3f}")
    for system, value in worth.items():
        print(
            f"  nDCG@10 {system:21} {value:.4f}   browser / this {worth['browser'] / value:.3f}", flush=True
        )


def _sample(judged: Judged) -> list[str]:
    count = int(os.environ.get("NOCTULE_BENCH_QUERIES", "60"))
    answerable = judged.answerable
    return [answerable[at * len(answerable) // count] for at in range(min(count, len(answerable)))]


def _in_browser(root: Path, page: str, queries: Sequence[str]) -> list[Asked]:
    (root / "bench.html").write_text(page, "utf-8")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        served(root) as server,
        chromium(Path(profile)) as driver,
    ):
        return asked(driver, server, "bench.html", queries)


def _documents(found: Asked, pages: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(pages[unquote(urlsplit(url).path).lstrip("/")] for url in found.urls)


def _worth(judged: Judged, located: Located, ids: Sequence[str], ranked: Sequence[Sequence[str]]) -> float:
    rankings = {each: RankedDocuments(tuple(documents)) for each, documents in zip(ids, ranked, strict=True)}
    return evaluate_rankings(judged, located, rankings, None).means[HEADLINE]


def _print_build(system: str, cost: _Build) -> None:
    print(
        f"{system}: built in {cost.wall_s:.0f} s ({cost.cpu_s:.0f} of a processor), {cost.peak_mb:.0f} MB; "
        f"{cost.files} files, {cost.size / 1e6:.1f} MB",
        flush=True,
    )


def _print_bytes(system: str, found: Sequence[Asked]) -> None:
    whole, ui = [_size(each.first) for each in found], [_size(each.first, _UI) for each in found]
    requests = [len(each.first) for each in found]
    following = [_size(each.following) for each in found]
    print(
        f"  {system}: first search {np.median(whole) / 1e3:.0f} KB median, {max(whole) / 1e3:.0f} worst, "
        f"of it the dialog {np.median(ui) / 1e3:.0f}; {np.median(requests):.0f} requests"
    )
    print(
        f"    next search {np.median(following) / 1e3:.0f} KB median, "
        f"{np.percentile(following, 90) / 1e3:.0f} KB at p90"
    )
    ms = np.percentile([each.warm_ms for each in found], [50, 95])
    print(f"    warm {ms[0]:.1f} ms p50, {ms[1]:.1f} ms p95", flush=True)


def _size(sent: Sequence[Sent], named: Sequence[str] = ("",)) -> int:
    return sum(each.size for each in sent if any(name in each.path for name in named))


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
