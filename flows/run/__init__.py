"""How a run is requested, assembled and carried out."""
