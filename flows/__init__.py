"""What drives the house: the command line and the Prefect flows around the plain stages."""
