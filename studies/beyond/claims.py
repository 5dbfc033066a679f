"""What the paper says of two classes, asked of regression, survival times and many classes.

Takes rows of the study, gives claims with verdicts: means over data sets and sizes, told only where two standard errors
do not reach across.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..claims import Claim, told

Rows = Sequence[dict[str, Any]]
#: A correction is good enough where less than this is left of the score, in units of the metric (R2: of the variance).
SMALL = 0.02
#: An interval of 95 % covers well enough from here on.
LEAST = 0.93
TITLES = {
    "r2": "R2",
    "neg_mean_squared_error": "squared error",
    "concordance_index": "C-index",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc_ovr": "AUC (one against the rest)",
}
KINDS = {"regression": "regression", "survival": "survival", "classes": "many classes"}


def of_metric(rows: Rows, metric: str) -> list[dict[str, Any]]:
    """The rows of one metric."""
    return [row for row in rows if row["metric"] == metric]


def cells(rows: Rows, what: Any) -> np.ndarray:
    """The mean of a number in each data set and size; `what` is a function of a row. NaN is left out."""
    found: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        value = what(row)
        if np.isfinite(value):
            found.setdefault((row["data"], row["n"]), []).append(value)
    return np.array([np.mean(values) for values in found.values()])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def bias(rows: Rows, protocol: str) -> tuple[float, float]:
    """Mean bias over data sets and sizes, and its standard error; positive is optimistic."""
    return mean_and_error(cells(rows, lambda row: row[protocol] - row["truth"]))


def rmse(rows: Rows, protocol: str) -> float:
    """Root of the mean squared error over sub-data sets."""
    return float(np.sqrt(np.nanmean([(row[protocol] - row["truth"]) ** 2 for row in rows])))


def claims(rows: Rows) -> list[Claim]:
    """All claims, metric by metric."""
    found: list[Claim] = []
    for metric, title in TITLES.items():
        here = of_metric(rows, metric)
        if here:
            found += _of_one(here, f"{KINDS[here[0]['kind']]}, {title}")
    return found


def _of_one(rows: Rows, where: str) -> list[Claim]:
    optimism, error = bias(rows, "naive")
    left, left_error = bias(rows, "bbc")
    covered, covered_error = mean_and_error(cells(rows, lambda row: row["covers calibrated"]))
    paper = float(cells(rows, lambda row: row["covers percentile"]).mean())
    return [
        Claim(where, "plain CV of the winner is optimistic", "> 0", _pm(optimism, error), told(-optimism, error)),
        Claim(
            where,
            "BBC is not optimistic, and off by little",
            f"-{SMALL:g} to 0",
            _pm(left, left_error),
            told(max(left, -SMALL - left), left_error),
        ),
        _nearer(rows, where, "naive", "plain CV"),
        _nearer(rows, where, "ncv", "nested selection"),
        Claim(
            where,
            "the 95 % interval covers",
            f"at least {LEAST:g}",
            _pm(covered, covered_error).lstrip("+"),
            told(LEAST - covered, covered_error),
            f"percentile interval: {paper:.3f}",
        ),
    ]


def _nearer(rows: Rows, where: str, rival: str, name: str) -> Claim:
    """Whether BBC errs no more than a rival, by the squared error; the root of its mean is shown."""
    saved, error = mean_and_error(
        cells(rows, lambda row: (row[rival] - row["truth"]) ** 2 - (row["bbc"] - row["truth"]) ** 2)
    )
    shown = f"{rmse(rows, 'bbc'):.3f} against {rmse(rows, rival):.3f}"
    return Claim(where, f"BBC errs no more than {name}", "RMSE not larger", shown, told(-saved, error))


def _pm(value: float, error: float) -> str:
    return f"{value:+.3f} ± {2 * error:.3f}"
