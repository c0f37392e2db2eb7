"""What Jekyll makes of loops, and of the data that they go over."""
