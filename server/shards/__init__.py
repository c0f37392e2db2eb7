"""Searches over servers that hold some shards each: what those answer, and the router that asks them."""
