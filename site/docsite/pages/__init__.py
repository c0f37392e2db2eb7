"""The pages of a site, and what surrounds a document's content."""
