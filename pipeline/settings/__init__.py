"""Settings from a TOML file, frozen and validated."""
