"""Pure transformations of documents into the parts of an index: no orchestrator, no clock, no environment, no
writes.
"""

__version__ = "0.1.0"
