"""The outline of a site: what must be known before making any page, such as the tree and related pages."""
