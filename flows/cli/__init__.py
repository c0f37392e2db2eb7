"""The command ``noctule``: a module for each command or family, and what all of them print and read."""
