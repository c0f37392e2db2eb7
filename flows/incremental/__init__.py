"""Detection of changes: unchanged sources, parse cache keys, reasons to rebuild."""
