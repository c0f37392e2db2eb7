"""Sources: the history of folders in git, and files at addresses that are read only when they changed."""
