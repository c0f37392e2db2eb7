"""The FAISS index: exact equals brute force, approximate comes near, and a file that differs is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from noctule.artifacts.disk.layout import FAISS_INDEX
from noctule.artifacts.disk.manifest_records import IndexRecord
from noctule.artifacts.tables import inverted_file
from noctule.artifacts.tables.vectors import first_strange_row, flat_record, read_index, search
from noctule.pipeline.errors import DamagedSnapshot
from noctule.pipeline.settings.settings import VectorIndex
from tests.snapshot_builder import unit_rows, write_index

ROWS, DIMENSION = 3000, 32
IVF = VectorIndex(index="ivf")


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Rows around 60 topics, as real passages lie."""
    random = np.random.default_rng(3)
    topics = random.normal(size=(60, DIMENSION))
    return _unit(topics[random.integers(0, 60, ROWS)] + 0.7 * random.normal(size=(ROWS, DIMENSION)))


@pytest.fixture(scope="module")
def queries(vectors: np.ndarray) -> np.ndarray:
    random = np.random.default_rng(4)
    near = vectors[random.integers(0, ROWS, 40)]
    return _unit(near + 0.15 * random.normal(size=near.shape))


@pytest.fixture(scope="module")
def written(vectors: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, IndexRecord]:
    path = tmp_path_factory.mktemp("ivf") / "i"
    return path, write_index(vectors, path, IVF)


@pytest.fixture(scope="module")
def exact(vectors: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("flat") / "i"
    return read_index(path, ROWS, DIMENSION, write_index(vectors, path))


@pytest.fixture(scope="module")
def approximate(written: tuple[Path, IndexRecord]) -> Any:
    path, record = written
    return read_index(path, ROWS, DIMENSION, record)


def _masks() -> dict[str, np.ndarray | None]:
    random = np.random.default_rng(5)
    return {
        "all": None,
        "half": random.random(ROWS) < 0.5,
        "few": random.random(ROWS) < 0.02,
        "one": np.arange(ROWS) == 7,
        "none": np.zeros(ROWS, dtype=np.bool_),
    }


def _brute_force(vectors: np.ndarray, query: np.ndarray, k: int, allowed: np.ndarray | None) -> list[int]:
    scores = vectors.astype(np.float64) @ query.astype(np.float64)
    rows = np.arange(len(vectors)) if allowed is None else np.flatnonzero(allowed)
    return rows[np.argsort(-scores[rows], kind="stable")][:k].tolist()


@pytest.mark.parametrize("mask", ["all", "half", "few", "one", "none"])
def test_the_exact_list_is_that_of_brute_force(
    mask: str, exact: Any, vectors: np.ndarray, queries: np.ndarray
) -> None:
    allowed = _masks()[mask]
    for query in queries:
        scores, rows = search(exact, query, 100, allowed)
        assert rows.tolist() == _brute_force(vectors, query, 100, allowed)
        assert np.allclose(scores, vectors[rows] @ query, atol=1e-6)


def test_the_exact_list_is_the_same_to_the_bit_with_any_number_of_threads(
    exact: Any, queries: np.ndarray
) -> None:
    def answers(threads: int) -> list[bytes]:
        with threadpool_limits(threads):
            return [part.tobytes() for query in queries for part in search(exact, query, 50)]

    assert answers(1) == answers(2)


def test_equal_vectors_come_in_the_order_of_their_rows(tmp_path: Path) -> None:
    one, other = unit_rows(2)
    vectors = np.stack([other, *[one] * 9, other])
    index = read_index(tmp_path / "i", 11, 8, write_index(vectors, tmp_path / "i"))
    scores, rows = search(index, one, 5)
    assert rows.tolist() == [1, 2, 3, 4, 5]
    assert len(set(scores.tolist())) == 1


def test_a_vector_has_the_same_score_wherever_it_lies(vectors: np.ndarray, tmp_path: Path) -> None:
    many = np.tile(vectors[:37], (60, 1))
    index = read_index(tmp_path / "i", len(many), DIMENSION, write_index(many, tmp_path / "i"))
    allowed = np.random.default_rng(6).random(len(many)) < 0.1
    for query in vectors[40:60]:
        scores, rows = search(index, query, len(many))
        some, their_rows = search(index, query, len(many), allowed)
        score_of = {int(row) % 37: score for row, score in zip(rows, scores, strict=True)}
        assert all(score == score_of[int(row) % 37] for row, score in zip(rows, scores, strict=True))
        assert all(score == score_of[int(row) % 37] for row, score in zip(their_rows, some, strict=True))


def test_asking_for_more_than_there_is_gives_what_there_is(exact: Any, queries: np.ndarray) -> None:
    assert sorted(search(exact, queries[0], 10**6)[1].tolist()) == list(range(ROWS))
    assert len(search(exact, queries[0], 0)[1]) == 0


def test_the_approximate_list_finds_nearly_all_of_the_hundred_nearest(
    approximate: Any, vectors: np.ndarray, queries: np.ndarray
) -> None:
    same = [
        len({*search(approximate, query, 100)[1].tolist()} & {*_brute_force(vectors, query, 100, None)})
        for query in queries
    ]
    assert np.mean(same) >= 97


@pytest.mark.parametrize("mask", ["half", "few", "one", "none"])
def test_a_filter_takes_no_places_from_the_approximate_list(
    mask: str, approximate: Any, vectors: np.ndarray, queries: np.ndarray
) -> None:
    allowed = _masks()[mask]
    assert allowed is not None
    for query in queries:
        expected = _brute_force(vectors, query, 20, allowed)
        found = search(approximate, query, 20, allowed)[1]
        assert len(found) == len(expected)
        assert allowed[found].all()
        assert len({*found.tolist()} & {*expected}) >= 0.85 * len(expected)


def test_approximate_cosines_are_sorted_near_and_at_most_one(
    approximate: Any, vectors: np.ndarray, queries: np.ndarray
) -> None:
    for query in (*queries, *vectors[:50]):
        scores, rows = search(approximate, query, 50)
        assert np.allclose(scores, vectors[rows] @ query, atol=0.02)
        assert (np.diff(scores) <= 0).all()
        assert scores.max() <= 1.0


def test_the_same_vectors_give_the_same_bytes_with_any_number_of_threads(
    vectors: np.ndarray, written: tuple[Path, IndexRecord], tmp_path: Path
) -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    for threads in (1, 2, 3):
        faiss.omp_set_num_threads(threads)
        try:
            record = write_index(vectors.copy(), tmp_path / str(threads), IVF)
            assert faiss.omp_get_max_threads() == threads
        finally:
            faiss.omp_set_num_threads(before)
        assert record == written[1]
        assert (tmp_path / str(threads)).read_bytes() == written[0].read_bytes()


@pytest.mark.parametrize(
    ("wanted", "rows", "kind"),
    [
        (VectorIndex(), ROWS, "flat"),
        (VectorIndex(flat_up_to=ROWS), ROWS, "flat"),
        (VectorIndex(flat_up_to=ROWS - 1), ROWS, "ivf"),
        (VectorIndex(index="flat", flat_up_to=0), ROWS, "flat"),
        (VectorIndex(index="ivf"), ROWS, "ivf"),
        (VectorIndex(index="ivf"), inverted_file.LEAST_ROWS, "ivf"),
        (VectorIndex(index="ivf"), inverted_file.LEAST_ROWS - 1, "flat"),
        (VectorIndex(index="ivf"), 0, "flat"),
    ],
)
def test_the_number_of_vectors_decides_unless_the_settings_do(
    wanted: VectorIndex, rows: int, kind: str, vectors: np.ndarray, tmp_path: Path
) -> None:
    record = write_index(vectors[:rows], tmp_path / "i", wanted)
    assert record.kind == kind
    assert read_index(tmp_path / "i", rows, DIMENSION, record).ntotal == rows


def test_nprobe_can_be_set_and_its_recall_is_still_measured(vectors: np.ndarray, tmp_path: Path) -> None:
    few, most = (
        write_index(vectors, tmp_path / str(n), VectorIndex(index="ivf", nprobe=n)) for n in (1, 10**6)
    )
    assert (few.nprobe, most.nprobe) == (1, most.nlist)
    assert few.recall_per_mille < 700 < 950 < most.recall_per_mille


def test_vectors_that_are_all_the_same_can_be_indexed(tmp_path: Path) -> None:
    vectors = np.repeat(unit_rows(1), 1500, axis=0)
    record = write_index(vectors, tmp_path / "i", IVF)
    index = read_index(tmp_path / "i", 1500, 8, record)
    assert len(search(index, vectors[0], 10)[1]) == 10


@pytest.mark.parametrize(
    "change",
    [
        {"nlist": 64, "nprobe": 64},
        {"nprobe": 2},
        {"code_bytes": DIMENSION + 1},
        {"kind": "flat", "code_bytes": 4 * DIMENSION, "nlist": 1, "nprobe": 1},
    ],
)
def test_an_index_with_other_parameters_than_the_manifest_is_refused(
    change: dict[str, Any], written: tuple[Path, IndexRecord]
) -> None:
    path, record = written
    with pytest.raises(DamagedSnapshot, match=r"not an? (IVF|flat) inner-product index"):
        read_index(path, ROWS, DIMENSION, replace(record, **change))


@pytest.mark.parametrize(("rows", "dimension"), [(ROWS - 1, 32), (ROWS + 1, 32), (ROWS, 16), (0, 32)])
def test_an_approximate_index_of_another_shape_is_refused(
    rows: int, dimension: int, written: tuple[Path, IndexRecord]
) -> None:
    path, record = written
    with pytest.raises(DamagedSnapshot):
        read_index(path, rows, dimension, replace(record, code_bytes=dimension))


def _places(content: bytes, nlist: int) -> list[int]:
    """Where the numbers stand that say what follows: not the vectors, and not what FAISS leaves unused."""
    quantizer = 33 + 4 + 16
    learned = quantizer + 45 + nlist * DIMENSION * 4 + 9
    lists = learned + 36 + 2 * DIMENSION * 4 + 9
    assert content[lists : lists + 4] == b"ilar"
    named = [0, 4, 8, 32, 33, 37, 45, quantizer, quantizer + 4, quantizer + 37, learned - 9, learned]
    return [
        *named,
        learned + 12,
        learned + 20,
        learned + 28,
        lists - 9,
        lists - 1,
        lists,
        lists + 4,
        lists + 28,
    ]


def test_a_changed_number_anywhere_in_the_head_is_refused(
    written: tuple[Path, IndexRecord], tmp_path: Path
) -> None:
    content, record = written[0].read_bytes(), written[1]
    for place in _places(content, record.nlist):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        (tmp_path / "i").write_bytes(damaged)
        with pytest.raises(DamagedSnapshot):
            read_index(tmp_path / "i", ROWS, DIMENSION, record)


@pytest.mark.parametrize("size", [0, 3, 40, 100, 5000, -1])
def test_a_cut_index_is_refused(size: int, written: tuple[Path, IndexRecord], tmp_path: Path) -> None:
    (tmp_path / "i").write_bytes(written[0].read_bytes()[:size])
    with pytest.raises(DamagedSnapshot):
        read_index(tmp_path / "i", ROWS, DIMENSION, written[1])


def test_an_index_with_more_bytes_is_refused(written: tuple[Path, IndexRecord], tmp_path: Path) -> None:
    (tmp_path / "i").write_bytes(written[0].read_bytes() + b"\0")
    with pytest.raises(DamagedSnapshot, match="bytes"):
        read_index(tmp_path / "i", ROWS, DIMENSION, written[1])


@pytest.mark.parametrize("number", [-1, 0, ROWS, 1 << 60])
def test_lists_that_name_a_row_twice_or_one_that_is_not_there_are_refused(
    number: int, written: tuple[Path, IndexRecord], tmp_path: Path
) -> None:
    content = bytearray(written[0].read_bytes())
    # The last number in the file is the row of the last vector of the last list.
    row = int.from_bytes(content[-8:], "little")
    content[-8:] = (number if number != row else 1).to_bytes(8, "little", signed=True)
    (tmp_path / "i").write_bytes(content)
    with pytest.raises(DamagedSnapshot, match="each of 3000 rows once"):
        read_index(tmp_path / "i", ROWS, DIMENSION, written[1])


def test_an_index_that_does_not_hold_the_rows_of_the_table_is_noticed(
    exact: Any, approximate: Any, vectors: np.ndarray
) -> None:
    changed = vectors.copy()
    changed[[41, 99]] = changed[[99, 41]]
    for index in (exact, approximate):
        assert first_strange_row(index, vectors) is None
        assert first_strange_row(index, changed) == 41


def test_vectors_can_be_taken_out_by_row(exact: Any, approximate: Any, vectors: np.ndarray) -> None:
    rows = np.array([7, 0, ROWS - 1, 7])
    assert np.array_equal(exact.reconstruct_batch(rows), vectors[rows])
    assert np.allclose(approximate.reconstruct_batch(rows), vectors[rows], atol=0.01)


def test_a_flat_index_is_what_a_reader_expects_who_knows_no_record(tmp_path: Path) -> None:
    assert write_index(unit_rows(4), tmp_path / FAISS_INDEX) == flat_record(8)
    assert read_index(tmp_path / FAISS_INDEX, 4, 8).ntotal == 4
