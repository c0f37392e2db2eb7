"""Builds a static documentation site from one snapshot."""
