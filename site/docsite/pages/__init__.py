"""The pages of a site, and what stands around a document's content."""
