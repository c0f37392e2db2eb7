"""The store on disk: snapshots, the pointer to the current one, locks, and all access to the disk."""
