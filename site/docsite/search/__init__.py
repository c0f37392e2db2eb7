"""The search index of a site as static files, built from a snapshot's tables.

A shard is one of these files, of which a browser loads the few that a query needs. Those of
``noctule.flows.shards`` are parts of a store.
"""
