"""The search index of a site as static files, built from a snapshot's tables."""
