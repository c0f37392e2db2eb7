"""The stages of a build, each a plain function, and the tables they produce."""
