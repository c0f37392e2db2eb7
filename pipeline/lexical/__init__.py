"""Text analysis, and BM25F over the resulting terms."""
