"""Every setting of a search has a range, and each mistake is told in a line of its own."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any, cast

import pytest

from noctule.pipeline.errors import SettingsError
from noctule.pipeline.settings.reading import RENAMED, load, parse
from noctule.pipeline.settings.search import DEFAULT_WEIGHTS, LISTS, Search, Table
from noctule.pipeline.settings.settings import Settings, StaticEncoderSettings

REPOSITORY = Path(__file__).resolve().parents[4]

# The least and the most that each may be where there is one, and what lies just outside.
GOOD: dict[str, list[object]] = {
    "encoder": ["static", "full"],
    "candidates": [1, 1_000_000],
    "oversample": [1, 100],
    "fuzziness": ["off", "auto"],
    "fusion": ["rrf", "convex"],
    "rrf_k": [0, 60],
    "max_per_document": [0, 1],
    "recency_bias": [0, 0.5, 3],
    "excerpt_chars": [40, 10_000],
    "understand": [[], ["split", "classify", "spelling", "acronyms", "synonyms", "concepts"]],
    "stages": [[], ["calibrate"], ["per_document", "calibrate", "mmr"]],
    "weights": [{}, {"keyword": 0}, {"graph": 0.5, "code": 2}, dict.fromkeys(LISTS, 0.0)],
    "classify.factual": [0.01, 2],
    "classify.navigational": [0.01, 2],
    "classify.exploratory": [0.01, 2],
    "spelling.max_edits": [1, 2],
    "spelling.min_chars": [2, 10],
    "spelling.weight": [0.01, 1],
    "acronyms.weight": [0.01, 1],
    "synonyms.file": ["", "glossary.toml"],
    "synonyms.max_terms": [1, 8],
    "synonyms.weight": [0.01, 1],
    "concepts.terms": [1, 10],
    "concepts.min_similarity": [-1, 0.5, 1],
    "concepts.keyword_weight": [0, 1],
    "concepts.vector_weight": [0, 1],
    "graph.seeds": [1, 100],
    "graph.depth": [1, 3],
    "graph.max_links": [1, 1000],
    "balance.enabled": [True, False],
    "balance.spread": [0.01, 5],
    "balance.min_factor": [0.01, 1],
    "rocchio.documents": [1, 10],
    "rocchio.share": [0.01, 1],
    "support.share": [0.01, 1],
    "in_degree.share": [0.01, 1],
    "community.seeds": [1, 10],
    "community.factor": [1, 1.1],
    "glossary.page": [1, 2],
    "glossary.title": [1, 2],
    "glossary.section": [1, 2],
    "glossary.paths": [[], ["**/terms/**"]],
    "calibrate.threshold": [0, 1],
    "calibrate.steepness": [0.01, 150],
    "calibrate.min_confidence": [0, 1],
    "calibrate.file": ["", "calibration.json"],
    "duplicates.ngram": [0.01, 1],
    "duplicates.cosine": [0.01, 1],
    "rerank.model": ["cross-encoder/ms-marco-MiniLM-L-6-v2", "/models/tiny"],
    "rerank.depth": [1, 1000],
    "rerank.blend": [[0, 0, 0], [1, 1, 1]],
    "mmr.relevance_weight": [0, 1],
    "elbow.ratio": [0.01, 1],
    "elbow.max_results": [1, 100],
    "aggregate.share": [0.01, 1],
    "aggregate.matches": [2, 10],
    "parents.max_bytes": [100, 100_000],
    "caches.answers": [0, 1000],
    "caches.ttl_seconds": [0.1, 3600],
    "caches.vectors": [0, 512],
}  # fmt: skip
BAD: dict[str, list[object]] = {
    "encoder": ["fast", ""],
    "candidates": [0, -1, 1.5, "100", True],
    "oversample": [0, 101],
    "fuzziness": ["on", "AUTO", 2, True],
    "fusion": ["sum", ""],
    "rrf_k": [-1, 60.5],
    "max_per_document": [-1],
    "recency_bias": [-0.1, float("nan"), float("inf")],
    "excerpt_chars": [39],
    "understand": [["guess"], ["split", "split"], "split"],
    "stages": [["rank"], ["mmr", "calibrate", "mmr"], "mmr"],
    "weights": [
        {"keywords": 1}, {"keyword": -1}, {"keyword": "1"}, {"keyword": True}, {"keyword": float("nan")},
        {"keyword": float("inf")}, [1, 2],
    ],
    "classify.factual": [0, -1, float("inf")],
    "classify.navigational": [0],
    "classify.exploratory": [0],
    "spelling.max_edits": [0, 3],
    "spelling.min_chars": [1],
    "spelling.weight": [0, 1.1],
    "acronyms.weight": [0, 1.1],
    "synonyms.file": [3],
    "synonyms.max_terms": [0],
    "synonyms.weight": [0, 1.1, float("nan")],
    "concepts.terms": [0],
    "concepts.min_similarity": [-1.1, 1.1],
    "concepts.keyword_weight": [-0.1, 1.1],
    "concepts.vector_weight": [-0.1, 1.1],
    "graph.seeds": [0],
    "graph.depth": [0, 4],
    "graph.max_links": [0],
    "balance.enabled": ["yes", 1],
    "balance.spread": [0],
    "balance.min_factor": [0, 1.1],
    "support.share": [0, 1.1],
    "rocchio.documents": [0],
    "rocchio.share": [0, 1.1],
    "in_degree.share": [0, 1.1],
    "community.seeds": [0],
    "community.factor": [0.9, float("inf")],
    "recency.days": [[30, 7], [7, 7], [-1, 7], [7], [7.5, 30]],
    "recency.factors": [[0.9, 1], [1.2], [1.2, float("nan")], [float("inf"), 1]],
    "glossary.page": [0.9],
    "glossary.title": [0.9],
    "glossary.section": [0.9],
    "calibrate.threshold": [-0.1, 1.1],
    "calibrate.steepness": [0, float("inf")],
    "calibrate.min_confidence": [-0.1, 1.1],
    "duplicates.ngram": [0, 1.1],
    "duplicates.cosine": [0, 1.1],
    "rerank.depth": [0, 1001],
    "rerank.blend": [[0.5, 0.5], [1.1, 0, 0], [0, -0.1, 0], [float("nan"), 0, 0]],
    "rerank.model": [""],
    "mmr.relevance_weight": [-0.1, 1.1],
    "elbow.ratio": [0, 1.1],
    "elbow.max_results": [0],
    "aggregate.share": [0, 1.1],
    "aggregate.matches": [1],
    "parents.max_bytes": [99],
    "caches.answers": [-1],
    "caches.ttl_seconds": [0],
    "caches.vectors": [-1],
}  # fmt: skip


def set_to(key: str, value: object) -> Settings:
    given: object = value
    for part in reversed(key.split(".")):
        given = {part: given}
    return parse({"search": given}, where="noctule.toml")


def keys(model: type[Table], prefix: str = "") -> set[str]:
    """Every key of the table, those of the tables in it included."""
    found = set()
    for name, field in model.model_fields.items():
        table = field.annotation
        if isinstance(table, type) and issubclass(table, Table):
            found |= keys(table, f"{prefix}{name}.")
        else:
            found.add(prefix + name)
    return found


def test_every_setting_is_tried_here() -> None:
    assert keys(Search) == set(GOOD) | {"recency.days", "recency.factors"}
    assert set(BAD) >= keys(Search) - {"glossary.paths", "calibrate.file"}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in GOOD.items() for value in values])
def test_values_within_the_range_are_taken(key: str, value: object) -> None:
    found: object = set_to(key, value).search
    for part in key.split("."):
        found = getattr(found, part)
    if key == "weights":
        assert found == DEFAULT_WEIGHTS | value  # type: ignore[operator]
    else:
        assert found == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD.items() for value in values])
def test_a_value_outside_the_range_is_an_error_that_names_its_key(key: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        set_to(key, value)
    assert caught.value.what.startswith(f"search.{key.rpartition('.')[0] or key}")
    assert caught.value.where == "noctule.toml"


def test_each_mistake_has_a_line_of_its_own() -> None:
    given = {
        "candidates": 0,
        "stagse": [],
        "mmr": {"relevance_weight": 2, "lambda": 1},
        "rerank": {"depth": 0},
    }
    with pytest.raises(SettingsError) as caught:
        parse({"search": given}, where="noctule.toml")
    lines = caught.value.what.split("; ")
    assert sorted(line.partition(":")[0] for line in lines) == [
        "search.candidates",
        "search.mmr.lambda",
        "search.mmr.relevance_weight",
        "search.rerank.depth",
        "search.stagse",
    ]
    assert "search.stagse: unknown key (did you mean stages?)" in lines


def test_a_weight_that_is_left_out_keeps_its_default() -> None:
    assert set_to("weights", {"graph": 0.5}).search.weights == DEFAULT_WEIGHTS | {"graph": 0.5}
    with pytest.raises(SettingsError, match="there are keyword, semantic, document, code, graph, hypothesis"):
        set_to("weights", {"fuzzy": 1})


def test_what_is_set_for_a_search_does_not_change_the_snapshot() -> None:
    assert set_to("rrf_k", 10).fingerprint() == Settings().fingerprint()


def test_the_seeds_own_order_loads() -> None:
    search = load(REPOSITORY / "configs" / "seed-order.toml").search
    assert search.stages == (
        "community", "recency", "calibrate", "duplicate_hash", "duplicate_ngram", "duplicate_cosine", "mmr",
        "per_document", "rerank", "parents",
    )  # fmt: skip
    assert search.understand == ("classify", "concepts")
    assert (search.weights["graph"], search.calibrate.min_confidence, search.balance.enabled) == (
        0.5,
        0.3,
        True,
    )


def test_the_file_of_defaults_holds_the_defaults() -> None:
    assert load(REPOSITORY / "configs" / "default.toml").search == Search()


OLD_VALUES = {
    "query_encoder": StaticEncoderSettings(ridge=1.0),
    "site.verify_nights": 3,
    "search.balance.least": 0.4,
    "search.balance.on": True,
    "search.caches.seconds": 60.0,
    "search.graph.hub": 7,
    "search.mmr.balance": 0.2,
}


def nested(key: str, value: object) -> dict[str, Any]:
    given: Any = value
    for name in reversed(key.split(".")):
        given = {name: given}
    return dict(given)


def valued(settings: Settings, key: str) -> object:
    return reduce(getattr, key.split("."), cast("object", settings))


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_of_a_key_works_with_a_warning_that_gives_the_new_one(
    old: str, new: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = parse(nested(old, OLD_VALUES[old]), where="noctule.toml")
    assert valued(settings, new) == OLD_VALUES[old] != valued(Settings(), new)
    assert caplog.messages == [f"noctule.toml: {old} is now called {new}; the old name still works"]


def test_the_old_and_the_new_name_of_one_key_are_an_error_that_names_both() -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"search": {"graph": {"hub": 7, "max_links": 8}}}, where="noctule.toml")
    assert caught.value.what == (
        "search.graph.hub and search.graph.max_links are the old and the new name of one key"
    )
    assert (caught.value.where, caught.value.hint) == ("noctule.toml", "Remove search.graph.hub.")


@pytest.mark.parametrize("value", [7, [1], "on", None])
def test_where_a_table_should_stand_anything_else_is_the_error_it_always_was(value: object) -> None:
    with pytest.raises(SettingsError, match=r"search\.graph"):
        parse({"search": {"graph": value}}, where="noctule.toml")
