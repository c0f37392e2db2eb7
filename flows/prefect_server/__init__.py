"""The private Prefect API of one run: its process, its client and its settings."""
