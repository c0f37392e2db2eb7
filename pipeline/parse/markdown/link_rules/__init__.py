"""How brackets become links, where markdown-it needs a bound or Python-Markdown reads more."""
