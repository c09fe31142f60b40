"""`python -m hippograph` is the `hippograph` command."""

from hippograph.cli.app import main

if __name__ == "__main__":
    main()
