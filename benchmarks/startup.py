"""The price of the first time: importing, compiling with an empty cache, the next process with a full one, `--help`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from .report import Goal, Section, number

COMPILE, CACHED = 3.0, 1.0  # seconds for the first call, after the imports: nothing compiled yet, and all of it
IMPORT = 0.3  # seconds for `import sobercv` beyond scikit-learn's own import
HELP = 0.5  # seconds for the whole of `sober --help`

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
    helps = [_help() for _ in range(3 if quick else 10)]
    first, after = _best(cold), _best(warm)
    rows = [[label, *(number(t) for t in (*first[k], *after[k]))] for k, label in STEPS.items()]
    rows.append(["sober --help, the whole process", "", "", *(number(min(t)) for t in zip(*helps, strict=True))])
    return [
        Section(
            "Start-up",
            ["step", "empty cache, s", "CPU s", "next process, s", "CPU s"],
            rows,
            [
                Goal("import sobercv beyond import sklearn", min(first[1][1], after[1][1]), IMPORT, True, " s"),
                Goal("sober --help", min(t[1] for t in helps), HELP, True, " s"),
                Goal("first AUC call, compilation included", first[3][1], COMPILE, True, " s"),
                Goal("first AUC call with cached kernels", after[3][1], CACHED, True, " s"),
            ],
            [
                "Each column is a fresh process: the first has an empty numba cache (NUMBA_CACHE_DIR is a new folder), "
                "the second finds what the first left there; the shortest of a few. These processes have one thread "
                "that never waits, so that CPU seconds are what a quiet machine's clock shows: they are judged.",
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


def _help() -> tuple[float, float]:
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "sobercv.cli", "--help"], check=True, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
