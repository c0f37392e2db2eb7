"""The store on disk: snapshots, the pointer to the current one, locks, and the one door to the disk."""
