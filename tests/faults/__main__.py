"""Signals at random moments, counted: `python -m tests.faults [--kills 300] [--terms 100] [--seed 0]`.

Half of them hit searches, half whole commands (`sober fit`); every fifth has two jobs. After each the same call again
must end with the same bits, without a traceback, and no process may be left ten seconds after the signal. Ends with an
error at the first difference, else prints how many were ended in which phase.
"""

import argparse
import signal
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from . import runs, test_kill_commands
from .conftest import Zygote
from .test_kill import FIT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    for name, default in (("kills", 300), ("terms", 100), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    wanted = parser.parse_args()
    zygote, rng, ended = Zygote(), np.random.default_rng(wanted.seed), Counter()
    with tempfile.TemporaryDirectory() as place:
        whole = {n_jobs: _whole(zygote, Path(place), n_jobs) for n_jobs in (1, 2)}
        case = 0
        for number, count in ((signal.SIGKILL, wanted.kills), (signal.SIGTERM, wanted.terms)):
            before = ended.total()
            while ended.total() - before < count:
                n_jobs, kind = 2 if case % 5 == 4 else 1, ("search", "command")[case % 2]
                folder = Path(place, str(case))
                folder.mkdir()
                attempt = _search if kind == "search" else _command
                phase = attempt(zygote, folder, number, n_jobs, whole[n_jobs], rng)
                if phase:
                    ended[number.name, kind, n_jobs, phase] += 1
                case += 1
                if case % 10 == 0:
                    print(f"{case} runs, {ended.total()} ended by a signal", flush=True)
    for (name, kind, n_jobs, phase), n in sorted(ended.items()):
        print(f"{name:8} {kind:8} {n_jobs} jobs, {phase:16} {n}")
    sums = Counter()
    for (name, *_), n in ended.items():
        sums[name] += n
    print(f"{dict(sums)}: nothing lost, nothing left")


def _whole(zygote, place, n_jobs):
    """Run both undisturbed; return the seconds of a search and a command, the result of the command, and the fits."""
    folder = place / f"whole-{n_jobs}"
    folder.mkdir()
    search = zygote.run(folder, seconds=FIT, options={"n_jobs": n_jobs})
    assert search["bits"] == zygote.truth
    test_kill_commands.write_table(folder / "data.csv")
    for _ in range(2):  # the first one imports and compiles
        fit = ["fit", "data.csv", *test_kill_commands.OPTIONS, "--jobs", str(n_jobs), "--overwrite", "-o", "run"]
        command = zygote.run(folder, command=fit)
        assert command["exit"] == 0, test_kill_commands.said_in(folder)
    n_fits = len(runs.fits(folder / "fits.log"))
    return search["seconds"], command["seconds"], test_kill_commands.outcome(folder), n_fits


def _search(zygote, folder, number, n_jobs, whole, rng):
    kill = rng.uniform(0, whole[0])
    stopped = zygote.run(folder, seconds=FIT, kill=kill, signal=int(number), options={"n_jobs": n_jobs})
    assert "traceback" not in stopped, stopped
    assert stopped["left"] == [], stopped
    n_fits = len(runs.fits(folder / "fits.log"))
    again = zygote.run(folder, seconds=FIT)
    assert again.get("bits") == zygote.truth, again
    was_ended = stopped["killed"] or stopped.get("stopped") == "terminated" or "code" in stopped
    return "" if not was_ended else "start" if not n_fits else "race" if n_fits < whole[3] else "after the race"


def _command(zygote, folder, number, n_jobs, whole, rng):
    test_kill_commands.write_table(folder / "data.csv")
    fit = ["fit", "data.csv", *test_kill_commands.OPTIONS, "--jobs", str(n_jobs), "-o", "run"]
    stopped = zygote.run(folder, command=fit, kill=rng.uniform(0, whole[1]), signal=int(number))
    said, phase = test_kill_commands.said_in(folder), test_kill_commands.phase(folder)
    assert stopped["left"] == [], stopped
    assert "Traceback" not in said, said
    assert stopped["exit"] in ({-9, 0} if number == signal.SIGKILL else {143, 0, -15}), said
    begun = (folder / "run" / "settings.json").exists()
    again = zygote.run(folder, command=["resume", "run", "--jobs", "1"] if begun else [*fit, "--overwrite"])
    assert again["exit"] == 0, test_kill_commands.said_in(folder)
    assert test_kill_commands.outcome(folder) == whole[2], folder
    return phase if stopped["exit"] != 0 else ""


if __name__ == "__main__":
    main()
