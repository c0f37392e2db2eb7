"""Search and documents for programs that read text: the same answers by MCP and on the command line."""
