"""The stages of a build, each a plain function, and the tables that they make."""
