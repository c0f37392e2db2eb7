"""The command line, and the Prefect flows around the plain stages, which ``noctule.flows.graph`` lists."""
