"""Pure transforms from documents to index parts: no orchestrator, no clock, no environment, no writes."""

__version__ = "0.1.0"
