"""The price of the first time: importing, compiling with an empty cache, and the next process with a full one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from .report import Section, Verdict, number

COMPILE = 3.0  # seconds for the first call, after the imports
IMPORT = 0.3  # seconds for `import sober` beyond scikit-learn's own import

_CHILD = """
import json, time
clock = time.perf_counter
marks = [clock()]
import sklearn
marks.append(clock())
import sober
marks.append(clock())
from sober.testing import simulate
data = simulate.binormal_auc(500, 610, seed=1)
taken = [marks[1] - marks[0], marks[2] - marks[1]]
for _ in range(2):
    start, work = clock(), time.process_time()
    sober.bbc(data.y, data.predictions, "roc_auc", random_state=0)
    taken += [clock() - start, time.process_time() - work]
print(json.dumps(taken[:5]))
"""
STEPS = ("import sklearn", "import sober, after sklearn", "first AUC call", "first AUC call, CPU", "second AUC call")


def run(quick: bool = False, large: bool = False) -> list[Section]:
    cold, warm = [], []
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_process(cache))
            warm.append(_process(cache))
    cold_best = [min(step) for step in zip(*cold, strict=True)]
    warm_best = [min(step) for step in zip(*warm, strict=True)]
    rows = [[s, number(c), number(w)] for s, c, w in zip(STEPS, cold_best, warm_best, strict=True)]
    return [
        Section(
            "Start-up",
            ["step", "empty cache, s", "next process, s"],
            rows,
            [
                Verdict("first AUC call, compilation included", cold_best[2], COMPILE, True, " s"),
                Verdict("import sober beyond import sklearn", min(cold_best[1], warm_best[1]), IMPORT, True, " s"),
            ],
            [
                "Each column is a fresh process: the first has an empty numba cache (NUMBA_CACHE_DIR is a new folder), "
                "the second finds what the first left there; the shortest of a few.",
                "The first AUC call (N = 500, C = 610, B = 1,000) also imports numba, which `import sober` leaves for "
                "later. CPU: seconds of work in that call, which other programs on the machine disturb less.",
            ],
        )
    ]


def _process(cache: str) -> list[float]:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    child = subprocess.run([sys.executable, "-c", _CHILD], check=True, capture_output=True, text=True, env=environment)
    return json.loads(child.stdout)
