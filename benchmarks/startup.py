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

from .report import Section, number

#: A warm start finds compiled modules, so nothing may forbid to write them.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

SMALL, LARGE = (120, 60), (500, 610)  # samples and configurations

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
data = simulate.binormal_auc({n}, {c}, seed=1)
mark()
for turn in range(3):
    sobercv.bbc(data.y, data.predictions, "roc_auc", n_jobs=-1)
    mark()
print(json.dumps([[b - a for a, b in zip(*pair)] for pair in zip(marks, marks[1:])]))
"""
STEPS = {0: "import scikit-learn", 1: "import sobercv, after scikit-learn"}
CALLS = {3: "first AUC call", 4: "second AUC call", 5: "third AUC call"}


def run(quick: bool = False, large: bool = False) -> list[Section]:
    turns = 1 if quick else 3
    small, _ = _processes(SMALL, turns)
    large, after = _processes(LARGE, turns)
    turns = 3 if quick else 10
    helps = [_command("--help") for _ in range(turns)]
    wrongs = [_command("check", "missing.csv", "--target", "y", code=2) for _ in range(turns)]
    numpys = [_timed([sys.executable, "-c", "import numpy"]) for _ in range(turns)]
    firsts = [_first_fits() for _ in range(turns // 3)]
    rows = [[label, *(number(t) for t in (*large[k], *after[k]))] for k, label in STEPS.items()]
    rows.append([f"{CALLS[3]}, {SMALL[0]} x {SMALL[1]}", *(number(t) for t in small[3]), "", ""])
    for k, label in CALLS.items():
        rows.append([f"{label}, {LARGE[0]} x {LARGE[1]}", *(number(t) for t in (*large[k], *after[k]))])
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
                "Each column is a fresh process: the first has an empty numba cache (NUMBA_CACHE_DIR is a new folder), "
                "the second finds what the first left there; the shortest of a few. These processes have one thread "
                "that never waits, so that CPU seconds are what a quiet machine's clock shows.",
                "First fits: the CPU seconds of the command and its two workers, which import while the table is read, "
                "until the race begins; a quiet machine of two cores takes half of them by the clock.",
                "The import includes `sobercv.bbc` and `sobercv.BBCSearchCV`, loaded when first asked for. AUC "
                "calls are of samples x configurations, 1,000 resamples.",
                "The first call of a process imports numba and loads compiled loops, or compiles them, once for each "
                "version on a machine.",
            ],
        )
    ]


def _best(runs: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    """The shortest of each step, by the clock and in CPU seconds."""
    return [(min(t[0] for t in step), min(t[1] for t in step)) for step in zip(*runs, strict=True)]


def _processes(size: tuple[int, int], turns: int) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The steps of processes that find nothing compiled, and of those after them."""
    cold, warm = [], []
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_process(cache, size))
            warm.append(_process(cache, size))
    return _best(cold), _best(warm)


def _process(cache: str, size: tuple[int, int]) -> list[tuple[float, float]]:
    environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": cache}
    code = _CHILD.format(n=size[0], c=size[1])
    child = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return json.loads(child.stdout)


def _command(*arguments: str, code: int = 0) -> tuple[float, float]:
    return _timed([sys.executable, "-m", "sobercv.cli", *arguments], code)


def _timed(command: list[str], code: int = 0) -> tuple[float, float]:
    """Run a process to its end; its seconds by the clock and of the processor."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, check=False, capture_output=True, env=ENVIRONMENT)
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
        process = subprocess.Popen(
            command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
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
