"""The embedding model, the query encoder fitted to it, the cross-encoder, and document centroids."""
