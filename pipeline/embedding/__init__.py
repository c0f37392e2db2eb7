"""The embedding model, the query encoder fitted to it, and averages of vectors."""
