"""Charts as SVG without a script: pure functions from figures to markup, in the colours of the theme."""
