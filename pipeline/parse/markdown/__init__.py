"""Markdown, MDX and the syntax of the tools that write it."""
