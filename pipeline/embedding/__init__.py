"""The embedding model, the static encoder fitted to it, the cross-encoder, and document centroids.

Passages are encoded by ``noctule.flows.stages.embedding.encode``, queries by
``noctule.artifacts.query.understanding.query_vectors``.
"""
