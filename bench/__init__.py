"""Measurements on real corpora, side by side in one run, printed as ratios."""
