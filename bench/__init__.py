"""Measurements on real corpora, made side by side in one run and printed as ratios."""
