"""Settings imported from the tool that a folder of documents was written for; nothing of it is run."""
