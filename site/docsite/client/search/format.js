// @ts-check
// The shard format as search/format.py defines it; `make bundle` writes this file.

export const FORMAT = 10;
export const NAME_CHARS = 8;
export const EXCERPT_PASSAGES = 8;
export const ESCAPE = 57344;
export const SURROGATES = 57600;
export const OTHERS = 59904;
export const ESCAPE_ITSELF = 60160;
export const VECTOR_LEVELS = 7;
export const LENGTH_STEPS = 256;
export const LENGTH_OFFSET = 32;
export const IMPACT_UNITS = 255;
export const CONTRIBUTION_UNITS = 127;
export const BREADCRUMB_SEPARATOR = " › ";

export const FAMILIES = /** @type {const} */ ([
  "term_shards",
  "posting_tiers",
  "inverted_lists",
  "excerpt_groups",
  "words",
  "near_words",
  "facets",
  "token_directories",
  "token_projections",
  "synonyms",
  "recent_shards",
]);

export const MANIFEST = /** @type {const} */ ([
  "header",
  "file_names",
  "shard_shared",
  "shard_size",
  "shard_rest",
  "recent_shared",
  "recent_size",
  "recent_rest",
  "stale_gap",
  "recent_gap",
  "letter_shared",
  "letter_size",
  "letter_rest",
  "first_document_gap",
  "document_flags",
]);

export const MANIFEST_VECTORS = /** @type {const} */ ([
  "list_low",
  "list_high",
  "centroid_mean",
  "centroid_deviation",
  "centroid_bits",
  "residual_deviation",
  "residual_bits",
  "centroid_codes",
]);

export const TERM_SHARD = /** @type {const} */ ([
  "term_shared",
  "term_size",
  "term_rest",
  "passages",
  "documents",
  "impact_range",
  "contribution_range",
  "vector_length",
  "vector",
  "tier_places",
  "aliases",
  "list_documents",
  "document_gap",
  "more_passages",
  "ordinal_gap",
  "impact",
  "contribution",
  "contribution_change",
]);

export const POSTINGS = /** @type {const} */ ([
  "list_documents",
  "document_gap",
  "more_passages",
  "ordinal_gap",
  "impact",
  "contribution",
  "contribution_change",
]);

export const TOKEN_DIRECTORY = /** @type {const} */ ([
  "file_names",
  "shard_shared",
  "shard_size",
  "shard_rest",
  "longest",
  "mean",
  "deviation",
  "bits",
]);

export const TOKEN_SHARD = /** @type {const} */ ([
  "token_shared",
  "token_size",
  "token_rest",
  "vector_length",
  "codes",
]);

export const TOKEN_PROJECTION = /** @type {const} */ ([
  "vector_length",
  "vector",
]);

export const INVERTED_LIST = /** @type {const} */ ([
  "document_gap",
  "centroid_unit",
  "centroid",
  "residual_codes",
]);

export const EXCERPTS = /** @type {const} */ ([
  "documents",
]);

export const WORDS = /** @type {const} */ ([
  "word_shared",
  "word_size",
  "word_rest",
  "commonness",
]);

export const NEAR_WORDS = /** @type {const} */ ([
  "near",
]);

export const SYNONYMS = /** @type {const} */ ([
  "synonyms",
]);

export const FACETS = /** @type {const} */ ([
  "names",
  "collection",
  "language",
  "section",
  "community",
  "tags",
  "modified",
  "reading",
]);
