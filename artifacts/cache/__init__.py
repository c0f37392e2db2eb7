"""The caches of a store: embeddings and parsed documents, by content hash."""
