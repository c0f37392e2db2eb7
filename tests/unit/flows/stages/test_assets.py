"""Assets from their files, or from the current snapshot where the files are not read."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.parquet import open_file, write_table
from noctule.flows.run.context import RunContext
from noctule.flows.stages import assets
from noctule.flows.stages.corpus import CorpusRecord
from noctule.flows.stages.links import link_tables, stored
from noctule.flows.stages.sources import HashedSources, hash_sources, list_sources
from noctule.flows.stages.write import _row_groups
from noctule.pipeline import source_files
from noctule.pipeline.communities.communities import Partition
from noctule.pipeline.errors import SourceError
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.reading import parse
from tests.office_files import docx_of
from tests.pictures import notebook, png
from tests.processor_time import processor_seconds
from tests.snapshot_builder import publish_tiny_snapshot

RECORD = CorpusRecord((), {}, {}, as_hashed=True)


def _run(root: Path, store: Path, **more: object) -> RunContext:
    (root / "page.md").write_text("# Page\n")
    settings = parse({"collections": {"notes": {"root": str(root), **more}}}, where="a test")
    return RunContext(settings, store)


def _hashed(run: RunContext) -> HashedSources:
    hashed = hash_sources(run, list_sources(run.settings, rules=()), Store(run.store))
    assert hashed is not None
    return hashed


def _link(asset: str, ordinal: int = 0) -> ResolvedLink:
    return ResolvedLink(DocId("notes:page.md"), None, "", "image", asset, "", ordinal, "asset", asset)


def _collected(run: RunContext, *named: str, record: CorpusRecord = RECORD) -> tuple[pa.Table, CorpusRecord]:
    store = Store(run.store)
    found = assets.find_assets(run, store, _hashed(run), record)
    tables, collected = assets.collect_assets(run, store, found, [_link(name) for name in named], record)
    return tables["assets"], collected


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes" / "img").mkdir(parents=True)
    (tmp_path / "store").mkdir()
    (tmp_path / "notes" / "img" / "owl.png").write_bytes(png(4, 3))
    (tmp_path / "notes" / "unused.png").write_bytes(png(1, 1))
    return tmp_path / "notes"


def test_only_what_is_named_is_kept_with_hash_and_size(root: Path) -> None:
    table, record = _collected(_run(root, root.parent / "store"), "img/owl.png", "img/owl.png")
    content = png(4, 3)
    assert table.to_pylist() == [
        {
            "collection": "notes",
            "path": "img/owl.png",
            "asset_id": sha256_hex(content),
            "media_type": "image/png",
            "bytes": len(content),
            "width": 4,
            "height": 3,
            "content": content,
        }
    ]
    assert record.rejections == () and record.as_hashed
    assert not list((root.parent / "store").iterdir())


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("big.png", png(90, 90) + b"\0" * 2_000, "max_asset_bytes = 1,000"),
        ("page.png", b"<html>", "no image/png"),
        ("run.svg", b"<svg><script/></svg>", "script"),
    ],
)
def test_what_cannot_be_used_is_quarantined_if_it_is_named(
    root: Path, name: str, content: bytes, reason: str
) -> None:
    (root / name).write_bytes(content)
    run = _run(root, root.parent / "store", max_asset_bytes=1_000)
    table, record = _collected(run, name, "img/owl.png")
    assert table["path"].to_pylist() == ["img/owl.png"]
    (rejection,) = record.rejections
    assert (rejection.path, rejection.kind) == (name, "quarantined") and reason in rejection.reason
    given = stored([_link(name), _link("img/owl.png", 1)], root.parent)
    links = link_tables(given, Partition({}, (), 0.0), {"assets": table})["links"]
    assert links["status"].to_pylist() == ["missing-asset", "asset"]
    assert links["asset"].to_pylist() == [None, "img/owl.png"]
    assert _collected(run, "img/owl.png")[1].rejections == ()


def test_a_drawing_that_loads_a_web_font_is_kept_without_it(root: Path) -> None:
    rule = b'@import url("https://fonts.example/css?family=Mono");'
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'><style>%s</style><path d='M0 0'/></svg>"
    (root / "plan.svg").write_bytes(drawing % rule)
    table, record = _collected(_run(root, root.parent / "store"), "plan.svg")
    (remark,) = record.rejections
    kept = drawing % b""
    assert table["content"].to_pylist() == [kept] and table["asset_id"].to_pylist() == [sha256_hex(kept)]
    assert remark.kind == "noted" and "style sheets" in remark.reason and record.as_hashed


def test_every_change_of_an_asset_is_a_change_of_the_inputs(root: Path) -> None:
    run = _run(root, root.parent / "store")

    def inputs() -> tuple[str, ...]:
        return tuple(_hashed(run).inputs())

    seen = [inputs()]
    assert inputs() == seen[0]
    (root / "img" / "owl.png").write_bytes(png(4, 3, 9))
    seen.append(inputs())
    (root / "img" / "bat.png").write_bytes(png(1, 1))
    seen.append(inputs())
    (root / "img" / "owl.png").unlink()
    seen.append(inputs())
    assert len(set(seen)) == 4


def test_a_change_after_the_hashing_is_noticed(root: Path) -> None:
    run = _run(root, root.parent / "store")
    found = assets.find_assets(run, Store(run.store), _hashed(run), RECORD)
    (root / "img" / "owl.png").write_bytes(png(5, 5))
    tables, record = assets.collect_assets(run, Store(run.store), found, [_link("img/owl.png")], RECORD)
    assert tables["assets"]["asset_id"].to_pylist() == [sha256_hex(png(5, 5))]
    assert not record.as_hashed


_IMAGE = "a.ipynb/cell-1-output-1.png"


def test_images_of_notebooks_are_read_when_they_are_named(root: Path) -> None:
    (root / "a.ipynb").write_text(notebook(png(4, 3)))
    run = _run(root, root.parent / "store")
    table, record = _collected(run, _IMAGE, "a.ipynb/cell-9-output-1.png", "b.ipynb/cell-1-output-1.png")
    assert table["path"].to_pylist() == [_IMAGE] and table["content"].to_pylist() == [png(4, 3)]
    (rejection,) = record.rejections
    assert "no longer contains this image" in rejection.reason and record.as_hashed
    left_out = _run(root, root.parent / "store", exclude=["*.ipynb/*.png"])
    assert not len(_collected(left_out, _IMAGE)[0])


def test_images_of_word_documents_are_read_too(root: Path) -> None:
    (root / "b.docx").write_bytes(docx_of("", files={"word/media/image1.png": png(4, 3)}))
    run = _run(root, root.parent / "store", include=["**/*.md", "**/*.docx"])
    table, record = _collected(run, "b.docx/image1.png", "b.docx/image2.png")
    assert table["content"].to_pylist() == [png(4, 3)]
    assert "no longer contains this image" in record.rejections[0].reason


def test_a_change_of_a_notebook_after_the_hashing_is_noticed(root: Path) -> None:
    (root / "a.ipynb").write_text(notebook(png(4, 3)))
    run = _run(root, root.parent / "store")
    found = assets.find_assets(run, Store(run.store), _hashed(run), RECORD)
    (root / "a.ipynb").write_text(notebook(png(5, 5)))
    _, record = assets.collect_assets(run, Store(run.store), found, [_link(_IMAGE)], RECORD)
    assert not record.as_hashed


def test_an_asset_that_is_briefly_away_fails_its_collection(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _run(root, root.parent / "store")
    real = source_files._read_once

    def away(file: source_files.FoundFile, *rest: object) -> object:
        if file.path.endswith("owl.png"):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(file, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(source_files, "_read_once", away)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    hashed = _hashed(run)
    assert isinstance(hashed.failures["notes"], SourceError)
    assert not hashed.groups and not hashed.keys and not hashed.assets


def test_a_failed_collection_keeps_the_assets_of_the_current_snapshot(root: Path) -> None:
    run, store = _run(root, root.parent / "store"), Store(root.parent / "store")
    publish_tiny_snapshot(store)
    failed = CorpusRecord((), {}, {"notes": "it shrank"})
    table, record = _collected(run, "owl.png", record=failed)
    with store.open() as snapshot:
        assert table.equals(snapshot.table("assets"))
    assert record == failed


def test_a_run_that_reads_no_sources_takes_the_assets_of_the_current_snapshot(root: Path) -> None:
    run, store = _run(root, root.parent / "store"), Store(root.parent / "store")
    publish_tiny_snapshot(store)
    found = assets.find_assets(run, store, None, RECORD)
    assert found.paths() == {"notes": {"owl.png"}}


def test_row_groups_are_small_and_equal_rows_give_equal_bytes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "GROUP_BYTES", 3_000)
    names = [f"img/{number:02}.png" for number in range(20)]
    for number, name in enumerate(names):
        (root / name).write_bytes(png(9, 9, number) + bytes(800))
    run = _run(root, root.parent / "store")
    for copy in ("one", "two"):
        table, _ = _collected(run, *names)
        write_table(table, root.parent / copy, row_groups=_row_groups("assets", {"assets": table}))
    assert (root.parent / "one").read_bytes() == (root.parent / "two").read_bytes()
    with open_file(root.parent / "one") as file:
        assert file.num_row_groups >= 6
        assert file.read().equals(table)


def test_ten_thousand_small_assets_take_seconds(root: Path) -> None:
    names = [f"img/{number}.png" for number in range(10_000)]
    for number, name in enumerate(names):
        (root / name).write_bytes(png(3, 3, number) + number.to_bytes(4, "big"))
    start = processor_seconds()
    table, record = _collected(_run(root, root.parent / "store"), *names)
    taken = processor_seconds() - start
    assert len(table) == 10_000 and not record.rejections
    assert taken < 20, f"{taken:.1f} s"
    print(f"10,000 assets: {taken:.1f} s")
