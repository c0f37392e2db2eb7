"""All settings of a run, with their defaults and bounds, and which of them determine a snapshot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from ..identity import canonical_json, sha256_hex
from .collection import Address, Collection
from .search import Search, Table
from .serve import Serve
from .site import Site

FIELDS = ("title", "headings", "keywords", "description", "tags", "aliases", "author", "body", "anchors")
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
COLLECTION_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ENGINE = re.compile(
    r"inline|processes|(?:dask|ray)(?:://(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5})?", re.ASCII
)
# Those on which torch computes what a model does; a number names one of several.
_DEVICE = re.compile(r"auto|(?:cpu|cuda|mps|xpu)(?::[0-9]{1,3})?", re.ASCII)
_TARGET = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s]*(/\S*)?|/.*|~/.*")


class Chunk(Table):
    """Passage size, in tokens of the embedding model, including the breadcrumb."""

    max_tokens: int = Field(default=256, ge=32, le=8192)
    overlap_tokens: int = Field(default=32, ge=0)

    @model_validator(mode="after")
    def _overlap_is_small(self) -> Chunk:
        if self.overlap_tokens > self.max_tokens // 4:
            raise ValueError("overlap_tokens may be at most a quarter of max_tokens")
        return self


class Embed(Table):
    """The embedding model and how to run it.

    ``model``, ``query_prompt`` and ``precision`` determine the vectors.
    """

    model: str = DEFAULT_MODEL
    query_prompt: str = Field(default="", description="put before a query; empty: what the model's files say")
    allow_download: bool = False
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    device: str = "auto"
    batch_tokens: int = Field(default=1024, ge=256)
    workers: int = Field(default=0, ge=0, description="0: one per core")

    @field_validator("device")
    @classmethod
    def _is_a_device(cls, name: str) -> str:
        if not _DEVICE.fullmatch(name):
            raise ValueError(f"{name!r:.40} is no device: write auto, cpu, cuda, cuda:1, mps or xpu")
        return name


class LexicalField(Table):
    """A field's BM25F weight and length normalization."""

    weight: float = Field(ge=0, strict=False)
    b: float = Field(default=0.75, ge=0, le=1, strict=False)


def _default_fields() -> dict[str, LexicalField]:
    weights = (3.0, 2.5, 2.5, 2.0, 2.0, 1.5, 1.0, 1.0, 3.0)
    return {name: LexicalField(weight=weight) for name, weight in zip(FIELDS, weights, strict=True)}


# Decision 68 has the figures: k1 becomes .75 and b .5 in a corpus of abstracts.
_LESS_K1, _LESS_B = 1 / 6, 1 / 3


class Lexical(Table):
    """BM25F over passages (``k1``, and a weight and ``b`` for each field)."""

    k1: float = Field(default=0.9, gt=0, strict=False)
    fields: dict[str, LexicalField] = Field(default_factory=_default_fields)

    def adapted(self, without_headings: float) -> Lexical:
        """Return the settings for a corpus with this share of passages in documents without headings.

        Where texts have no sections, repeated words and lengths say less. A score compares two passages, so
        what counts is the share of pairs of that kind.
        """
        pairs = without_headings**2
        b = {name: field.b * (1 - _LESS_B * pairs) for name, field in self.fields.items()}
        fields = {name: field.model_copy(update={"b": b[name]}) for name, field in self.fields.items()}
        return self.model_copy(update={"k1": self.k1 * (1 - _LESS_K1 * pairs), "fields": fields})

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, given: dict[str, LexicalField]) -> dict[str, LexicalField]:
        unknown = sorted(set(given) - set(FIELDS))
        if unknown:
            raise ValueError(f"unknown field {', '.join(unknown)}; there are {', '.join(FIELDS)}")
        return _default_fields() | given


class VocabularySettings(Table):
    """The concept vocabulary: number of terms, passages that a term must occur in, and near terms of each."""

    max_terms: int = Field(default=10_000, ge=0)
    min_passages: int = Field(default=3, ge=1)
    near_terms: int = Field(default=10, ge=0)


class StaticEncoderSettings(Table):
    """The static encoder, which has no neural network: how much of the corpus it is fitted to."""

    passages: int = Field(default=25_000, ge=0, description="passages, whole")
    phrases: int = Field(default=8_000, ge=0, description="titles, headings and anchor texts, encoded for it")
    spans: int = Field(default=8_000, ge=0, description="spans of a few words of passages, encoded for it")
    ridge: float = Field(default=0.3, gt=0, strict=False)
    iterations: int = Field(default=8, ge=1, le=1000)


class Communities(Table):
    """Louvain over the link graph."""

    resolution: float = Field(default=1.0, gt=0, strict=False)
    seed: int = 0
    label_terms: int = Field(default=3, ge=1)
    label_confidence: float = Field(default=0.15, ge=0, le=1, strict=False)


class VectorIndex(Table):
    """The FAISS index: exact (``flat``), approximate (``ivf``), or chosen by vector count (``auto``)."""

    index: Literal["auto", "flat", "ivf"] = "auto"
    flat_up_to: int = Field(default=50_000, ge=0)
    nprobe: int = Field(default=0, ge=0, description="0: as many as find 98 of 100")


class Limits(Table):
    """Bounds on a build."""

    parse_timeout_s: float = Field(default=60.0, gt=0, strict=False)
    max_failed_share: float = Field(default=0.5, ge=0, le=1, strict=False)
    max_shrink_share: float = Field(default=0.3, ge=0, le=1, strict=False)


class RelevanceSettings(Table):
    """The gate: judged queries that a new snapshot must not answer worse than the current one."""

    judged: tuple[str, ...] = Field(default=(), strict=False, description="folders; none: no gate")
    measure: Literal["nDCG@10", "R@100", "MRR@10", "hit@1"] = "nDCG@10"
    max_drop: float = Field(default=0.02, ge=0, le=1, strict=False)
    significance: float = Field(default=0.05, gt=0, le=1, strict=False)
    max_deleted: float = Field(default=0.5, ge=0, le=1, strict=False)
    shown: int = Field(default=10, ge=0, description="queries that fell most, with reasons")

    @field_validator("judged")
    @classmethod
    def _once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(given)) < len(given):
            raise ValueError("a folder is named twice")
        return given


class ShardSettings(Table):
    """The parts in which a corpus is built and kept, each an ordinary snapshot in a store of its own.

    ``drift`` is the mean relative change of scores up to which shards keep the statistics of the corpus that
    they were built with; 0 makes every answer that of the whole corpus, exactly.
    """

    count: int = Field(default=1, ge=1, le=4096, description="1: none")
    by: Literal["hash", "folder", "collection"] = "hash"
    max_passages: int = Field(default=0, ge=0, description="as many shards as have about so many; 0: count")
    drift: float = Field(default=0.005, ge=0, le=1, strict=False)

    @property
    def wanted(self) -> bool:
        """Return whether there are to be shards at all."""
        return self.count > 1 or self.max_passages > 0


class StoreSettings(Table):
    """How many snapshots are kept besides the current and the previous one."""

    keep: int = Field(default=5, ge=1)


class EngineSettings(Table):
    """The engine that computes a build's batches, on this machine or a cluster; no content depends on it."""

    name: str = "processes"
    shared: str = Field(default="", description="a folder that every worker sees; empty: the store")

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if not _ENGINE.fullmatch(name):
            raise ValueError(
                f"no engine {name!r}; choose inline, processes, dask, dask://HOST:PORT, ray or ray://HOST:PORT"
            )
        return name

    @property
    def kind(self) -> str:
        """Return the engine's name without an address."""
        return self.name.partition("://")[0]

    @property
    def address(self) -> str:
        """Return ``HOST:PORT`` of a running cluster; empty if one is to be started on this machine."""
        return self.name.partition("://")[2]


class Publish(Table):
    """The targets that every new snapshot is copied to, and how many older ones stay there."""

    targets: tuple[str, ...] = Field(default=(), strict=False, description="folders and addresses")
    sign: str = Field(default="", description="a key of OpenSSH that signs what is published")
    keep: int = Field(default=2, ge=0, description="besides the current and the one before")

    @field_validator("targets")
    @classmethod
    def _are_addresses(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [each for each in given if not _TARGET.fullmatch(each)]
        if wrong:
            raise ValueError(
                f"not an absolute folder or an address such as s3://bucket/prefix: {', '.join(wrong)}"
            )
        if len(set(given)) < len(given):
            raise ValueError("a target is named twice")
        return given


class Settings(Table):
    """All settings of a run; the defaults are complete except for the collections."""

    collections: dict[str, Collection] = Field(default_factory=dict)
    chunk: Chunk = Chunk()
    embed: Embed = Embed()
    lexical: Lexical = Lexical()
    vocabulary: VocabularySettings = VocabularySettings()
    static_encoder: StaticEncoderSettings = StaticEncoderSettings()
    communities: Communities = Communities()
    vectors: VectorIndex = VectorIndex()
    search: Search = Search()
    relevance: RelevanceSettings = RelevanceSettings()
    limits: Limits = Limits()
    store: StoreSettings = StoreSettings()
    shards: ShardSettings = ShardSettings()
    engine: EngineSettings = EngineSettings()
    publish: Publish = Publish()
    site: Site = Site()
    serve: Serve = Serve()

    @field_validator("collections")
    @classmethod
    def _names(cls, given: dict[str, Collection]) -> dict[str, Collection]:
        bad = [name for name in given if not COLLECTION_NAME.fullmatch(name)]
        if bad:
            raise ValueError(f"collection names are lower-case letters, digits, - and _: {', '.join(bad)}")
        return dict(sorted(given.items()))

    def shaping(self) -> dict[str, Any]:
        """Return the settings that determine a snapshot's content, without locations and speed."""
        tables = {"collections", "chunk", "lexical", "vocabulary", "static_encoder", "communities", "vectors"}
        given = self.model_dump(mode="json", include=tables)
        for collection in given["collections"].values():
            for name in ("root", "snippet_folders", "auto_append", "variables", "static_folders", "sidebars"):
                del collection[name]
            del collection["api"]["packages"]
        model = recorded_model_name(self.embed.model)
        embed = self.embed
        given["embed"] = {"model": model, "query_prompt": embed.query_prompt, "precision": embed.precision}
        if self.site.redirects:  # links to former addresses lead on
            given["site"] = {"redirects": self.site.redirects, "base_url": self.site.base_url}
        return given

    def fingerprint(self) -> str:
        """Return the SHA-256 of :meth:`shaping`; with equal sources, equal ones give equal snapshots."""
        return sha256_hex(canonical_json(self.shaping()).encode())


def recorded_model_name(model: str) -> str:
    """Return a model's name as a snapshot records it: for a local folder only its last component."""
    is_path = model.startswith(("/", ".", "~")) or model.count("/") > 1
    return model.rstrip("/").rsplit("/", 1)[-1] if is_path else model


def recorded_query_prompt(shaping: Mapping[str, Any]) -> str:
    """Return the query prompt recorded in a manifest's :meth:`Settings.shaping`."""
    return str(shaping.get("embed", {}).get("query_prompt", ""))


def recorded_addresses(shaping: Mapping[str, Any]) -> dict[str, Address]:
    """Return each collection's address rules recorded in a manifest's :meth:`Settings.shaping`."""
    return {name: Address.model_validate(given["address"]) for name, given in shaping["collections"].items()}
