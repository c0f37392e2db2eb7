"""From a look at the sources to a snapshot written aside: what is remembered, what is read, what the stages make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...artifacts.cache.parse_cache import CollectionRecord, ParseCache
from ...artifacts.store.manifest import Manifest
from ...artifacts.store.store import Staging, Store
from ...pipeline.embedding.encoder import TransformerEncoder
from ...pipeline.model import Rejection
from ...pipeline.settings.settings import Settings
from ..engines import Engine
from ..stages.corpus import Corpus, recalled, settled
from ..stages.encode import Encoding
from ..stages.parse import Reading
from ..stages.parse_batch import FileBatch
from ..stages.parts import Parts
from ..stages.sources import understand_all
from ..stages.write import write_files
from .background import beside
from .gathered import Gathered
from .memory import give_back
from .result import BuildOptions
from .steps import Progress, Steps


@dataclass(frozen=True, slots=True)
class Run:
    """What every stage of a run needs."""

    settings: Settings
    store: Store
    engine: Engine
    steps: Steps
    progress: Progress
    options: BuildOptions


@dataclass(frozen=True, slots=True)
class Staged:
    """A snapshot written aside, and what is still needed of the build."""

    staging: Staging
    manifest: Manifest
    rejections: tuple[Rejection, ...]
    encoded: int
    distinct: int
    parsed: int
    failed: Mapping[str, str]
    published: Mapping[str, CollectionRecord]
    remembered: ParseCache
    inputs: str


def stage(run: Run, given: Gathered) -> Staged:
    """A snapshot of the corpus, written aside; raises what a collection failed by if there is nothing to publish."""
    anew = run.options.start == "embed"
    encoding = run.steps.run(
        "load model",
        lambda: Encoding(
            TransformerEncoder(run.settings.embed), run.store, run.engine, run.steps, run.progress, anew=anew
        ),
    )
    remembered = run.steps.run("remember", lambda: _remembered(given, run.store))
    corpus = _corpus(run, given, remembered, encoding.encoder)
    remembered.let_go()
    # Handed over, so that its counts go as soon as they are in an index.
    whole = [corpus.whole]
    corpus = replace(corpus, whole=corpus.whole.without_counts())
    with beside() as other:
        parts = Parts(run.settings, run.steps, whole.pop, corpus.rejections, encoding, other)
    give_back()
    staging, manifest = run.steps.run("write", lambda: write_files(run.store.stage(), parts))
    return Staged(
        staging=staging,
        manifest=manifest,
        rejections=corpus.rejections,
        encoded=parts.encoded.computed,
        distinct=len(parts.encoded.hashes),
        parsed=corpus.parsed,
        failed=corpus.failed,
        published=corpus.published,
        remembered=remembered,
        inputs=given.inputs if corpus.as_looked else "",
    )


def _remembered(given: Gathered, store: Store) -> ParseCache:
    """What was read ahead, if no other run has changed it before this one had the lock."""
    ahead = given.remembered
    return ahead if ahead is not None and ahead.is_as_read() else ParseCache(store.root)


def _corpus(run: Run, given: Gathered, remembered: ParseCache, encoder: TransformerEncoder) -> Corpus:
    if given.listing is None or given.looked is None:
        return recalled(remembered, run.store.current(), run.settings)
    like = FileBatch((), run.settings, given.looked.deciding)
    anew = run.options.start == "parse"
    reading = Reading(remembered, like, run.engine, run.steps, run.progress, anew=anew)
    run.engine.prepare(encoder, sum(map(len, reading.missing(given.looked.groups, given.looked.keys))))
    understanding = understand_all(given.looked, remembered, reading, run.settings)
    return settled(
        understanding, given.looked, given.listing, remembered, run.store, run.settings, run.options
    )
