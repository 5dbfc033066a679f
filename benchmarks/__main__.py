"""Command line: `python -m benchmarks [SECTION ...] [--quick] [--large] [--data FOLDER] [--write [FOLDER]]`."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from . import forests, growth, idle, journey, kernels, memory, report, search, sharing, speed, store

SECTIONS = {
    "kernels": kernels.run,
    "growth": growth.run,
    "memory": memory.run,
    "store": store.run,
    "search": search.run,
    "sharing": sharing.run,
    "forests": forests.run,
    "idle": idle.run,
    "speed": speed.run,
    "journey": journey.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes: rough numbers in a minute")
    parser.add_argument("--large", action="store_true", help="growth: also N = 1,000,000, C = 100 (minutes, 4 GiB)")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="journey, speed: also the real tables there")
    parser.add_argument(
        "--write", nargs="?", const="docs/evidence", metavar="FOLDER", help="keep the tables (docs/evidence)"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}")

    print("\n".join(report.machine(os.getloadavg()[0])), end="\n\n", flush=True)
    runs = SECTIONS | {
        "journey": partial(journey.run, data=arguments.data),
        "speed": partial(speed.run, data=arguments.data),
    }
    for name in arguments.sections or SECTIONS:
        about = report.machine(os.getloadavg()[0])
        found = runs[name](quick=arguments.quick, large=arguments.large)
        for section in found:
            print(report.as_text(section), flush=True)
        if arguments.write:  # after each part, so that an interrupted run keeps what it has
            report.write(Path(arguments.write), {name: found}, {name: about})


if __name__ == "__main__":
    main()
