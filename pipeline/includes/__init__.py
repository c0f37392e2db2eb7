"""Directives with which documents include other files, as mdBook, MkDocs, VitePress and Sphinx write them."""
