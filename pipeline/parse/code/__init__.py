"""What authors say about a block of code: its info string, comments for the tool, and terminal colours."""
