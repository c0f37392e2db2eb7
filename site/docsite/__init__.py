"""A static documentation site out of one snapshot."""
