"""A corpus built in shards: each worker makes one, the driver merges what they must know of one another.

A shard is a part of a store, a snapshot of some of the documents. Those of ``noctule.docsite.search`` are
files of the browser's index.
"""
