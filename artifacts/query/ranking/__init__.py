"""From lists to an answer: fusion, boosts, reranking, diversity and cutoffs."""
