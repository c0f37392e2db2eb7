"""What a search reads of a snapshot: postings, vectors, columns, rows and SQL."""
