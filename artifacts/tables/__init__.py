"""The tables of a snapshot: schemas, Parquet and FAISS files, and the invariants between them."""
