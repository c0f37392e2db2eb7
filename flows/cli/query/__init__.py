"""The commands that ask a snapshot or measure its answers, and how answers are printed."""
