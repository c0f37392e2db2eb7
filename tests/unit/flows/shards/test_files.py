"""What a pass left is read by its own run: a network disk may still show what another run left there."""

from __future__ import annotations

import errno
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from noctule.flows.shards import counting, files, linking, merging, publishing, writing
from noctule.flows.shards.files import PassFiles, of_corpus, of_shard, table_digest
from noctule.flows.shards.plan import ShardPlan
from noctule.pipeline.errors import ArtifactError
from tests.unit.flows.shards.test_shards import Built, append_to_book, build, built, copy  # noqa: F401  # fixtures

OLD, NEW = pa.table({"a": [1]}), pa.table({"a": [2]})
BOOK = ShardPlan("hash", 3, ("library",)).shard_of("library:shelf0/book04.md")


def test_only_what_this_run_has_made_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_SEEN_WITHIN_S", 0)
    there = PassFiles(tmp_path)
    there.write("links", "last night", {"rows": OLD.replace_schema_metadata({"own": "x"})}, number=1)
    rows = PassFiles(tmp_path, {"links": "last night"}).read("rows")
    assert rows.equals(OLD) and rows.schema.metadata == {b"own": b"x"}
    for made in ({"links": "tonight"}, {}):
        other = PassFiles(tmp_path, made)
        for read, name in ((other.read, "rows"), (other.values, "links")):
            with pytest.raises(ArtifactError, match="'links' belong to another run") as caught:
                read(name)
            assert str(tmp_path) in caught.value.where and "access this run's store" in caught.value.hint


def test_what_a_network_disk_shows_late_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PassFiles(tmp_path).write("links", "last night", {"rows": OLD}, number=1)
    looks = list[float]()

    def shown_at_the_third_look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            PassFiles(tmp_path).write("links", "tonight", {"rows": NEW}, number=2)

    monkeypatch.setattr("time.sleep", shown_at_the_third_look)
    assert PassFiles(tmp_path, {"links": "tonight"}).read("rows").equals(NEW)
    assert len(looks) == 2 and PassFiles(tmp_path, {"links": "tonight"}).values("links") == {"number": 2}


@pytest.mark.parametrize("late", [FileNotFoundError(), OSError(errno.ESTALE, "Stale file handle")], ids=repr)
def test_what_a_network_disk_does_not_show_yet_is_waited_for(
    late: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, looks = PassFiles(tmp_path, {"links": "tonight"}), list[float]()
    PassFiles(tmp_path).write("links", "tonight", {"rows": NEW}, number=2)
    opened, read_bytes = pa.memory_map, Path.read_bytes

    def shown_at_the_third_look(function: Any, *given: Any) -> Any:
        if len(looks) < 2:
            raise late
        return function(*given)

    monkeypatch.setattr("time.sleep", looks.append)
    with monkeypatch.context() as patched:
        patched.setattr(pa, "memory_map", partial(shown_at_the_third_look, opened))
        patched.setattr(Path, "read_bytes", lambda path: shown_at_the_third_look(read_bytes, path))
        assert there.read("rows").equals(NEW) and len(looks) == 2
        looks.clear()
        assert there.values("links") == {"number": 2} and len(looks) == 2


def test_what_never_comes_ends_in_an_error_that_names_file_and_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SEEN_WITHIN_S", 0.2)
    for there, whose in (
        (of_shard(tmp_path, "0003", {}), "shard 0003"),
        (of_corpus(tmp_path, {}), "all shards"),
    ):
        for read, name in ((there.read, "rows.arrow"), (there.values, "rows.json")):
            began = time.monotonic()
            with pytest.raises(ArtifactError, match=f"over {whose} left is not there") as caught:
                read("rows")
            assert time.monotonic() - began > 0.2
            assert caught.value.where == str(there.folder / name)
            assert "access this run's store" in caught.value.hint


def test_a_digest_is_that_of_the_rows_however_they_lie() -> None:
    whole = pa.table({"a": list(range(100_000)), "b": [str(each) for each in range(100_000)]})
    parts = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 70_000), whole.slice(70_007)])
    assert table_digest(parts) == table_digest(whole.replace_schema_metadata({"key": "tonight"}))
    assert (
        len({table_digest(each) for each in (whole, whole.slice(1), whole.rename_columns(["a", "c"]))}) == 3
    )


@pytest.mark.parametrize(
    ("module", "work", "left"),
    [
        (linking, "link_shard", "corpus/assets.arrow"),
        (linking, "link_shard", f"{BOOK}/passes/linking.arrow"),
        (counting, "count_shard", f"{BOOK}/passes/outgoing.arrow"),
        (counting, "count_shard", f"{BOOK}/passes/links.json"),
        (merging, "merge_shards", f"{BOOK}/passes/forms.arrow"),
        (writing, "write_shard", "corpus/statistics.json"),
        (writing, "write_shard", "corpus/members.arrow"),
        (publishing, "write_tables", f"{BOOK}/passes/highest-terms.arrow"),
    ],
)
def test_a_pass_that_finds_the_files_of_another_run_stops(
    module: Any,
    work: str,
    left: str,
    copy: Built,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The set stays as it was; the next run makes anew what is wrong."""
    before, path = copy.sharded.current(), copy.sharded.root / "shards" / left
    append_to_book(copy, "\nOf herons, see [the hub](../hub.md). ![A heron](heron.png)\n")
    (copy.root / "shelf0" / "heron.png").write_bytes(b"no image")
    last_night, made = path.read_bytes(), getattr(module, work)

    def late(*given: Any) -> pa.Table:
        path.write_bytes(last_night)
        return made(*given)

    with monkeypatch.context() as patched:
        patched.setattr(files, "_SEEN_WITHIN_S", 0)
        patched.setattr(module, work, late)
        with pytest.raises(ArtifactError, match="belong to another run") as caught:
            build(copy)
    assert caught.value.where == str(path)
    assert copy.sharded.current() == before
    if work == "count_shard":
        assert build(copy).changed
