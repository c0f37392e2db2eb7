"""Pure transformations of documents into parts of an index: no orchestrator, clock, environment or writes."""

__version__ = "0.1.0"
