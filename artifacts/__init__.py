"""Formats, store and query: what a snapshot is, how it is published, and how it answers."""
