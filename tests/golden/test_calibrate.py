"""Confidence: the seeds' sigmoid with the values it really has, the share of what can be had, and fitted
curves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.query.model import Candidate
from noctule.artifacts.query.ranking.calibrate import Curve, calibrated, curve_of, fit, sigmoid
from noctule.artifacts.query.ranking.fuse import attainable, convex_combination, reciprocal_rank_fusion
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.search import Calibrate
from tests.candidate_builder import candidates, ranked, rows

SEEDS = Curve(steepness=150.0, threshold=0.035)
HALF = Curve(steepness=5.0, threshold=0.5)


def of(most: float) -> Callable[[Candidate], float]:
    """The share of the most that a score can be."""
    return lambda candidate: candidate.score / most


@pytest.mark.parametrize(
    ("score", "confidence"),
    [
        (1 / 61 + 1 / 62, 0.408),
        (1 / 63 + 1 / 61, 0.399),
        (0.0175, 0.068),
        (1.2 / 63, 0.084),
        (1 / 62, 0.056),
        (0.5 / 61, 0.018),
    ],
)
def test_the_seeds_sigmoid_has_these_values(score: float, confidence: float) -> None:
    assert SEEDS.at(score) == pytest.approx(confidence, abs=5e-4)


@pytest.mark.parametrize(
    ("confidence", "score"), [(0.3, 0.02935), (0.5, 0.0350), (0.7, 0.04065), (0.9, 0.04965)]
)
def test_the_seeds_bands_begin_at_these_scores(confidence: float, score: float) -> None:
    assert SEEDS.at(score) == pytest.approx(confidence, abs=5e-4)


@pytest.mark.parametrize(
    ("lists", "most"), [({"a": 1.0}, 0.058), ({"a": 2.0}, 0.418), ({"a": 2.5}, 0.710), ({"a": 3.5}, 0.966)]
)
def test_on_absolute_scores_the_highest_confidence_hangs_on_the_number_of_lists(
    lists: dict[str, float], most: float
) -> None:
    assert SEEDS.at(sum(lists.values()) / 61) == pytest.approx(most, abs=2e-3)


WAYS: tuple[dict[str, float], ...] = (
    {"semantic": 1.0},
    {"keyword": 1.0},
    {"hypothesis": 1.0},
    {"keyword": 1.0, "semantic": 1.0},
    {"keyword": 1.0, "semantic": 1.0, "graph": 0.5},
)


@pytest.mark.parametrize("weights", WAYS, ids="+".join)
def test_whatever_is_switched_on_the_best_possible_hit_is_as_sure(weights: dict[str, float]) -> None:
    lists = [ranked(name, 1) for name in weights]  # type: ignore[arg-type]
    found = reciprocal_rank_fusion(lists, weights, 60)
    (hit,) = calibrated(found, of(attainable(lists, weights, 60)), HALF, 0.3)
    assert hit.confidence == pytest.approx(sigmoid(1.0, 5.0, 0.5))


def test_a_hit_of_one_list_among_two_passes_a_min_confidence_of_three_tenths() -> None:
    lists = [ranked("keyword", 1, 2, 3), ranked("semantic")]
    weights = {"keyword": 1.0, "semantic": 1.0}
    found = reciprocal_rank_fusion(lists, weights, 60)
    kept = calibrated(found, of(attainable(lists, weights, 60)), HALF, 0.3)
    assert rows(kept) == [1, 2, 3]
    assert kept[0].confidence == pytest.approx(0.5)
    assert SEEDS.at(found[0].score) < 0.06


def test_min_confidence_cuts_what_is_below_it_and_keeps_the_order() -> None:
    found = calibrated(candidates(0.9, 0.8, 0.2, 0.1), of(1.0), Curve(10.0, 0.5), 0.5)
    assert rows(found) == [0, 1]
    assert [round(each.confidence or 0, 3) for each in found] == [0.982, 0.953]
    assert [each.score for each in found] == [0.9, 0.8]


def test_a_share_is_a_mean_of_what_the_lists_gave_by_their_weights() -> None:
    lists = [
        ranked("keyword", 1, scores=(8.0,), most=16.0),
        ranked("semantic", 1, scores=(0.9,), most=1.0),
    ]
    (hit,) = convex_combination(lists, {"keyword": 1.0, "semantic": 3.0})
    assert hit.attained == pytest.approx(0.25 * 0.5 + 0.75 * 0.9)


@pytest.mark.parametrize("x", [-1e300, -1.0, 0.0, 1.0, 1e300])
def test_the_sigmoid_has_no_overflow_and_stays_between_0_and_1(x: float) -> None:
    assert 0.0 <= sigmoid(x, 1e5, 0.5) <= 1.0


def test_a_fit_finds_the_parameters_that_made_the_judgements() -> None:
    rng = np.random.default_rng(3)
    shares = rng.uniform(0, 1, 20_000)
    relevant = rng.uniform(size=len(shares)) < 1 / (1 + np.exp(-8 * (shares - 0.6)))
    curve = fit(shares, relevant)
    assert curve.steepness == pytest.approx(8, rel=0.05)
    assert curve.threshold == pytest.approx(0.6, abs=0.01)


def test_a_fit_to_separable_judgements_ends_with_a_curve_between_them() -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    curve = fit(shares, shares > 0.5)
    assert np.isfinite([curve.steepness, curve.threshold]).all()
    assert curve.steepness > 0
    assert 0.3 < curve.threshold < 0.7
    assert curve.at(0.1) < 0.3 < 0.7 < curve.at(0.9)


def test_the_numbers_of_a_calibration_file_take_the_place_of_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps({"steepness": 8.1, "threshold": 0.6, "fitted_on": "scifact"}))
    assert curve_of(Calibrate(file=str(path))) == Curve(8.1, 0.6, "scifact")
    assert curve_of(Calibrate(threshold=0.4, steepness=3.0)) == Curve(3.0, 0.4)


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    "3",
    '"steepness"',
    "{}",
    '{"steepness": 8}',
    '{"steepness": "steep", "threshold": 0.5}',
    '{"steepness": null, "threshold": 0.5}',
    '{"steepness": 0, "threshold": 0.5}',
    '{"steepness": -8, "threshold": 0.5}',
    '{"steepness": 8, "threshold": NaN}',
    '{"steepness": Infinity, "threshold": 0.5}',
    '{"steepness": 1' + "0" * 400 + ', "threshold": 0.5}',
    "[" * 50_000,
    '{"steepness": 8, "threshold": 0.5}' + " " * 200_000 + "{",
]


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: content[:40] or "empty")
def test_a_broken_calibration_file_is_one_error_that_names_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(content)
    with pytest.raises(SettingsError) as caught:
        curve_of(Calibrate(file=str(path)))
    assert caught.value.where == str(path)
    assert "steepness" in caught.value.hint


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_a_calibration_file_that_cannot_be_read_is_one_error_that_names_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(SettingsError, match="cannot read the calibration") as caught:
        curve_of(Calibrate(file=str(path)))
    assert caught.value.where == str(path)


def test_bytes_that_are_no_text_are_no_calibration(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(SettingsError, match="not a calibration"):
        curve_of(Calibrate(file=str(path)))
