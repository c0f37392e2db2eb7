"""All access to the disk: durable writes, locks, the names of all files, and the manifest of a snapshot."""
