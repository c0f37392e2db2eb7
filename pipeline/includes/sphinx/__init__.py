"""What Sphinx puts into documents: files that they include, and values of ``conf.py``."""
