"""The concept vocabulary and the acronyms of a corpus."""
