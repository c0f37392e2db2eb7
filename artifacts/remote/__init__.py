"""Remote snapshots: sent to folders and addresses, and read from them through a verified cache."""
