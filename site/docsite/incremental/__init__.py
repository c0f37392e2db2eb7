"""What a build keeps unchanged: the previous site, and the fingerprints of its files."""
