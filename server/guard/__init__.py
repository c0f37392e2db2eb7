"""Who may ask: names of the server, origins of scripts, tokens, rates and sizes."""
