"""Relevance on judged queries: reading them, asking them, measuring and comparing."""
