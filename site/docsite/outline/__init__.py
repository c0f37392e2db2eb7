"""The outline of a site: what must be known before a page is made, such as the page tree and related pages."""
