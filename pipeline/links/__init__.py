"""Links between documents, and their anchor texts."""
