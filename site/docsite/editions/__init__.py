"""Editions of one site: its versions side by side."""
