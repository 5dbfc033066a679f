"""Command line: `python -m benchmarks [SECTION ...] [--quick] [--large] [--write [FILE]]`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from . import growth, kernels, report, search, startup, store

SECTIONS = {
    "kernels": kernels.run,
    "growth": growth.run,
    "startup": startup.run,
    "store": store.run,
    "search": search.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all unless named")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes: rough numbers in a minute")
    parser.add_argument("--large", action="store_true", help="growth: also N = 1,000,000, C = 100 (minutes, 4 GiB)")
    parser.add_argument(
        "--write", nargs="?", const="docs/benchmarks.md", metavar="FILE", help="keep the tables (docs/benchmarks.md)"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}")

    about = report.machine(os.getloadavg()[0])
    print("\n".join(about), end="\n\n", flush=True)
    found = []
    for name in arguments.sections or SECTIONS:
        for section in SECTIONS[name](quick=arguments.quick, large=arguments.large):
            found.append(section)
            print(report.as_text(section), flush=True)
    verdicts = [verdict for section in found for verdict in section.verdicts]
    print(f"{sum(v.met for v in verdicts)} of {len(verdicts)} targets met")
    if arguments.write:
        Path(arguments.write).write_text(report.as_markdown(found, about))


if __name__ == "__main__":
    main()
