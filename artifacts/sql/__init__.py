"""DuckDB over one snapshot."""
