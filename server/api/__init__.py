"""The operations of the search service: parameters, answers, entity tags, and their description."""
