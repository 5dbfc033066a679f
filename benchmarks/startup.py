"""The price of the first time: importing, compiling with an empty cache, the next process with a full one, `--help`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .report import Goal, Section, number

COMPILE, CACHED = 3.0, 1.0  # seconds for the first call, after the imports: nothing compiled yet, and all of it
IMPORT = 0.3  # seconds for `import sobercv` beyond scikit-learn's own import
HELP = 0.5  # seconds for the whole of `sober --help`
WRONG = 0.4  # seconds for the whole of a command with a path that leads nowhere
FIRST = 3.0  # seconds from pressing return to the first fits, on a small table

# `import sobercv` gives names that are looked up when first used; so what is timed includes looking them up.
_CHILD = """
import json, time
marks = []
def mark():
    marks.append((time.perf_counter(), time.process_time()))
mark()
import sklearn.metrics, sklearn.model_selection
mark()
import sobercv
sobercv.bbc, sobercv.BBCSearchCV
mark()
from sobercv.testing import simulate
data = simulate.binormal_auc(500, 610, seed=1)
mark()
sobercv.bbc(data.y, data.predictions, "roc_auc", n_jobs=-1)
mark()
sobercv.bbc(data.y, data.predictions, "roc_auc", n_jobs=-1)
mark()
print(json.dumps([[b - a for a, b in zip(*pair)] for pair in zip(marks, marks[1:])]))
"""
STEPS = {0: "import scikit-learn", 1: "import sobercv, after scikit-learn", 3: "first AUC call", 4: "second AUC call"}


def run(quick: bool = False, large: bool = False) -> list[Section]:
    cold, warm = [], []
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_process(cache))
            warm += [_process(cache) for _ in range(1 if quick else 2)]
    turns = 3 if quick else 10
    helps = [_command("--help") for _ in range(turns)]
    wrongs = [_command("check", "missing.csv", "--target", "y", code=2) for _ in range(turns)]
    numpys = [_timed([sys.executable, "-c", "import numpy"]) for _ in range(turns)]
    firsts = [_first_fits() for _ in range(turns // 3)]
    first, after = _best(cold), _best(warm)
    rows = [[label, *(number(t) for t in (*first[k], *after[k]))] for k, label in STEPS.items()]
    for label, times in {
        "sober --help, the whole process": helps, "sober check missing.csv, the whole process": wrongs,
        "python -c 'import numpy', the whole process": numpys, "sober fit, 120 x 2, until fits run": firsts,
    }.items():  # fmt: skip
        rows.append([label, "", "", *(number(min(t)) for t in zip(*times, strict=True))])
    return [
        Section(
            "Start-up",
            ["step", "empty cache, s", "CPU s", "next process, s", "CPU s"],
            rows,
            [
                Goal("import sobercv beyond import sklearn", min(first[1][1], after[1][1]), IMPORT, True, " s"),
                Goal("sober --help", min(t[1] for t in helps), HELP, True, " s"),
                Goal("an error about a path", min(t[1] for t in wrongs), WRONG, True, " s"),
                Goal(
                    "an error about a path, times the import of numpy",
                    min(t[1] for t in wrongs) / min(t[1] for t in numpys),
                    3.0,
                    True,
                    "x",
                ),
                Goal(
                    "first fits of a small table, half the CPU time", min(t[1] for t in firsts) / 2, FIRST, True, " s"
                ),
                Goal("first AUC call, compilation included", first[3][1], COMPILE, True, " s"),
                Goal("first AUC call with cached kernels", after[3][1], CACHED, True, " s"),
            ],
            [
                "Each column is a fresh process: the first has an empty numba cache (NUMBA_CACHE_DIR is a new folder), "
                "the second finds what the first left there; the shortest of a few. These processes have one thread "
                "that never waits, so that CPU seconds are what a quiet machine's clock shows: they are judged.",
                "First fits: the CPU seconds of the command and its two workers, which import while the table is read, "
                "until the race begins; a quiet machine of two cores takes half of them by the clock.",
                "The import includes `sobercv.bbc` and `sobercv.BBCSearchCV`, loaded when first asked for. The "
                "first AUC call (N = 500, C = 610, B = 1,000) also imports numba, which the import leaves for later.",
                "Compilation happens once for each version on a machine; about a third of it is the maker of walks, "
                "which is what makes sorting and ties cheap afterwards.",
            ],
        )
    ]


def _best(runs: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """The shortest of each step, by the clock and in CPU seconds."""
    return [(min(t[0] for t in step), min(t[1] for t in step)) for step in zip(*runs, strict=True)]


def _process(cache: str) -> list[tuple[float, float]]:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    child = subprocess.run([sys.executable, "-c", _CHILD], check=True, capture_output=True, text=True, env=environment)
    return json.loads(child.stdout)


def _command(*arguments: str, code: int = 0) -> tuple[float, float]:
    return _timed([sys.executable, "-m", "sobercv.cli", *arguments], code)


def _timed(command: list[str], code: int = 0) -> tuple[float, float]:
    """Run a process to its end; its seconds by the clock and of the processor."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, check=False, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.returncode == code, ended.stderr
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _first_fits() -> tuple[float, float]:
    """Fit a small table until the first round begins; the seconds of all its processes until then."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{int(a + e > 0)}" for a, b, e in rng.standard_normal((120, 3))]
    with tempfile.TemporaryDirectory() as place:
        Path(place, "data.csv").write_text("\n".join(["a,b,y", *rows]))
        command = [sys.executable, "-m", "sobercv.cli", "fit", "data.csv", "--target", "y", "--preset", "quick"]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("120 rows"):  # workers wait, the table is checked, and the race begins
                break
        seconds, work = time.perf_counter() - start, _work(process.pid)
        process.kill()
        process.communicate()
    return seconds, work


def _work(pid: int) -> float:
    """CPU seconds of a process and of those that it has started."""
    family = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False)
    total = 0.0
    for one in [str(pid), *family.stdout.split()]:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total
