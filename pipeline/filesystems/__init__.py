"""Files elsewhere: addresses such as ``s3://bucket/prefix``, opened with fsspec, and objects below them."""
