"""The stages of a build, each a plain function, and their tables; ``noctule.flows.graph`` orders them."""
