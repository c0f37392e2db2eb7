"""Cutting documents into sections and sections into passages."""
