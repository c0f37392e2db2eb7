"""The embedding model, the static encoder fitted to it, the cross-encoder, and document centroids."""
