"""A change of settings, model, analyzer or version names the stages that depend on it, one line each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.disk.manifest_records import IndexRecord, ModelRecord
from noctule.flows.graph import BUILD
from noctule.flows.incremental.rebuild_reasons import STAGES, Rebuild, compared
from noctule.pipeline import __version__
from noctule.pipeline.embedding.model_files import find
from noctule.pipeline.lexical import analyzer as text
from noctule.pipeline.settings import reading
from noctule.pipeline.settings.settings import Settings


def _settings(**tables: Any) -> Settings:
    given = {"collections": {"docs": {"root": "/docs"}}} | tables
    return reading.parse(given, where="here")


def _manifest(settings: Settings) -> Manifest:
    model = find(settings.embed)
    return Manifest(
        format_version=3,
        files={},
        counts={},
        settings_sha256="",
        settings=settings.shaping(),
        model=ModelRecord(model.name, model.sha256, 384, "fp32"),
        index=IndexRecord("flat", 1536),
        analyzer={"version": text.VERSION, "languages": "en"},
        tools={"noctule": __version__},
    )


def _only(found: tuple[Rebuild, ...]) -> Rebuild:
    assert len(found) == 1, found
    return found[0]


def test_nothing_changed_is_nothing_to_say() -> None:
    assert compared(_manifest(_settings()), _settings()) == ()


def test_what_does_not_shape_a_snapshot_is_no_reason() -> None:
    other = _settings(search={"rrf_k": 3}, embed={"workers": 1}, limits={"parse_timeout_s": 1.0})
    assert compared(_manifest(_settings()), other) == ()


@pytest.mark.parametrize(
    ("tables", "what", "stages"),
    [
        ({"lexical": {"k1": 2.0}}, "lexical.k1", {"lexical", "code"}),
        ({"communities": {"seed": 7}}, "communities.seed", {"communities", "topics"}),
        ({"chunk": {"max_tokens": 128}}, "chunk.max_tokens", {"parse", "embed"}),
        ({"vectors": {"index": "ivf"}}, "vectors.index", {"vector index"}),
        ({"embed": {"query_prompt": "q: "}}, "embed.query_prompt", {"phrases", "spans"}),
        (
            {"static_encoder": {"ridge": 1.0}},
            "static_encoder.ridge",
            {"training passages", "phrases", "spans", "static encoder"},
        ),
    ],
)
def test_a_setting_names_the_stages_that_depend_on_it(
    tables: dict[str, Any], what: str, stages: set[str]
) -> None:
    found = _only(compared(_manifest(_settings()), _settings(**tables)))
    assert found.what == what
    assert stages == set(found.stages)


def test_every_setting_that_shapes_a_snapshot_names_stages_of_the_build() -> None:
    names = {stage.name for stage in BUILD}
    assert {stage for stages in STAGES.values() for stage in stages} <= names
    assert set(_settings(site={"redirects": {"old": "new"}}).shaping()) <= set(STAGES)


def test_the_line_says_before_and_now() -> None:
    found = _only(compared(_manifest(_settings()), _settings(lexical={"k1": 2.0})))
    assert str(found).startswith("lexical.k1 was 0.9, is 2.0: lexical, code and ")


def test_a_collection_that_came_or_went_is_one_line() -> None:
    two = _settings(collections={"docs": {"root": "/docs"}, "notes": {"root": "/notes"}})
    assert _only(compared(_manifest(_settings()), two)).what == "collection notes"
    assert _only(compared(_manifest(two), _settings())).now == "gone"


def test_a_collections_own_setting_is_about_its_documents() -> None:
    other = _settings(collections={"docs": {"root": "/docs", "language": "de"}})
    found = _only(compared(_manifest(_settings()), other))
    assert found.stages[0] == "every document of docs"


def test_a_setting_that_the_snapshot_did_not_know_counts_as_its_default() -> None:
    manifest = _manifest(_settings())
    older: dict[str, Any] = {**manifest.settings}
    del older["static_encoder"]
    assert compared(replace(manifest, settings=older), _settings()) == ()


def test_a_setting_that_had_another_name_is_compared_under_its_name_of_today() -> None:
    manifest = _manifest(_settings())
    renamed = {
        ("query_encoder" if key == "static_encoder" else key): each for key, each in manifest.settings.items()
    }
    assert compared(replace(manifest, settings=renamed), _settings()) == ()


def test_other_weights_another_analyzer_and_another_version_are_reasons() -> None:
    manifest = _manifest(_settings())
    weights = replace(manifest, model=replace(manifest.model, sha256="0" * 64))
    assert "embed" in _only(compared(weights, _settings())).stages
    analyzer = replace(manifest, analyzer={"version": "0", "languages": "en"})
    assert "parse" in _only(compared(analyzer, _settings())).stages
    assert _only(compared(replace(manifest, tools={"noctule": "0"}), _settings())).what == "noctule"
