"""A corpus built in shards: each worker makes one, the driver merges what they must know of one another."""
