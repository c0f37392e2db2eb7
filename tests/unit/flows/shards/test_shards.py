"""A corpus in shards answers as the whole does, and a night costs the shards that it touches."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.answer import Answer
from noctule.artifacts.remote.send import send
from noctule.artifacts.store import check
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.shard_set import ShardSet, require_of_set
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_site, build_snapshot
from noctule.flows.engines.local import InlineCaller
from noctule.flows.report.result import BuildResult
from noctule.flows.run.context import BuildOptions
from noctule.flows.run.workers import WorkerFailed
from noctule.flows.shards import counting
from noctule.flows.shards.plan import ShardPlan, plan_shards
from noctule.flows.stages.sources import Listing
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, OutOfResources, StoreBusy
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.source_files import FoundFile
from tests.sentence_model_builder import small_model
from tests.shared_folder import copied_store, shared_folder

SHELVES = 4
QUERIES = (
    "owls at dusk",
    "how is a log kept",
    "hub",
    "checkpoint WAL",
    "readWriteAheadLog",
    "nest tree book3",
)


def write_library(root: Path) -> None:
    """Notes in several folders that link to one another, some words in all and some in few."""
    for number in range(36):
        path = root / f"shelf{number % SHELVES}" / f"book{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        words = " ".join(f"word{(number * step) % 41}" for step in range(1, 24))
        path.write_text(
            f"---\ntags: [t{number % 5}]\ndate: 2026-{number % 9 + 1:02}-01\n---\n"
            f"# Book {number} of owls\n\nSee [the hub](../hub.md) and "
            f"[[book{(number * 7 + 1) % 36:02}]]. {words} dusk nest{number % 9}."
            f"\n\n## A part\n\n{words[::-1]}{' {func}`.keep`' if number < SHELVES else ''}\n\n"
            f"```python\ndef readBook{number}(path_name): ...\n```\n",
            encoding="utf-8",
        )
    (root / "hub.md").write_text(
        "# Hub\n\nThe Write-Ahead Log (WAL) is kept; [a book](shelf1/book01.md).\n\n"
        '<a id="py:lib.keep"></a>\n'
    )
    (root / "same.md").write_text("# Twin\n\nThe very same text, word for word.\n")
    (root / "shelf2/same0.md").write_text("# Twin\n\nThe very same text, word for word.\n")


def settings_for(root: Path, **shards: object) -> Settings:
    given = {
        "collections": {"library": {"root": str(root)}},
        "engine": {"name": "inline"},
        "embed": {"model": small_model()},
    }
    return parse({**given, **({"shards": shards} if shards else {})}, where="test")


@dataclass(frozen=True)
class Built:
    """The folder of the notes, a store of the whole, and one of the same in shards."""

    root: Path
    whole: Store
    sharded: Store


def _build(base: Path) -> None:
    write_library(base / "notes")
    build_snapshot(settings_for(base / "notes"), Store(base / "whole"))
    build_snapshot(settings_for(base / "notes", count=3, drift=0), Store(base / "sharded"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    base = shared_folder(tmp_path_factory, "shards", _build)
    return Built(base / "notes", Store(base / "whole"), Store(base / "sharded"))


@pytest.fixture
def copy(built: Built, tmp_path: Path) -> Built:
    """Folders of one's own, to change."""
    for each in (built.root, built.whole.root, built.sharded.root):
        copied_store(each, tmp_path / each.name)
    return Built(tmp_path / "notes", Store(tmp_path / "whole"), Store(tmp_path / "sharded"))


@dataclass(frozen=True)
class Both:
    """Searchers on the whole and on the shards."""

    whole: Searcher
    sharded: Searcher


@pytest.fixture
def both(built: Built) -> Iterator[Both]:
    with (
        Searcher(built.whole.open(), Settings()) as whole,
        Searcher(built.sharded.open(), Settings()) as sharded,
    ):
        yield Both(whole, sharded)


def shown(answer: Answer) -> list[tuple[object, ...]]:
    """What a reader sees of an answer, in its order; ties included, which go by the names of documents."""
    return [
        (round(hit.score, 9), hit.passage_id, hit.excerpt, round(hit.confidence or 0, 9))
        for hit in answer.hits
    ]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic", "code"])
def test_answers_are_those_of_the_whole(both: Both, query: str, mode: str) -> None:
    found = [each.search(query, 100, mode) for each in (both.whole, both.sharded)]  # type: ignore[arg-type]
    assert shown(found[0]) == shown(found[1])
    if mode == "hybrid":
        why = [{hit.excerpt: hit.why.multipliers for hit in answer.hits} for answer in found]
        assert why[0] == why[1] and why[0]


def test_passages_without_headings_are_counted_as_in_the_whole(built: Built) -> None:
    found = []
    for each in (built.whole, built.sharded):
        with each.open() as snapshot:
            found.append(snapshot.manifest.passages_without_headings)
            headings = snapshot.table("passages", ["doc_id", "headings"]).to_pylist()
    named = {row["doc_id"] for row in headings if row["headings"]}
    assert found == [sum(row["doc_id"] not in named for row in headings)] * 2


def test_filters_facets_and_documents_like_one_are_those_of_the_whole(both: Both) -> None:
    for each in ("tag:t1", "path:shelf2/*"):
        found = [searcher.search("owls", 50, filters=[each]) for searcher in (both.whole, both.sharded)]
        assert shown(found[0]) == shown(found[1]) and found[0].hits
    where = "path like 'shelf1/%' and links_in > 0"
    found = [searcher.search("owls", 50, where=where) for searcher in (both.whole, both.sharded)]
    assert shown(found[0]) == shown(found[1]) and found[0].hits
    assert both.whole.facets("tags") == both.sharded.facets("tags")
    assert both.whole.related("owls") == both.sharded.related("owls")
    similar = [searcher.similar("library:shelf1/book01.md", 5) for searcher in (both.whole, both.sharded)]
    assert shown(similar[0]) == shown(similar[1])


def test_the_same_text_in_two_shards_is_shown_once(both: Both) -> None:
    shards = both.sharded.corpus.snapshot.parts
    holders = [part.table("documents", ["path"])["path"].to_pylist() for part in shards]
    assert sum("same.md" in paths for paths in holders) == 1
    assert not any({"same.md", "shelf2/same0.md"} <= set(paths) for paths in holders), "both in one shard"
    hits = both.sharded.search("the very same text word for word", 100, "semantic").hits
    assert sum(hit.title == "Twin" for hit in hits) == 1


def test_sql_is_over_all_shards(both: Both) -> None:
    query = (
        "select count(*), sum(length(text)), max(passage), count(distinct vector_row) from passages",
        "select passage_id, round(score, 4) as score from keyword_search('owls at dusk', 500) order by all",
        "select term, sum(list_sum(score))::decimal(12, 3) from postings group by term order by term",
        "select doc_id, links_in, links_out from documents order by doc_id",
        "select count(*) from links where target_id not in (select doc_id from documents)",
    )
    whole, sharded = both.whole, both.sharded
    for each in query[1:]:
        assert whole.sql(each).fetchall() == sharded.sql(each).fetchall(), each
    (one,), (other,) = whole.sql(query[0]).fetchall(), sharded.sql(query[0]).fetchall()
    assert one[:3] == other[:3] and other[3] >= one[3], "equal passages of two shards have two vectors"


def test_the_link_graph_is_that_of_the_whole(both: Both) -> None:
    whole, sharded = both.whole.graph(), both.sharded.graph()
    assert sorted(whole.edges) == sorted(sharded.edges) and sorted(whole.nodes) == sorted(sharded.nodes)


def test_objects_of_python_are_found_in_other_shards(built: Built) -> None:
    with built.sharded.open() as sharded:
        links = sharded.table("links").select(["target", "target_id", "fragment"]).to_pylist()
    found = [tuple(each.values())[1:] for each in links if each["target"] == "#object:.keep"]
    assert found == [("library:hub.md", "py:lib.keep")] * SHELVES


def test_postings_of_all_shards_are_one_list_a_term(built: Built) -> None:
    with built.whole.open() as whole, built.sharded.open() as sharded:
        tables = [each.table("postings").to_pydict() for each in (whole, sharded)]
        assert tables[0]["term"] == tables[1]["term"]
        rows = [
            {t: sorted(map(float, s)) for t, s in zip(x["term"], x["score"], strict=True)} for x in tables
        ]
        assert rows[0] == rows[1]
        assert all(list(each) == sorted(each) for each in tables[1]["passage"])


def test_the_site_of_a_set_has_the_pages_of_the_whole(built: Built, tmp_path: Path) -> None:
    for name, store in (("whole", built.whole), ("sharded", built.sharded)):
        build_site(tmp_path / name, store=store.root, settings=settings_for(built.root))
    for page in sorted((tmp_path / "whole").rglob("*.html")):
        if not page.name.startswith("_"):
            other = tmp_path / "sharded" / page.relative_to(tmp_path / "whole")
            assert other.read_bytes() == page.read_bytes() or "search" in page.read_text(), page


def test_a_set_is_checked_with_its_shards(copy: Built) -> None:
    current = copy.sharded.current()
    assert current is not None
    check_deep(copy.sharded.path_of(current), current)
    with copy.sharded.open() as opened:
        assert isinstance(opened, ShardSet)
        shard = opened.parts[1].path
    table = shard / "passages.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.chmod(0o644)
    table.write_bytes(content)
    with pytest.raises(DamagedSnapshot, match="SHA-256"):
        check_deep(copy.sharded.path_of(current), current)
    with pytest.raises(DamagedSnapshot, match="SHA-256"):
        copy.sharded.open()
    shutil.rmtree(shard)
    with pytest.raises(DamagedSnapshot, match="shard is missing"):
        copy.sharded.open()


def test_shards_that_make_no_corpus_are_damage(built: Built, tmp_path: Path) -> None:
    """What each shard by itself is sound for: a document in two, and a link to a document of none."""
    with built.sharded.open() as opened:
        first, second, *_ = (part.path for part in opened.parts)
    with pytest.raises(DamagedSnapshot, match="two of its shards hold the same document"):
        check._links_lead_to_documents(tmp_path, [first, second, first])
    with pytest.raises(DamagedSnapshot, match=r"a link leads to 'library:.*', which no shard holds"):
        check._links_lead_to_documents(tmp_path, [first, second])
    terms = pq.read_table(second / "terms.parquet")
    check._statistics_are_of_shards(tmp_path / "terms.parquet", terms, [second])
    scores = pa.array([9.0] * len(terms), terms.schema.field("max_score").type)
    worse = terms.set_column(terms.schema.get_field_index("max_score"), "max_score", scores)
    with pytest.raises(DamagedSnapshot, match="these statistics do not belong to the set"):
        check._statistics_are_of_shards(tmp_path / "terms.parquet", worse, [second])


def test_a_shard_of_another_edition_is_refused(copy: Built) -> None:
    """A manifest that names the wrong snapshot of a shard, as a careless copy would."""
    with copy.sharded.open() as opened:
        manifest, shards = opened.manifest, [part.path for part in opened.parts]
    given = json.loads((copy.sharded.path_of(manifest.snapshot_id()) / "manifest.json").read_bytes())
    given["shards"][0]["documents"] += 1
    forged = Manifest.from_bytes(
        json.dumps(given, sort_keys=True, separators=(",", ":")).encode() + b"\n", "x"
    )
    with pytest.raises(DamagedSnapshot, match="expected"):
        copy.sharded._contents.unverified(shards[0], forged)


@pytest.mark.parametrize(
    "shards",
    [[], [{}], "x", [{"name": "../x", "snapshot": "0" * 20}], [{"name": "0001", "snapshot": "../../etc"}]],
)
def test_a_forged_list_of_shards_is_refused(built: Built, shards: object) -> None:
    with built.sharded.open() as opened:
        given = json.loads(opened.manifest.to_bytes())
    given["shards"] = shards
    content = json.dumps(given, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(DamagedSnapshot, match="not a sound manifest"):
        Manifest.from_bytes(content, "here")


def build(built: Built, **more: object) -> BuildResult:
    return build_snapshot(settings_for(built.root, **{"count": 3, "drift": 0, **more}), built.sharded)


def append_to_book(built: Built, text: str) -> None:
    path = built.root / "shelf0" / "book04.md"
    path.write_text(path.read_text() + text)


def snapshots_of_shards(store: Store) -> set[str]:
    with store.open() as opened:
        return {f"{record.name}/{record.snapshot}" for record in opened.manifest.shards}


def test_nights(copy: Built) -> None:
    before = snapshots_of_shards(copy.sharded)
    same = build(copy)
    assert (same.changed, same.parsed, same.encoded) == (False, 0, 0)

    # One book is changed: with exact statistics every shard may be written again, and all of them agree.
    append_to_book(copy, "\nA new sentence about herons.\n")
    changed = build(copy)
    assert changed.changed and 0 < changed.parsed <= 4 and snapshots_of_shards(copy.sharded) != before
    build_snapshot(settings_for(copy.root), copy.whole)
    with Searcher(copy.whole.open(), Settings()) as one, Searcher(copy.sharded.open(), Settings()) as other:
        assert shown(one.search("herons and owls", 50)) == shown(other.search("herons and owls", 50))

    # Within the drift, only the shard with the change is written.
    build(copy, drift=0.5)
    before = snapshots_of_shards(copy.sharded)
    append_to_book(copy, "\nAnother sentence, on wrens.\n")
    drifted = build(copy, drift=0.5)
    assert drifted.changed and len(snapshots_of_shards(copy.sharded) - before) == 1
    with Searcher(copy.sharded.open(), Settings()) as searcher:
        assert searcher.search("wrens", 1, "keyword").hits[0].path == "shelf0/book04.md"

    # Back to an older edition of all shards at once, and only what no set names is pruned.
    current = copy.sharded.current()
    back = copy.sharded.rollback()
    assert copy.sharded.current() == back != current and snapshots_of_shards(copy.sharded) == before
    copy.sharded.prune(0)
    with copy.sharded.open() as opened:
        check_deep(copy.sharded.path_of(opened.id), opened.id)


def test_a_site_of_frequencies_of_an_earlier_night(copy: Built, tmp_path: Path) -> None:
    """Within the drift, a term has more postings or fewer than its kept frequency says."""
    settings, site = settings_for(copy.root, count=3, drift=0.5), tmp_path / "site"
    build(copy, drift=0.5)
    build_site(site, store=copy.sharded.root, settings=settings)
    path = copy.root / "hub.md"
    path.write_text(path.read_text() + "\n## Owls at dusk\n\nThe nest4 of wrens.\n")
    build(copy, drift=0.5)
    with copy.sharded.open() as opened:
        lengths = pc.list_value_length(opened.table("postings", ["passage"])["passage"]).to_pylist()
        assert opened.table("terms", ["passages"])["passages"].to_pylist() != lengths
        check_deep(copy.sharded.path_of(opened.id), opened.id)
    for out in (site, tmp_path / "anew"):
        build_site(out, store=copy.sharded.root, settings=settings)
        assert "wrens" in (out / "hub.html").read_text("utf-8")


def test_a_run_that_begins_after_its_sources_still_lists_them(copy: Built) -> None:
    before, settings = copy.sharded.current(), settings_for(copy.root, count=3, drift=0)
    again = build_snapshot(settings, copy.sharded, options=BuildOptions(start="lexical"))
    assert (again.snapshot, again.changed) == (before, False)


def test_two_documents_at_one_address_in_two_shards(copy: Built) -> None:
    """All but the first in order are quarantined, as in one piece; so is what lost to that one before."""
    names = [f"clash.{ending}" for ending in ("html", "markdown", "md", "rst", "txt")]
    (copy.root / "owls").mkdir()
    for name in (*names, "owls/README.md", "owls/_index.md", "owls/index.txt"):
        (copy.root / name).write_text(f"Owls of {name}, in all of its words.\n")
    build_snapshot(settings_for(copy.root), copy.whole)
    build(copy)
    plan = ShardPlan("hash", 3, ("library",))
    assert len({plan.shard_of(f"library:{name}") for name in names}) > 1
    with copy.whole.open() as whole, copy.sharded.open() as sharded:
        reports = [sorted(map(str, each.table("report").to_pylist())) for each in (whole, sharded)]
        assert reports[0] == reports[1] and sum("same address" in each for each in reports[1]) == 6
        urls = sharded.table("documents", ["url"])["url"].to_pylist()
        assert len(set(urls)) == len(urls) == whole.rows("documents")


def test_a_set_is_sent_whole_to_a_folder(copy: Built, tmp_path: Path) -> None:
    sent = send(copy.sharded, str(tmp_path / "there"), 1)
    there = Store(tmp_path / "there")
    assert sent.changed and there.current() == copy.sharded.current()
    shutil.rmtree(copy.sharded.root)
    with Searcher(there.open(), Settings()) as searcher:
        assert searcher.search("owls at dusk").hits


def test_a_run_that_was_broken_off_goes_on(copy: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(copy.sharded.root)

    def fail(*_: object, **__: object) -> None:
        raise ArtifactError("the machine is gone", where="here", hint="none")

    with monkeypatch.context() as patched:
        patched.setattr(counting, "count_shard", fail)
        with pytest.raises(ArtifactError, match="machine is gone"):
            build(copy)
    assert copy.sharded.current() is None
    resumed = build(copy)
    assert resumed.changed and (resumed.parsed, resumed.encoded) == (0, 0), "surveys are not made again"


def test_a_worker_that_is_lost_in_a_pass_is_named_and_the_set_stays(
    copy: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the kernel ends one for want of memory, or Dask and Ray give up."""
    before = copy.sharded.current()
    append_to_book(copy, "\nA new sentence about herons.\n")
    watch = InlineCaller.watch

    def lost(caller: InlineCaller, stage: Any, batch: Any, limit_s: float) -> Any:
        if getattr(stage, "args", ()) == (counting.count_shard,) and batch.shard == "0001":
            raise WorkerFailed("crashed (signal 9)", by_chance=True)
        return watch(caller, stage, batch, limit_s)

    with monkeypatch.context() as patched:
        patched.setattr(InlineCaller, "watch", lost)
        with pytest.raises(OutOfResources, match=r"lost in the pass 'counts': it crashed") as caught:
            build(copy)
    assert (caught.value.where, caught.value.exit_code) == ("shard 0001", 2)
    assert "shards smaller" in caught.value.hint and copy.sharded.current() == before
    again = build(copy)
    assert again.changed and (again.parsed, again.encoded) == (0, 0)


def test_of_two_drivers_at_once_the_second_is_refused(copy: Built) -> None:
    before = copy.sharded.current()
    with copy.sharded.lock("another run"), pytest.raises(StoreBusy):
        build_snapshot(settings_for(copy.root, count=3), Store(copy.sharded.root))
    assert copy.sharded.current() == before


def test_statistics_of_another_corpus_are_refused(copy: Built) -> None:
    """A set whose terms are those of its earlier edition, with their sound hash; no term is new."""
    with copy.sharded.open() as opened:
        terms = (opened.path / "terms.parquet").read_bytes()
        entry = opened.manifest.files["terms.parquet"]
    append_to_book(copy, "\nOwls, owls and dusk.\n")
    build(copy)
    with copy.sharded.open() as opened:
        manifest, forged = opened.manifest, opened.path.parent / "forged"
        shutil.copytree(opened.path, forged)
    counts = {**manifest.counts, "terms": entry.rows or 0}
    manifest = replace(manifest, files={**manifest.files, "terms.parquet": entry}, counts=counts)
    for name, content in (("terms.parquet", terms), ("manifest.json", manifest.to_bytes())):
        (forged / name).unlink()
        (forged / name).write_bytes(content)
    with pytest.raises(DamagedSnapshot, match="do not belong to the set") as caught:
        check_deep(forged, manifest.snapshot_id())
    assert caught.value.where == str(forged / "terms.parquet")


def test_a_shard_of_another_model_or_other_settings_is_refused(built: Built) -> None:
    with built.sharded.open() as opened:
        manifest, record, part = opened.manifest, opened.manifest.shards[0], opened.parts[0]
        model = replace(part.manifest.model, sha256="0" * 64)
        for wrong, why in (
            (replace(part.manifest, model=model), "not of its set's"),
            (replace(part.manifest, settings_sha256="0" * 64), "other settings"),
            (replace(part.manifest, shard="0009"), "found 0009"),
            (replace(part.manifest, shard=""), "found a whole snapshot"),
        ):
            with pytest.raises(DamagedSnapshot, match=why):
                require_of_set(part.path, wrong, record, manifest)


def found(path: str, size: int = 600) -> FoundFile:
    return FoundFile("library", path, path, size)


def test_plans() -> None:
    files = tuple(found(f"shelf{number % 5}/{number}.md") for number in range(400))
    listing = Listing(files, (), {}, rules=())
    names = [f"library:{file.path}" for file in files]
    by_hash = plan_shards(settings_for(Path(), count=4), listing)
    sizes = Counter(map(by_hash.shard_of, names))
    assert len(sizes) == 4 and min(sizes.values()) > 60
    by_folder = plan_shards(settings_for(Path(), by="folder", count=4), listing)
    places = {(by_folder.shard_of(f"library:{file.path}"), file.path.partition("/")[0]) for file in files}
    assert len(places) == 5, "a folder is in one shard"
    assert plan_shards(settings_for(Path(), by="collection", count=9), listing).count == 1
    assert plan_shards(settings_for(Path(), max_passages=100), listing).count == 4
    assert plan_shards(settings_for(Path(), max_passages=99), listing).count == 8
    assert ShardPlan("hash", 4, ("library",)).shard_of("library:a.md") in by_hash.names
