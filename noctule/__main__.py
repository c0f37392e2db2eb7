"""``python -m noctule`` is the command line."""

from .flows.cli.main import main

if __name__ == "__main__":
    main()
