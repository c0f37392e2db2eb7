"""Reports of what a run did and what the store holds, as lines, pages and rows."""
