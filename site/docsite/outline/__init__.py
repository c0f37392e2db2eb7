"""The outline of a site: all that must be known of it before a page can be made, the tree of pages and what is related."""
