"""From text to terms, and BM25F over them."""
