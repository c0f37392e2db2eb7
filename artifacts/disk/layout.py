"""All file names, and the format version, of a store and a snapshot."""

from __future__ import annotations

import re

FORMAT_VERSION = 4

# In the store
CURRENT = "CURRENT"
SNAPSHOTS = "snapshots"
PINS = "pins"
RUNS = "runs"
REPORTS = "reports"
EMBEDDINGS = "embeddings"
MODELS = "models"
PARSE_CACHE = "parse-cache"
SOURCE_HASHES = "source-hashes"
OLD_PARSE_CACHE = "remembered"
SITES = "sites"
SHARDS = "shards"
LOCK = "lock"
NIGHT_LOCK = "night.lock"
STAGING_PREFIX = ".staging-"
POINTER_PREFIX = ".CURRENT-"
SNAPSHOT_ID = re.compile(r"[0-9a-f]{20}")

# Names that NFS and FUSE give to files which are removed while they are open
HELD_OPEN = re.compile(r"\.nfs[0-9a-f]{16,}|\.fuse_hidden[0-9a-f]{16}")

# In a snapshot
MANIFEST = "manifest.json"
FAISS_INDEX = "vectors.faiss"
CATALOG = "catalog.sql"
TABLES = (
    "documents",
    "sections",
    "passages",
    "code_blocks",
    "links",
    "assets",
    "communities",
    "terms",
    "postings",
    "code_terms",
    "code_postings",
    "surfaces",
    "acronyms",
    "vocabulary",
    "vectors",
    "centroids",
    "term_vectors",
    "token_vectors",
    "report",
)

# A set of shards has what belongs to the whole corpus, and its shards the rest.
SET_TABLES = (
    "communities",
    "terms",
    "code_terms",
    "surfaces",
    "acronyms",
    "vocabulary",
    "term_vectors",
    "token_vectors",
    "report",
)

# Of the model that encodes queries; in the store's folder of models they are named by their SHA-256.
ONNX_MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
TOKEN_VECTORS = "token_vectors.parquet"  # noqa: S105  # no secret
QUERY_MODEL_FILES = (ONNX_MODEL, TOKENIZER, TOKEN_VECTORS)


def table_file(table: str) -> str:
    """Return the name of the file that holds a table."""
    return f"{table}.parquet"


def is_held_open(name: str) -> bool:
    """Return whether this is what NFS or FUSE makes of a removed file that somebody still reads."""
    return HELD_OPEN.fullmatch(name) is not None


def collections_file(snapshot_id: str) -> str:
    """Return the name of the file that lists the groups of a snapshot's collections."""
    return f"collections-{snapshot_id}.json"


FILES = (*(table_file(table) for table in TABLES), FAISS_INDEX, CATALOG)
SET_FILES = tuple(table_file(table) for table in SET_TABLES)
