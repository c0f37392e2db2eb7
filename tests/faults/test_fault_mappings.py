"""Each mapping of a file into memory is refused, with each error of a machine that lacks something: a reader
or a run says so, nothing is blamed, and nothing that is kept is lost.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noctule.artifacts.cache.embeddings import EmbeddingStore, folder_name
from noctule.artifacts.cache.prune import prune_embeddings
from noctule.artifacts.disk.layout import EMBEDDINGS
from noctule.artifacts.query import open as opened
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.check import check_deep
from noctule.artifacts.store.store import Store
from noctule.artifacts.tables.outside_memory import mapped_table, mapped_zeros
from noctule.flows.job import run_job
from noctule.flows.run.context import RunContext
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.flows.shards.files import PassFiles
from noctule.pipeline.errors import ArtifactError, DamagedSnapshot, NoctuleError, OutOfResources
from noctule.pipeline.settings.reading import parse
from tests.crash.builder import write_edition
from tests.repetitions import ALL, LONG_S, Part, in_parts
from tests.sentence_model_builder import small_model
from tests.shared_folder import copied_store

SCARCE = (
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EDQUOT, errno.ENOSPC, errno.EIO,
    errno.ESTALE, errno.ETIMEDOUT,
)  # fmt: skip
_MAPPING = ((mmap, "mmap"), (pa, "memory_map"), (pq, "ParquetFile"), (pq, "read_table"))


class Mappings:
    """Counts what Python and Arrow map into memory, and refuses the n-th as the system does."""

    def __init__(self, nth: int, code: int) -> None:
        self.nth, self.code, self.count = nth, code, 0

    @contextmanager
    def refused(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            for module, name in _MAPPING:
                patched.setattr(module, name, self._counted(name, getattr(module, name)))
            yield

    def _counted(self, name: str, really: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if name in ("mmap", "memory_map") or named.get("memory_map"):
                self.count += 1
                if self.count == self.nth:
                    raise OSError(self.code, os.strerror(self.code))
            return really(*given, **named)

        return call

    @property
    def was_refused(self) -> bool:
        return self.count >= self.nth


def _night(folder: Path, edition: int) -> None:
    given = {
        "collections": {"vault": {"root": str(write_edition(folder / "vault", edition))}},
        "embed": {"model": small_model(), "workers": 1},
        "engine": {"name": "inline"},
        "site": {"verify_days": 1},
    }
    run = RunContext(parse(given, "test"), folder / "store", out=folder / "site")
    run_job(run, PlainDriver(), Silent(), publish=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("mapped")
    _night(folder, 0)
    return Store(folder / "store")


_ASKED: Mapping[str, Callable[[Searcher], object]] = {
    "search": lambda searcher: [hit.doc_id for hit in searcher.search("boats", 5).hits],
    "keyword": lambda searcher: [hit.doc_id for hit in searcher.search("boats", 5, mode="keyword").hits],
    "facets": lambda searcher: searcher.facets("tags"),
}


def _each(step: int) -> Iterator[tuple[int, int]]:
    """Yield mappings by number, and the errors that each is refused with: all, or one for some mappings."""
    for nth in range(1, 500, 1 if ALL else step):
        yield from ((nth, code) for code in (SCARCE if ALL else SCARCE[nth % len(SCARCE) :][:1]))


@pytest.mark.timeout(LONG_S)
def test_whichever_mapping_of_a_reader_is_refused_it_says_so_and_blames_nothing(store: Store) -> None:
    with opened(store) as searcher:
        sound, refused = {name: ask(searcher) for name, ask in _ASKED.items()}, 0
    for nth, code in _each(1):
        mappings = Mappings(nth, code)
        with mappings.refused():
            try:
                with opened(store) as searcher:
                    found = {name: ask(searcher) for name, ask in _ASKED.items()}
            except (ArtifactError, OutOfResources, RuntimeWarning) as said:  # a query may be less understood
                assert not isinstance(said, DamagedSnapshot), said
                assert os.strerror(code) in str(said)
                refused += 1
            else:
                assert found == sound
        if not mappings.was_refused:
            break
    assert refused >= 3 and not mappings.was_refused


@in_parts
@pytest.mark.timeout(LONG_S)
def test_whichever_mapping_of_a_night_is_refused_it_says_so_and_keeps_what_is_cached(
    part: Part, tmp_path: Path
) -> None:
    folder, ended = tmp_path / "night", 0
    store = Store(folder / "store")
    _night(folder, 0)
    old, cached = store.current(), _cached(store)
    before = copied_store(folder, tmp_path / "before")
    for nth, code in part.of(_each(13)):
        # Each begins with the same caches: a night that fails leaves one more segment of vectors to map.
        shutil.rmtree(folder)
        copied_store(before, folder)
        mappings, error = Mappings(nth, code), None
        with mappings.refused():
            try:
                _night(folder, 1)
            except NoctuleError as caught:
                error = caught
        if error is not None:
            ended += 1
            assert not isinstance(error, DamagedSnapshot), error
            assert os.strerror(code) in error.what and error.hint and error.where
            assert cached <= _cached(store), "what could not be mapped was removed"
        now = store.current()
        assert now is not None and (error is not None or now != old)
        check_deep(store.path_of(now), now)
        if not mappings.was_refused:
            break
        _night(folder, 2)
        with store.open() as snapshot:
            assert snapshot.rows("documents") == _documents(folder)
    assert ended >= 3 and not mappings.was_refused


def _cached(store: Store) -> set[str]:
    """The segments of vectors, which cost the most."""
    return {path.name for path in (store.root / EMBEDDINGS).rglob("*.parquet")}


def _documents(folder: Path) -> int:
    return sum(1 for path in (folder / "vault").rglob("*.md"))


@pytest.mark.parametrize("code", SCARCE, ids=errno.errorcode.__getitem__)
def test_vectors_that_cannot_be_mapped_now_are_neither_encoded_again_nor_pruned(
    code: int, tmp_path: Path
) -> None:
    key = ["model", "fp32"]
    EmbeddingStore(tmp_path, key, 2).add(["a", "b"], np.ones((2, 2), dtype=np.float32))
    folder = tmp_path / EMBEDDINGS / folder_name(key)
    [segment] = folder.iterdir()
    # What only a bad sector says is the file's own: its vectors are made again.
    its_own = code == errno.EIO
    uses: tuple[Callable[[], object], ...] = (
        lambda: EmbeddingStore(tmp_path, key, 2).recall(["a", "b"]),
        lambda: prune_embeddings(tmp_path, {folder.name: {"a", "b"}}, float("inf")),
    )
    for use in uses:
        with Mappings(1, code).refused():
            if its_own:
                use()
            else:
                with pytest.raises(ArtifactError, match=os.strerror(code)) as caught:
                    use()
                assert caught.value.where == str(segment) and segment.exists()


def _mapped_table(folder: Path) -> object:
    rows = pa.table({"a": pa.array([1], pa.int8())})
    return mapped_table(rows.schema, [rows], folder)


_MAPPED: Mapping[str, Callable[[Path], object]] = {
    "a table": _mapped_table,
    "an array": lambda folder: mapped_zeros((2, 2), np.float32, folder),
    "a pass over a shard": lambda folder: PassFiles(folder).read("rows"),
}


@pytest.mark.parametrize("code", SCARCE, ids=errno.errorcode.__getitem__)
@pytest.mark.parametrize("name", _MAPPED)
def test_a_refused_mapping_is_told_in_words_of_its_own(name: str, code: int, tmp_path: Path) -> None:
    PassFiles(tmp_path).write("pass", "key", {"rows": pa.table({"a": [1]})})
    with Mappings(1, code).refused(), pytest.raises(ArtifactError, match=os.strerror(code)) as caught:
        _MAPPED[name](tmp_path)
    assert str(tmp_path) in caught.value.where and "remove the folder" not in caught.value.hint
