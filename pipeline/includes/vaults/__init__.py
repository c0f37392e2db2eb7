"""What notes of vaults hold for their own tools, and how these show them."""
