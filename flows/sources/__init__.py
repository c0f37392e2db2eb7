"""Sources: histories of folders in git, files at addresses, read only when they changed, and what of them is
published.
"""
