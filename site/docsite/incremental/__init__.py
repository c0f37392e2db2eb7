"""What is left as it was: the site before, and the fingerprints of its files."""
