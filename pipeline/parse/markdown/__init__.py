"""Parsing markdown, MDX and the syntax extensions of the tools that write them."""
