"""The whole job in one table: every stage of an index and its site, what it needs and what it makes.

The order of execution, what runs side by side, Prefect's tasks and their edges, ``--from``, the rows of the
report and ``noctule graph`` all come from ``BUILD``. A new stage is one row here and one function in
``noctule.flows.stages``.

Given from the start are ``run`` (its context: settings, store, options), ``store`` (with its lock),
``engine`` (where batches are computed) and ``resources`` (progress, the background process). Of the documents
``parsed`` holds everything that parsing gave, and ``corpus`` the same without counted terms, which are large.

A store in shards runs parts of this table for each shard: ``noctule.flows.shards.build``.
"""

from __future__ import annotations

from pathlib import Path

from ..pipeline.errors import SettingsError
from ..pipeline.settings.settings import Settings
from .quality.gate import judge_staged, read_judged_sets
from .run.context import RunContext
from .run.executor import ordered
from .run.request import IndexRequest
from .run.stage import Lane, Stage, makers
from .stages import assets, lexical, links, parse, publish, site, sources, tables, write
from .stages.embedding import encode, query_model, training_texts

THREAD, PROCESS = Lane.THREAD, Lane.PROCESS
_TABLES = (
    "document_tables", "link_tables", "asset_tables", "lexical_tables", "vector_tables", "vocabulary_tables",
)  # fmt: skip

# fmt: off
BUILD = (
    Stage("judged queries", read_judged_sets, ("run",), ("judged",)),
    # Sources become documents, sections and passages.
    Stage("discover", sources.discover, ("run", "store"), ("listing",)),
    Stage("hash", sources.hash_sources, ("run", "listing", "store"), ("hashed",)),
    Stage("load model", encode.open_encoding, ("run", "engine", "resources"), ("encoding",)),
    Stage(parse.PARSE_STAGE, parse.parse_sources,
          ("run", "store", "engine", "resources", "encoding", "listing", "hashed"),
          ("parsed", "corpus", "parse_record", "cache"), fan_out=True, redo="changed files"),
    # Early, while little else is held: an export takes more than a gigabyte for a moment.
    Stage(query_model.EXPORT_STAGE, query_model.export_query_model, ("run", "store", "encoding"),
          ("query_model",), redo="another model"),
    # Links, the index of words, and communities need no vectors.
    Stage("training passages", training_texts.pick_passages, ("run", "corpus"), ("training_passages",)),
    Stage("training counts", training_texts.count_picked, ("training_passages",), ("training_counts",),
          PROCESS, is_large=training_texts.are_many),
    Stage("find assets", assets.find_assets, ("run", "store", "hashed", "parse_record"), ("found_assets",)),
    Stage("links", links.resolve, ("run", "parsed", "found_assets"), ("links",)),
    Stage("assets", assets.collect_assets, ("run", "store", "found_assets", "links", "parse_record"),
          ("asset_tables", "corpus_record")),
    Stage("link graph", links.make_link_graph, ("corpus", "links"), ("link_graph",)),
    Stage("communities", links.find_communities, ("run", "link_graph"), ("clusters",), PROCESS,
          is_large=links.is_large_graph),
    Stage("anchors", lexical.count_anchors, ("corpus", "links"), ("anchors",)),
    Stage("lexical", lexical.index_prose, ("run", "parsed", "anchors"), ("prose",)),
    Stage("code", lexical.index_code, ("run", "parsed"), ("code",)),
    Stage("words", lexical.select_words, ("run", "parsed", "prose"), ("vocabulary_terms",)),
    Stage("lexical tables", lexical.lexical_tables, ("prose", "code", "parsed", "anchors"),
          ("lexical_tables",)),
    # Vectors.
    Stage(encode.EMBED_STAGE, encode.embed_passages, ("encoding", "corpus"), ("vectors",), fan_out=True,
          redo="changed texts"),
    Stage("vector index", write.index_vectors, ("run", "vectors"), ("vector_index",), THREAD),
    Stage("vocabulary vectors", encode.embed_words, ("encoding", "vocabulary_terms"), ("word_vectors",),
          fan_out=True, redo="changed texts"),
    Stage("near words", tables.find_near_words, ("run", "word_vectors"), ("near_words",), PROCESS,
          is_large=tables.is_large_vocabulary),
    Stage("centroids", tables.find_centroids, ("corpus", "vectors"), ("centroids",)),
    Stage("phrases", training_texts.embed_phrases, ("run", "encoding", "corpus", "links"), ("phrases",),
          fan_out=True, redo="changed texts"),
    Stage("spans", training_texts.embed_spans, ("run", "encoding", "corpus"), ("spans",), fan_out=True,
          redo="changed texts"),
    Stage("static encoder", training_texts.fit_static_encoder,
          ("run", "corpus", "links", "prose", "vocabulary_terms", "word_vectors", "vectors", "centroids",
           "training_passages", "training_counts", "phrases", "spans"), ("term_vectors",)),
    # The snapshot.
    Stage("topics", links.name_topics, ("run", "corpus", "clusters", "link_graph", "prose"), ("partition",)),
    Stage("link tables", links.link_tables, ("links", "partition", "asset_tables"), ("link_tables",)),
    Stage("document tables", tables.document_tables,
          ("corpus", "corpus_record", "link_graph", "partition", "vectors"), ("document_tables",)),
    Stage("vector tables", tables.vector_tables, ("corpus", "vectors", "centroids"), ("vector_tables",)),
    Stage("vocabulary", tables.vocabulary_tables, ("vocabulary_terms", "word_vectors", "near_words"),
          ("vocabulary_tables",)),
    Stage("write", write.write_snapshot,
          ("run", "store", "encoding", "corpus", "vector_index", "query_model", "term_vectors", *_TABLES),
          ("staged",)),
    Stage("relevance", judge_staged, ("run", "store", "staged", "judged"), ("verdict",)),
    Stage("publish", publish.publish, ("run", "store", "staged", "corpus_record", "cache", "verdict"),
          ("published",), retries=False),
    # The site; its lookup begins while the snapshot is judged and proved.
    Stage("site check", site.is_current_site, ("run", "staged"), ("is_current_site",)),
    Stage("search lookup", site.make_search_lookup, ("run", "staged", "is_current_site"), ("lookup",),
          PROCESS, is_large=site.is_large_site, redo="changed files"),
    Stage("site", site.build_site, ("run", "resources", "published", "lookup"), ("site",),
          redo="changed pages"),
    Stage("publish elsewhere", publish.publish_to_targets, ("run", "resources", "published"), ("sent",),
          fan_out=True, redo="changed files"),
)
# fmt: on


def dependents(name: str) -> frozenset[str]:
    """Return the names of the stages that need this one, directly or indirectly."""
    found, known = {name}, makers(BUILD)
    for stage in ordered(BUILD):
        if any(known[need].name in found for need in stage.needs if need in known):
            found.add(stage.name)
    return frozenset(found - {name})


def context_of(request: IndexRequest, out: Path | None = None) -> RunContext:
    """Return the context of a run, its settings read once; raise ``SettingsError`` or ``SourceError``."""
    names, start = [stage.name for stage in BUILD], request.options.start
    if start is not None and start not in names:
        raise SettingsError(
            f"there is no stage {start!r}",
            where="--from",
            hint=f"There are {', '.join(names)}. noctule graph draws them.",
        )
    settings = request.settings()
    return RunContext(settings, request.store, request.options, out, reads_sources(start, settings))


def reads_sources(start: str | None, settings: Settings) -> bool:
    """Return whether a run that begins with this stage reads its sources, as one in shards always does."""
    return settings.shards.wanted or start not in dependents(parse.PARSE_STAGE)
