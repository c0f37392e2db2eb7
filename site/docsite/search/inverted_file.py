"""The inverted file: documents by meaning, in lists of which a browser loads those nearest to a query.

Vectors are rotated so that their first numbers say most, and cut; numbers that say more get more bits
(Lloyd-Max levels of the normal distribution). A document's code is what its vector differs by from its list's
centroid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...artifacts.tables.inverted_file import one_thread
from .files import Files
from .format import INVERTED_LIST, bits
from .index_inputs import Floats, Ints, SearchVectors

DIMENSIONS = 128
DOCUMENTS_IN_A_LIST = 57
CENTROID_BITS, DOCUMENT_BITS, _MOST_BITS = 384, 500, 4
LEVELS: tuple[tuple[float, ...], ...] = (
    (0.0,),
    (0.7979,),
    (0.4528, 1.510),
    (0.2451, 0.7560, 1.344, 2.152),
    (0.1284, 0.3881, 0.6568, 0.9424, 1.256, 1.618, 2.069, 2.733),
)
# What is left of the variance of a normal distribution that is written with so many bits.
_LEFT = np.array([1.0, 0.3634, 0.1175, 0.03454, 0.009497])
_ITERATIONS, _SEED = 20, 1

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Quantizer:
    """A quantizer of rows around a mean, in units of each number's deviation, with bits for each."""

    mean: Floats
    deviation: Floats
    widths: Ints

    def encode(self, rows: Floats) -> Codes:
        """Return a code for every number: its nearest level, the most negative being 0."""
        found = np.zeros(rows.shape, dtype=np.uint8)
        relative = (rows - self.mean) / self.deviation
        changes = (np.flatnonzero(np.diff(self.widths)) + 1).tolist()
        for start, end in pairwise([0, *changes, len(self.widths)]):
            # There are few levels: counting those below is ten times as fast as searching for each number.
            for bound in _bounds(int(self.widths[start])):
                found[:, start:end] += relative[:, start:end] > bound
        return found


def _steps(width: int) -> npt.NDArray[np.float64]:
    levels = np.array(LEVELS[width])
    return np.concatenate([-levels[::-1], levels]) if width else levels


def _bounds(width: int) -> npt.NDArray[np.float32]:
    """Return where one level ends and the next begins, rounded down: what is above is above the exact one."""
    steps = _steps(width)
    exact = (steps[1:] + steps[:-1]) / 2
    rounded = exact.astype(np.float32)
    return np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)


@dataclass(frozen=True, slots=True)
class InvertedFile:
    """The names of the lists' files, every document's list, and the centroids' codes for the manifest."""

    projection: Floats
    list_of: Ints
    centroids: Codes
    centroid_quantizer: Quantizer
    residual_quantizer: Quantizer
    names: tuple[str, ...]

    def columns(self) -> Mapping[str, object]:
        """Return the values of the manifest's columns."""
        coarse, fine = self.centroid_quantizer, self.residual_quantizer
        return {
            "list_low": self.list_of & 255,
            "list_high": self.list_of >> 8,
            "centroid_mean": coarse.mean,
            "centroid_deviation": coarse.deviation,
            "centroid_bits": coarse.widths,
            "residual_deviation": fine.deviation,
            "residual_bits": fine.widths,
            "centroid_codes": bits(self.centroids, coarse.widths),
        }


def make_inverted_file(
    vectors: SearchVectors,
    has_passages: npt.NDArray[np.bool_],
    files: Files,
    projection: Floats | None = None,
) -> InvertedFile:
    """Add the lists of all documents that have passages, along their own principal directions or others."""
    projection = principal_directions(vectors.documents) if projection is None else projection
    members = np.flatnonzero(has_passages)
    list_of = np.zeros(len(has_passages), dtype=np.int64)
    list_of[members] = _clusters(vectors.documents[members])
    projected = project(vectors.documents, projection)
    count = int(list_of.max(initial=0)) + 1
    centroids = _means(projected[members], list_of[members], count)
    residuals = projected[members] - centroids[list_of[members]]
    coarse = _quantizer(centroids, CENTROID_BITS, centroids.mean(axis=0))
    # Around its centroid a list's mean is zero.
    fine = _quantizer(residuals, DOCUMENT_BITS, np.zeros(projection.shape[1], np.float32))
    codes = fine.encode(residuals)
    names = files.add_all(_columns(members, list_of[members], codes, centroids, fine.widths))
    return InvertedFile(projection, list_of, coarse.encode(centroids), coarse, fine, names)


def principal_directions(vectors: Floats) -> Floats:
    """Return the principal directions of vectors as columns; their signs do not depend on the machine."""
    # With two threads the last bits differ, and directions of similar length rotate.
    with threadpool_limits(1, "blas"):
        _, directions = np.linalg.eigh(_squared(vectors))
    kept = directions[:, ::-1][:, :DIMENSIONS]
    signs = np.sign(kept[np.argmax(np.abs(kept), axis=0), np.arange(kept.shape[1])])
    return (kept * np.where(signs == 0, 1, signs)).astype(np.float32)


def project(vectors: Floats, projection: Floats) -> Floats:
    """Project vectors onto other directions."""
    with threadpool_limits(1, "blas"):
        found: Floats = (vectors.astype(np.float64) @ projection.astype(np.float64)).astype(np.float32)
    return found


def _squared(vectors: Floats) -> npt.NDArray[np.float64]:
    fine = vectors.astype(np.float64)
    found: npt.NDArray[np.float64] = fine.T @ fine
    return found


def _clusters(vectors: Floats) -> Ints:
    """Return the list of each vector, by spherical k-means of FAISS; empty lists are left out."""
    import faiss

    lists = max(1, round(len(vectors) / DOCUMENTS_IN_A_LIST))
    if lists == 1 or not len(vectors):
        return np.zeros(len(vectors), dtype=np.int64)
    with one_thread():
        clustering = faiss.Clustering(vectors.shape[1], lists)
        clustering.niter, clustering.seed, clustering.spherical = _ITERATIONS, _SEED, True
        clustering.min_points_per_centroid, clustering.max_points_per_centroid = 1, 256
        index: Any = faiss.IndexFlatIP(vectors.shape[1])
        clustering.train(np.ascontiguousarray(vectors), index)
        nearest = index.search(np.ascontiguousarray(vectors), 1)[1][:, 0]
    return np.unique(nearest, return_inverse=True)[1].astype(np.int64)


def _means(vectors: Floats, list_of: Ints, count: int) -> Floats:
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, list_of, vectors)
    sizes = np.maximum(np.bincount(list_of, minlength=count), 1)
    return (sums / sizes[:, None]).astype(np.float32)


def _quantizer(rows: Floats, total: int, mean: Floats) -> Quantizer:
    """Assign bits to numbers one at a time, each where it leaves the least variance."""
    deviation = rows.std(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)
    variance = deviation.astype(np.float64) ** 2
    widths = np.zeros(len(variance), dtype=np.int64)
    for _ in range(min(total, _MOST_BITS * len(widths)) if variance.any() else 0):
        gain = _LEFT[widths] - _LEFT[np.minimum(widths + 1, _MOST_BITS)]
        widths[np.argmax(variance * gain)] += 1
    widths[:1] = np.maximum(widths[:1], 1)  # rows without a bit could not be counted
    return Quantizer(mean.astype(np.float32), np.maximum(deviation, 1e-9).astype(np.float32), widths)


def _columns(
    members: Ints, list_of: Ints, codes: Codes, centroids: Floats, widths: Ints
) -> Iterator[list[bytes]]:
    for number, centroid in enumerate(centroids):
        inside = np.flatnonzero(list_of == number)
        documents = members[inside]
        scale = max(float(np.abs(centroid).max()), 1e-9) / 127
        rounded = np.round(centroid / scale).astype(np.int8)
        columns = {
            "document_gap": np.diff(documents, prepend=-1) - 1,
            "centroid_unit": np.array([scale]),
            "centroid": rounded,
            "residual_codes": bits(codes[inside], widths),
        }
        yield INVERTED_LIST.pack(columns)
