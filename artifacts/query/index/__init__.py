"""What a search reads of a snapshot: postings, columns, links and rows."""
