"""Command line: `python -m benchmarks [SECTION ...] [--quick] [--data FOLDER] [--write [FOLDER]]`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from . import forests, growth, idle, journey, kernels, memory, report, search, sharing, store

SECTIONS = {
    "kernels": kernels.run,
    "growth": growth.run,
    "memory": memory.run,
    "store": store.run,
    "search": search.run,
    "sharing": sharing.run,
    "forests": forests.run,
    "idle": idle.run,
    "speed": journey.speed,
    "journey": journey.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes: rough numbers in a minute")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="journey, speed: also the real tables there")
    parser.add_argument(
        "--write", nargs="?", const="docs/evidence", metavar="FOLDER", help="keep the tables (docs/evidence)"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}")

    print("\n".join(report.machine(os.getloadavg()[0])), end="\n\n", flush=True)
    for name in arguments.sections or SECTIONS:
        about = report.machine(os.getloadavg()[0])
        more = {"data": arguments.data} if name in ("journey", "speed") else {}
        found = SECTIONS[name](quick=arguments.quick, **more)
        for section in found:
            print(report.as_text(section), flush=True)
        if arguments.write:  # after each part, so that an interrupted run keeps what it has
            report.write(Path(arguments.write), {name: found}, {name: about})


if __name__ == "__main__":
    main()
