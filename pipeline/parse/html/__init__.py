"""Parsing HTML."""
