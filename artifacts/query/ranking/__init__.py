"""Ranking: from lists to an answer by fusion, boosts, reranking, deduplication and cutoffs."""
