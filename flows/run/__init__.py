"""How a run is asked for, composed and carried out."""
