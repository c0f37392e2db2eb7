"""What a store keeps to save work: embeddings and parsed documents, by content hash."""
