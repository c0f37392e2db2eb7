"""What recorded searches say: judged queries from clicks, and what readers ask for that is not found."""
