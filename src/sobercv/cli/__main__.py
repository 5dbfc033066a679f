"""`python -m sobercv.cli` is `sober`."""

from . import main

if __name__ == "__main__":
    main()
