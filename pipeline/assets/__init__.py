"""Images, media and attachments that documents name: which files they are, and what they may hold."""
