"""Tables of contents as other tools write them: each reader returns entries, whatever pages there are."""
