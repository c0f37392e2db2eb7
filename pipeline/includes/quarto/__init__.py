"""What documents of Quarto hold for Quarto itself."""
