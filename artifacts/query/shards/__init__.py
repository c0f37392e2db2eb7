"""One ranking over shards that several processes hold: each lists what it has, one merges and ranks."""
