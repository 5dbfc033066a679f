"""`python -m studies.folds --data FOLDER`: make the searches that are missing, judge all, write the page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..pieces import telling, whole
from ..results_file import write_results
from . import judging, page, tables

HERE = Path(__file__).parent


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True, help="folder of NAME.npz files")
    parser.add_argument("--work", type=Path, default=Path("build/folds"), help="keeps the tables")
    parser.add_argument("--samples", type=int, default=tables.SAMPLES, help="sub-samples per set and size")
    parser.add_argument("--repetitions", type=int, default=100, help="simulated searches per setting")
    options = parser.parse_args()
    found = tables.run(options.data, options.work, tables.places(options.samples))
    rows = [row for place in telling(found, "searches judged", print) for row in _kept(options.work, place)]
    about = {"samples": options.samples, "repetitions": options.repetitions}
    write_results(rows, HERE / "results-real.csv", about, _short)
    write_results(judging.simulations(options.repetitions), HERE / "results-simulated.csv", about, _short)
    page.write()


def _kept(work: Path, place: tables.Place) -> list[dict[str, object]]:
    path = (work / place.file).with_suffix(".json")
    if not path.exists():
        with whole(path) as part:
            part.write_text(json.dumps(judging.real(work, place)))
    return json.loads(path.read_text())  # type: ignore[no-any-return]


def _short(value: object) -> object:
    return f"{value:.5g}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()
