"""`python -m studies NAME`: run a study by its name."""

import sys

from . import STUDIES, main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else f"Name a study: {', '.join(STUDIES)}.")
