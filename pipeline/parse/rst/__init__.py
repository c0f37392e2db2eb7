"""Parsing reStructuredText."""
