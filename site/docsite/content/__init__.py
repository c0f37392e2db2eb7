"""The content of one document as HTML."""
