"""Pages on the modules, classes and functions of Python packages, which are read and never imported."""
