"""A short text for each file of a site that stands for its inputs: if it is unchanged, so is the file."""
