"""Renders the content of one document as HTML."""
