"""Remote snapshots: sent to folders and addresses, and read from them through a verified cache.

A target is whatever fsspec opens: ``noctule.pipeline.filesystems.opening`` has protocols and their packages.
"""
