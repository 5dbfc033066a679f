"""Command line: `python -m benchmarks [SECTION ...] [--quick] [--data FOLDER] [--write [FOLDER]]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import forests, growth, journey, kernels, report, search, sharing, walk, workers

SECTIONS = {
    "kernels": kernels.run, "growth": growth.run, "memory": search.memory, "store": workers.store, "search": search.run,
    "sharing": sharing.run, "forests": forests.run, "idle": workers.idle, "speed": journey.speed,
    "cold": journey.cold, "journey": journey.run, "walk": walk.run,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and sizes: rough numbers in a minute")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="journey, speed, cold: also the real tables there")
    parser.add_argument(
        "--write", nargs="?", const=report.EVIDENCE, type=Path, metavar="FOLDER", help="keep the tables"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    if arguments.write and arguments.quick:
        parser.error("--quick gives rough numbers, which are not kept; leave out --write")
    print(report.machine(), end="\n\n", flush=True)
    words = report.about()
    for part in arguments.sections or SECTIONS:
        on = report.machine()
        more = {"data": arguments.data} if part in ("journey", "speed", "cold") else {}
        if part == "growth" and arguments.write:
            more = {"figure": arguments.write / "benchmarks.svg"}
        tables = SECTIONS[part](quick=arguments.quick, **more)
        for name, lines in zip(report.names(part, tables), tables, strict=True):
            print(report.as_text(words[name]["title"], lines, words[name]["notes"]), flush=True)
        if arguments.write:  # after each part, so that an interrupted run keeps what it has
            report.write(arguments.write, part, tables, on)


if __name__ == "__main__":
    main()
