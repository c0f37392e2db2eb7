"""What each file of a site is made of, as one short text: where it is the same as last time, so is the file."""
