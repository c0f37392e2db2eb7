"""Is the search as good as it was? Judged queries as a gate, in evaluations and for tuning."""
