"""What MyST adds to markdown: roles, and directives that describe objects."""
