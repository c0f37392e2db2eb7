"""Relevance on judged queries: reading the sets, running the queries, measuring and comparing."""
