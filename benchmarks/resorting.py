"""What the drop test of a race would gain by keeping the order of the scores from round to round.

After every fold the AUC sorts all scores again, though most of them were sorted after the fold before. Merging the new
rows into the order that was kept is measured beside the sorting and the whole test: it is not done in sober, because
it would save too little for what it would have to hold between rounds.
"""

from __future__ import annotations

from functools import partial

import numba as nb
import numpy as np

import sobercv
from sobercv.inference import Question
from sobercv.predictions import Predictions
from sobercv.testing import simulate

from .report import Section, number
from .timing import seconds_and_work

C, FOLDS = 610, 10
ROUNDS = (2, 5, 10)


@nb.njit(nogil=True, boundscheck=False)
def _merge(old, new, scores, order):
    """Merge, for each configuration, two lists of rows that ascend by score: [C, n], [C, m] -> [C, n + m]."""
    for c in range(order.shape[0]):
        score = scores[c]
        a = b = 0
        for k in range(order.shape[1]):
            if b == new.shape[1] or (a < old.shape[1] and score[old[c, a]] <= score[new[c, b]]):
                order[c, k] = old[c, a]
                a += 1
            else:
                order[c, k] = new[c, b]
                b += 1


def merged(scores: np.ndarray, old: np.ndarray, fresh: np.ndarray) -> np.ndarray:
    """The order of all rows from that of the old ones, and from the rows that are new."""
    new = fresh[np.argsort(scores[:, fresh], axis=1)]
    order = np.empty(scores.shape, np.int64)
    _merge(old, new, scores, order)
    return order


def section(quick: bool = False) -> Section:
    question, rule = Question.ask("roc_auc"), sobercv.BootstrapDrop()
    rows = []
    for n in (500,) if quick else (500, 5000):
        data = simulate.binormal_auc(n, C, seed=1)
        fold = np.random.default_rng(0).permutation(n) % FOLDS
        for done in ROUNDS:
            here = np.flatnonzero(fold < done)
            y, predictions = data.y[here], data.predictions[here]
            table = Predictions.build(y, predictions, task="classification", responses=question.responses)
            scores = np.ascontiguousarray(predictions.T)
            before, fresh = np.flatnonzero(fold[here] < done - 1), np.flatnonzero(fold[here] == done - 1)
            old = before[np.argsort(scores[:, before], axis=1)]
            np.testing.assert_array_equal(merged(scores, old, fresh), np.argsort(scores, axis=1))  # there are no ties
            calls = {
                "test": partial(rule, table, question, done - 1),
                "sort": partial(np.argsort, scores, axis=1),
                "merge": partial(merged, scores, old, fresh),
            }
            # In turns, and in CPU seconds of one thread: a share of a few per cent drowns in the noise of a clock.
            turns = [
                {name: seconds_and_work(call)[1] for name, call in calls.items()} for _ in range(3 if quick else 5)
            ]
            best = {name: min(turn[name] for turn in turns) for name in calls}
            gain = 100 * (best["sort"] - best["merge"]) / best["test"]
            shares = [f"{100 * best['sort'] / best['test']:.0f} %", f"{gain:.0f} %"]
            rows.append([f"N = {n:,}, after fold {done}", *(number(1e3 * t) for t in best.values()), *shares])
    return Section(
        f"Drop test: would it pay to keep the order of the scores? (AUC, C = {C}, {FOLDS} folds)",
        ["round", "test ms", "sorting ms", "merging ms", "share of sorting", "gain"],
        rows,
        [],
        [
            "CPU time of one `BootstrapDrop` test with all configurations alive, of the sorting in it, and of merging "
            "the rows of the last fold into the order of the others instead. The order kept would take 4 N C bytes "
            "between rounds and a table of who is still alive, so that less than some 10 % of a test is not worth it.",
        ],
    )
