"""Documents cut into sections, and sections into passages."""
