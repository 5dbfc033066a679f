"""`python -m sober.cli` is `sober`."""

from . import main

if __name__ == "__main__":
    main()
