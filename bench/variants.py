"""The settings that are compared: lists, fusion, steps and stages, options, sizes of passages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from noctule.artifacts.query import Mode
from noctule.pipeline.settings.search import DEFAULT_WEIGHTS, StageName, Understanding
from noctule.pipeline.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings that differ from a set's own in what ``settings`` names, as a settings file would."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    mode: Mode = "hybrid"


# What all others are compared with.
DEFAULTS = Variant("defaults")
LISTS: tuple[Variant, ...] = (
    Variant("keyword list alone", mode="keyword"),
    Variant("semantic list alone", mode="semantic"),
    Variant("with the code list at 0.15", {"search": {"weights": {"code": 0.15}}}),
    Variant("with the graph list at 0.15", {"search": {"weights": {"graph": 0.15}}}),
    Variant("candidates 300", {"search": {"candidates": 300}}),
)


def fused(name: str, weights: Sequence[float], **search: object) -> Variant:
    """Return a variant with these weights of the keyword, the semantic and the document list."""
    named = dict(zip(("keyword", "semantic", "document"), weights, strict=True))
    return Variant(name, {"search": {"weights": named, **search}})


_BY_DEFAULT = tuple(DEFAULT_WEIGHTS[name] for name in ("keyword", "semantic", "document"))
FUSION: tuple[Variant, ...] = (
    fused("rrf, k 60, keyword 1 : passage 1", (1.0, 1.0, 0.0), fusion="rrf", rrf_k=60),
    fused("rrf, k 20, keyword 1 : passage 1", (1.0, 1.0, 0.0), fusion="rrf", rrf_k=20),
    fused("rrf, k 60, as the defaults weigh", _BY_DEFAULT, fusion="rrf", rrf_k=60),
    fused("rrf, k 20, as the defaults weigh", _BY_DEFAULT, fusion="rrf", rrf_k=20),
    fused("keyword 0.5 : passage 0.5", (0.5, 0.5, 0.0)),
    fused("keyword 0.5 : document 0.5", (0.5, 0.0, 0.5)),
    fused("keyword 0.2 : passage 0.2 : document 0.6", (0.2, 0.2, 0.6)),
    fused("keyword 0.2 : passage 0.4 : document 0.4", (0.2, 0.4, 0.4)),
    fused("keyword 0.4 : passage 0.2 : document 0.4", (0.4, 0.2, 0.4)),
    fused("keyword 0.5 : passage 0.15 : document 0.35", (0.5, 0.15, 0.35)),
)
# What the defaults must not lose to on any collection.
BASELINES: tuple[Variant, ...] = (*LISTS[:2], FUSION[0])


def seed_order() -> dict[str, Any]:
    """Return the settings file without the stage that needs a model: a variant with a warning is left out."""
    given: dict[str, Any] = tomllib.loads(Path("configs/seed-order.toml").read_text("utf-8"))
    stages = [name for name in given["search"]["stages"] if name != "rerank"]
    return given | {"search": given["search"] | {"stages": stages}}


def options() -> tuple[Variant, ...]:
    """Return the variants that are neither a list, a step nor a stage."""
    return (
        Variant("with `balance`", {"search": {"balance": {"enabled": True}}}),
        Variant('with `fuzziness = "auto"`', {"search": {"fuzziness": "auto"}}),
        Variant("with `min_confidence = 0.3`", {"search": {"calibrate": {"min_confidence": 0.3}}}),
        Variant("`configs/seed-order.toml` without `rerank`", seed_order()),
    )


# Each has a store of its own, minutes for a small set, and no more tokens than the default model reads (256).
PASSAGE_SIZES: tuple[Variant, ...] = tuple(
    Variant(f"passages of {size} tokens", {"chunk": {"max_tokens": size, "overlap_tokens": size // 8}})
    for size in (64, 128, 192)
)


def stage_variants() -> tuple[Variant, ...]:
    """Return each step and stage: removed if it is on by default, added if it is off."""
    search = Settings().search
    return (
        *_switched("understand", get_args(Understanding), search.understand),
        *_switched("stages", get_args(StageName), search.stages),
    )


def _switched(key: str, known: Sequence[str], on: Sequence[str]) -> Iterator[Variant]:
    for name in known:
        if name in on:
            yield Variant(f"without `{name}`", {"search": {key: [each for each in on if each != name]}})
        else:
            wanted = [each for each in known if each in (*on, name)]
            yield Variant(f"with `{name}`", {"search": {key: wanted}})
