"""Finding settings on judged queries: a declared space (``space``), what a point in it is worth (``trials``),
a search through it (``descent``), and whether what was found holds for queries that it was not found on
(``held_out``).
"""
