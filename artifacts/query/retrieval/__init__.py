"""The ranked lists of a query: keyword, semantic, code and graph, and what filters let through."""
