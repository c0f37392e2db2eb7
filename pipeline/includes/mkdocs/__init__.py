"""What MkDocs, its extensions and its plugins write into pages."""
