"""All file names, and the format version, of a store and a snapshot."""

from __future__ import annotations

import re

FORMAT_VERSION = 3

# In the store
CURRENT = "CURRENT"
SNAPSHOTS = "snapshots"
PINS = "pins"
RUNS = "runs"
REPORTS = "reports"
EMBEDDINGS = "embeddings"
PARSE_CACHE = "parse-cache"
OLD_PARSE_CACHE = "remembered"
SITES = "sites"
LOCK = "lock"
NIGHT_LOCK = "night.lock"
STAGING_PREFIX = ".staging-"
POINTER_PREFIX = ".CURRENT-"
SNAPSHOT_ID = re.compile(r"[0-9a-f]{20}")

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
    "report",
)


def table_file(table: str) -> str:
    """Return the name of the file that holds a table."""
    return f"{table}.parquet"


def collections_file(snapshot_id: str) -> str:
    """Return the name of the file that lists the groups of a snapshot's collections."""
    return f"collections-{snapshot_id}.json"


FILES = (*(table_file(table) for table in TABLES), FAISS_INDEX, CATALOG)
