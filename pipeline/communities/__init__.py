"""Communities of the link graph."""
