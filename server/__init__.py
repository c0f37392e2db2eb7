"""Answers over HTTP and for agents, from a published snapshot; knows nothing of how one is built."""
