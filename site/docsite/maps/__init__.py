"""Drawings of the link graph."""
