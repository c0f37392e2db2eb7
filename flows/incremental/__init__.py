"""What is as it was: unchanged sources, parse cache keys, reasons to rebuild."""
